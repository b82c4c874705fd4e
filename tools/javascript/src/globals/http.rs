//! The native half of `fetch`: one request through the host.

use boa_engine::{
    Context, JsArgs, JsNativeError, JsResult, JsString, JsValue, js_string,
    object::builtins::JsArray,
};

use super::encoding::{array_buffer, bytes};
use crate::{
    abi::{HttpError, Request},
    engine::{object, services},
};

/// `send(method, url, headers, body, timeout)`: headers as pairs, the body as an ArrayBuffer, the
/// timeout in milliseconds.
pub(super) fn send(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let text = |index: usize, context: &mut Context| -> JsResult<String> {
        let value = args.get_or_undefined(index).to_string(context)?;
        Ok(value.to_std_string_lossy())
    };
    let request = Request {
        method: text(0, context)?,
        url: text(1, context)?,
        headers: pairs(args.get_or_undefined(2), context)?,
        body: match args.get_or_undefined(3) {
            body if body.is_null_or_undefined() => None,
            body => Some(bytes(body)?),
        },
        timeout_ms: match args.get_or_undefined(4) {
            timeout if timeout.is_undefined() => None,
            timeout => Some(timeout.to_u32(context)?),
        },
        credential: None,
    };
    let host = services(context).host.clone();
    match host.fetch(&request) {
        Ok(response) => {
            let answer = object(context);
            let headers = response.headers.into_iter().map(|(name, value)| {
                let pair = [name, value].map(|text| JsString::from(text).into());
                JsArray::from_iter(pair, context).into()
            });
            let headers: Vec<JsValue> = headers.collect();
            let headers = JsArray::from_iter(headers, context);
            let body = array_buffer(response.body, context)?;
            answer.create_data_property(js_string!("status"), response.status, context)?;
            let url = JsString::from(response.url);
            answer.create_data_property(js_string!("url"), url, context)?;
            answer.create_data_property(js_string!("headers"), headers, context)?;
            answer.create_data_property(js_string!("body"), body, context)?;
            Ok(answer.into())
        }
        Err(error) => Err(JsNativeError::typ()
            .with_message(message(&error, &request.url))
            .into()),
    }
}

fn message(error: &HttpError, url: &str) -> String {
    match error {
        HttpError::Denied(reason) | HttpError::Unauthorized(reason) => {
            format!("fetch failed: {reason}")
        }
        HttpError::Invalid(reason) => format!("fetch failed: invalid request: {reason}"),
        HttpError::Timeout => format!("fetch failed: no answer from {url} in time"),
        HttpError::TooLarge(limit) => {
            format!("fetch failed: the answer from {url} is larger than the {limit} bytes left")
        }
        HttpError::Failed(failure) => format!("fetch failed: {}", failure.message),
    }
}

fn pairs(value: &JsValue, context: &mut Context) -> JsResult<Vec<(String, String)>> {
    let Some(list) = value.as_object() else {
        return Ok(Vec::new());
    };
    let length = list
        .get(js_string!("length"), context)?
        .to_length(context)?;
    let mut pairs = Vec::new();
    for index in 0..length {
        let pair = list.get(index, context)?.to_object(context)?;
        let mut part = |index: u64| -> JsResult<String> {
            let text = pair.get(index, context)?.to_string(context)?;
            Ok(text.to_std_string_lossy())
        };
        pairs.push((part(0)?, part(1)?));
    }
    Ok(pairs)
}
