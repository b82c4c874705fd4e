//! Text and bytes: UTF-8, Base64.

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose},
};
use boa_engine::{
    Context, JsArgs, JsNativeError, JsResult, JsString, JsValue,
    object::builtins::{AlignedVec, JsArrayBuffer},
};

/// As browsers read it: with or without padding.
const FORGIVING: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, FORGIVING);

pub(super) fn atob(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let text = args
        .get_or_undefined(0)
        .to_string(context)?
        .to_std_string_lossy();
    let compact: String = text
        .chars()
        .filter(|it| !it.is_ascii_whitespace())
        .collect();
    let bytes = STANDARD
        .decode(compact)
        .map_err(|_| invalid("atob: the text is not Base64"))?;
    let units: Vec<u16> = bytes.into_iter().map(u16::from).collect();
    Ok(JsString::from(units.as_slice()).into())
}

pub(super) fn btoa(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let text = args.get_or_undefined(0).to_string(context)?;
    let bytes: Result<Vec<u8>, _> = text.to_vec().into_iter().map(u8::try_from).collect();
    let bytes = bytes.map_err(|_| {
        invalid("btoa: the text has characters beyond Latin-1; encode it with TextEncoder first")
    })?;
    Ok(JsString::from(STANDARD.encode(bytes)).into())
}

/// `encode(text)`: UTF-8 as an ArrayBuffer.
pub(super) fn encode(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let text = args.get_or_undefined(0).to_string(context)?;
    array_buffer(text.to_std_string_lossy().into_bytes(), context)
}

/// `decode(buffer, fatal)`: text; with `fatal`, bytes that are no UTF-8 are an error.
pub(super) fn decode(_: &JsValue, args: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    let bytes = bytes(args.get_or_undefined(0))?;
    let text = match args.get_or_undefined(1).to_boolean() {
        false => String::from_utf8_lossy(&bytes).into_owned(),
        true => String::from_utf8(bytes)
            .map_err(|_| JsNativeError::typ().with_message("the bytes are not UTF-8"))?,
    };
    Ok(JsString::from(text).into())
}

/// `toBase64(buffer, url)`.
pub(super) fn to_base64(_: &JsValue, args: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    let bytes = bytes(args.get_or_undefined(0))?;
    let text = match args.get_or_undefined(1).to_boolean() {
        true => general_purpose::URL_SAFE_NO_PAD.encode(bytes),
        false => STANDARD.encode(bytes),
    };
    Ok(JsString::from(text).into())
}

/// `fromBase64(text)`, of either alphabet; what is no Base64 is left out.
pub(super) fn from_base64(
    _: &JsValue,
    args: &[JsValue],
    context: &mut Context,
) -> JsResult<JsValue> {
    let text = args
        .get_or_undefined(0)
        .to_string(context)?
        .to_std_string_lossy();
    let standard: String = text
        .chars()
        .filter_map(|it| match it {
            '-' => Some('+'),
            '_' => Some('/'),
            it if it.is_ascii_alphanumeric() || it == '+' || it == '/' => Some(it),
            _ => None,
        })
        .collect();
    let whole = standard.len() - usize::from(standard.len() % 4 == 1);
    let bytes = STANDARD.decode(&standard[..whole]).unwrap_or_default();
    array_buffer(bytes, context)
}

/// The bytes of an ArrayBuffer.
pub(super) fn bytes(value: &JsValue) -> JsResult<Vec<u8>> {
    let buffer = value.as_object().map(JsArrayBuffer::from_object);
    let bytes = buffer.transpose()?.and_then(|buffer| buffer.to_vec());
    bytes.ok_or_else(|| {
        JsNativeError::typ()
            .with_message("not an ArrayBuffer")
            .into()
    })
}

/// Bytes as an ArrayBuffer.
pub(super) fn array_buffer(bytes: Vec<u8>, context: &mut Context) -> JsResult<JsValue> {
    let block = AlignedVec::from_iter(0, bytes);
    Ok(JsArrayBuffer::from_byte_block(block, context)?.into())
}

fn invalid(message: &'static str) -> JsNativeError {
    JsNativeError::error().with_message(message)
}
