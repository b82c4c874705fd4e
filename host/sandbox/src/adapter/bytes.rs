//! WIT's `list<u8>` in JSON: base64, and on the way in also an array of integers.

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use serde_json::{Value, json};
use wasmtime::component::Val;

use super::{integer::Integer, shape::Shape};

/// With or without padding: models leave it out at times, and nothing is ambiguous then.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// What an input must be.
pub(super) const EXPECTED: &str = "base64 text, or an array of integers from 0 to 255";

/// One item of an array of bytes.
pub(super) static BYTE: Shape = Shape::Integer(Integer::U8);

pub(super) fn schema() -> Value {
    json!({"anyOf": [
        {"type": "string", "contentEncoding": "base64"},
        {"type": "array", "items": Integer::U8.schema()},
    ]})
}

/// The bytes of a text in base64.
pub(super) fn read(text: &str) -> Option<Vec<u8>> {
    BASE64.decode(text).ok()
}

/// The JSON form of bytes; none for a list of something else.
pub(super) fn write(items: &[Val]) -> Option<Value> {
    let bytes = items.iter().map(|item| match item {
        Val::U8(byte) => Some(*byte),
        _ => None,
    });
    Some(BASE64.encode(bytes.collect::<Option<Vec<_>>>()?).into())
}
