//! Bodies of requests, checked before they are read.

use axum::{
    body::HttpBody as _,
    extract::{FromRequest, Request},
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Refusal, check, fault::Fault};
use crate::http::{
    error::{self, Rejection},
    json,
};

/// What a body is read as.
pub(crate) trait Schema: DeserializeOwned {
    /// Its name in `bodies.json`.
    const NAME: &str;
}

/// A JSON body, checked and converted as the contract says, then read as `T`.
pub(crate) struct Body<T>(pub(crate) T);

impl<T: Schema, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, _: &S) -> Result<Self, Refusal> {
        read(&value(request).await?).map(Self)
    }
}

/// As [`Body`], of a request that may come without one: none then, and where it is `null`.
pub(crate) struct OptionalBody<T>(pub(crate) Option<T>);

impl<T: Schema, S: Send + Sync> FromRequest<S> for OptionalBody<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, _: &S) -> Result<Self, Refusal> {
        let headers = request.headers();
        let has_body = headers.contains_key(http::header::CONTENT_TYPE);
        if !has_body && request.body().is_end_stream() {
            return Ok(Self(None));
        }
        let bytes = json::read(request).await?;
        if matches!(bytes.trim_ascii(), b"" | b"null") {
            return Ok(Self(None));
        }
        read(&parsed(&bytes)?).map(|body| Self(Some(body)))
    }
}

/// The body as any JSON value; what is no JSON is refused in the words of the contract.
pub(crate) async fn value(request: Request) -> Result<Value, Refusal> {
    parsed(&json::read(request).await?)
}

/// The same, of a text that is there.
pub(crate) fn parsed(bytes: &[u8]) -> Result<Value, Refusal> {
    parse(bytes).map_err(|fault| Refusal::invalid(&[*fault], &[]))
}

fn parse(bytes: &[u8]) -> Result<Value, Box<Fault>> {
    let body = if bytes.trim_ascii().is_empty() {
        Ok(Value::Null)
    } else {
        serde_json::from_slice(bytes)
    };
    match body {
        // No body and the body `null` are the same to the contract.
        Ok(Value::Null) => {
            let place = vec![json!("body")];
            let fault = Fault::new("missing", place, "Field required", Value::Null);
            Err(Box::new(fault))
        }
        Ok(body) => Ok(body),
        Err(error) => {
            let place = vec![json!("body"), json!(offset(bytes, &error))];
            let fault = Fault::new("json_invalid", place, "JSON decode error", json!({}));
            Err(Box::new(fault.with(json!({ "error": error.to_string() }))))
        }
    }
}

/// Where in the body the text stops to be JSON, in bytes.
fn offset(bytes: &[u8], error: &serde_json::Error) -> usize {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let before: usize = lines
        .take(error.line().saturating_sub(1))
        .map(<[u8]>::len)
        .sum();
    before + error.column().saturating_sub(1)
}

/// A value with what the contract converts converted, or every fault in it. `name`: the schema's, in
/// `bodies.json`.
pub(crate) fn checked(name: &str, value: &Value) -> Result<Value, Vec<Fault>> {
    check::check(name, value)
}

/// A value as `T`.
pub(crate) fn read<T: Schema>(value: &Value) -> Result<T, Refusal> {
    let checked = checked(T::NAME, value).map_err(|faults| Refusal::invalid(&faults, &[]))?;
    serde_json::from_value(checked).map_err(|refused| {
        Rejection::with(
            &error::INVALID_BODY,
            format!("the body is malformed: {refused}"),
        )
        .into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_json_is_told_with_its_place() {
        for (body, expected) in [
            (
                "{\"a\": 1,\n x}",
                "{'type': 'json_invalid', 'loc': ('body', 10), 'msg': 'JSON decode error', 'input': {}, 'ctx': {'error': 'key must be a string at line 2 column 2'}}",
            ),
            (
                "",
                "{'type': 'missing', 'loc': ('body',), 'msg': 'Field required', 'input': None}",
            ),
            (
                "null",
                "{'type': 'missing', 'loc': ('body',), 'msg': 'Field required', 'input': None}",
            ),
        ] {
            let fault = parse(body.as_bytes()).expect_err("it is refused");
            assert_eq!(fault.repr(), expected, "{body}");
        }
        assert_eq!(parse(b"[1]"), Ok(json!([1])));
    }
}
