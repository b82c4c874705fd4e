//! `crypto`: random bytes of the host.

use boa_engine::{
    Context, JsArgs, JsNativeError, JsResult, JsString, JsValue, js_string,
    object::builtins::JsArrayBuffer,
};

use super::functions;

/// What `getRandomValues` fills at once, as the standard says.
const MAX_BYTES: usize = 65_536;

pub(super) fn new(context: &mut Context) -> JsResult<JsValue> {
    let list: &[(&str, super::Native, usize)] = &[
        ("randomUUID", random_uuid, 0),
        ("getRandomValues", get_random_values, 1),
    ];
    Ok(functions(list, context).into())
}

fn random_uuid(_: &JsValue, _: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    let mut bytes = [0_u8; 16];
    fill(&mut bytes)?;
    // Version 4, variant 1.
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let mut text = String::with_capacity(36);
    for (index, byte) in bytes.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    Ok(JsString::from(text).into())
}

fn get_random_values(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let view = args.get_or_undefined(0);
    let not_a_view = || JsNativeError::typ().with_message("getRandomValues: not a typed array");
    let object = view.as_object().ok_or_else(not_a_view)?;
    let length = object.get(js_string!("byteLength"), context)?;
    let offset = object.get(js_string!("byteOffset"), context)?;
    let buffer = object.get(js_string!("buffer"), context)?;
    let buffer = buffer.as_object().ok_or_else(not_a_view)?;
    let buffer = JsArrayBuffer::from_object(buffer)?;
    let index = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
    let (offset, length) = (
        index(offset.to_index(context)?),
        index(length.to_index(context)?),
    );
    if length > MAX_BYTES {
        return Err(JsNativeError::range()
            .with_message(format!(
                "getRandomValues: at most {MAX_BYTES} bytes at once"
            ))
            .into());
    }
    let mut data = buffer.data_mut().ok_or_else(not_a_view)?;
    let part = data.get_mut(offset..offset.saturating_add(length));
    fill(part.ok_or_else(not_a_view)?)?;
    Ok(view.clone())
}

fn fill(bytes: &mut [u8]) -> JsResult<()> {
    getrandom::fill(bytes).map_err(|error| {
        JsNativeError::error()
            .with_message(format!("no random bytes: {error}"))
            .into()
    })
}
