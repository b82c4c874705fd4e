//! JSON in and out: bodies of bounded size and time, errors with their place.

use std::time::Duration;

use axum::{
    body::Body,
    extract::{FromRequest, Request},
    response::Response,
};
use bulkhead_domain::Problem;
use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use http_body_util::BodyExt as _;
use serde::{
    Deserialize, Serialize,
    de::{DeserializeOwned, IgnoredAny},
};
use serde_json::error::Category;

use super::error::{self, Rejection};

/// Bytes of a JSON body: the largest input that a sandbox takes by default, and the rest of a
/// call's request around it.
pub(crate) const BODY_MAX: usize = (8 << 20) + (64 << 10);
/// How long a JSON body may take to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// How much of a body that is refused for its size is still read, so that a client that sends
/// before it reads gets the answer and no reset connection.
const DRAIN_MAX: usize = 128 << 20;
/// And how long that may take.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

/// A JSON body as `T`.
pub(crate) struct Json<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Json<T> {
    type Rejection = Rejection;

    async fn from_request(request: Request, _: &S) -> Result<Self, Rejection> {
        read(request).await.and_then(|body| parse(&body)).map(Self)
    }
}

/// The bytes of a JSON body. Pages of other origins can send a form or plain text without being
/// asked, so that any other media type is refused.
pub(crate) async fn read(request: Request) -> Result<Bytes, Rejection> {
    require_media_type(request.headers(), &["application/json"])?;
    read_body(request, BODY_MAX, BODY_TIMEOUT, &error::BODY_TOO_LARGE).await
}

pub(crate) fn require_media_type(headers: &HeaderMap, expected: &[&str]) -> Result<(), Rejection> {
    let given = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let given = given
        .unwrap_or_default()
        .split(';')
        .next()
        .unwrap_or_default()
        .trim();
    if expected
        .iter()
        .any(|expected| given.eq_ignore_ascii_case(expected))
    {
        return Ok(());
    }
    let message = format!("send the body as content-type {}", expected.join(" or "));
    Err(Rejection::with(&error::UNSUPPORTED_MEDIA_TYPE, message))
}

/// The body's bytes, at most `limit`, within `timeout`.
pub(crate) async fn read_body(
    request: Request,
    limit: usize,
    timeout: Duration,
    too_large: &'static error::Kind,
) -> Result<Bytes, Rejection> {
    let announced = announced_length(request.headers());
    let mut body = request.into_body();
    let read = tokio::time::timeout(timeout, collect(&mut body, announced, limit)).await;
    match read.map_err(|_| Rejection::new(&error::REQUEST_TIMEOUT))? {
        Ok(bytes) => Ok(bytes),
        Err(Unread::Broken) => Err(Rejection::with(
            &error::INVALID_REQUEST,
            "the body ended before its end",
        )),
        Err(Unread::TooLarge) => {
            // The answer is the same whether or not the client stops sending.
            let _ = tokio::time::timeout(DRAIN_TIMEOUT, drain(&mut body)).await;
            let message = format!("{} ({limit} bytes)", too_large.text);
            Err(Rejection::with(too_large, message))
        }
    }
}

enum Unread {
    TooLarge,
    Broken,
}

fn announced_length(headers: &HeaderMap) -> usize {
    let length = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok());
    length.and_then(|length| length.parse().ok()).unwrap_or(0)
}

async fn collect(body: &mut Body, announced: usize, limit: usize) -> Result<Bytes, Unread> {
    if announced > limit {
        return Err(Unread::TooLarge);
    }
    let mut first = Bytes::new();
    let mut all = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| Unread::Broken)?.into_data() else {
            continue;
        };
        if first.len() + all.len() + data.len() > limit {
            return Err(Unread::TooLarge);
        }
        if first.is_empty() && all.is_empty() {
            // Most bodies come in one piece and are not copied.
            first = data;
            continue;
        }
        if all.is_empty() {
            all.reserve(announced.max(first.len() + data.len()));
            all.extend_from_slice(&std::mem::take(&mut first));
        }
        all.extend_from_slice(&data);
    }
    Ok(if all.is_empty() { first } else { all.freeze() })
}

async fn drain(body: &mut Body) {
    let mut left = DRAIN_MAX;
    while let Some(Ok(frame)) = body.frame().await {
        let length = frame.data_ref().map_or(0, Bytes::len);
        let Some(rest) = left.checked_sub(length) else {
            return;
        };
        left = rest;
    }
}

/// `body` as `T`. Text that is no JSON and JSON that is no `T` are told apart; both say where.
pub(crate) fn parse<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, Rejection> {
    serde_json::from_slice(body).map_err(|error| explain::<T>(body, &error))
}

/// Reads once more, slower and with the path at hand.
fn explain<'a, T: Deserialize<'a>>(body: &'a [u8], first: &serde_json::Error) -> Rejection {
    // A field may be wrong before the text is: then the text comes first.
    let no_json = serde_json::from_slice::<IgnoredAny>(body).err();
    let no_json = if first.classify() == Category::Data {
        no_json.as_ref()
    } else {
        Some(first)
    };
    if let Some(first) = no_json {
        return Rejection::with(
            &error::INVALID_JSON,
            format!("the body is not valid JSON: {first}"),
        );
    }
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let problem = match serde_path_to_error::deserialize::<_, T>(&mut deserializer) {
        Ok(_) => Problem {
            at: String::new(),
            message: first.to_string(),
        },
        Err(error) => Problem {
            at: pointer(error.path()),
            message: error.inner().to_string(),
        },
    };
    let message = match problem.at.as_str() {
        "" => format!("the body is not what this route takes: {}", problem.message),
        at => format!(
            "the body is not what this route takes: {at}: {}",
            problem.message
        ),
    };
    Rejection::with(&error::INVALID_BODY, message).problems(vec![problem])
}

/// RFC 6901.
fn pointer(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    let mut pointer = String::new();
    for segment in path {
        let name = match segment {
            Segment::Seq { index } => index.to_string(),
            Segment::Map { key } => key.replace('~', "~0").replace('/', "~1"),
            Segment::Enum { .. } | Segment::Unknown => continue,
        };
        pointer.push('/');
        pointer.push_str(&name);
    }
    pointer
}

/// An answer with `body` as JSON.
pub(crate) fn respond(status: StatusCode, body: &impl Serialize) -> Response {
    // Types of this API have string keys and no failing serialiser.
    let bytes = serde_json::to_vec(body).unwrap_or_else(|error| {
        tracing::error!(%error, "an answer could not be written as JSON");
        Vec::new()
    });
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Outer {
        #[allow(dead_code)]
        inner: Vec<Inner>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        #[allow(dead_code)]
        size: u8,
    }

    fn refusal(body: &str) -> (&'static str, String) {
        let rejection = parse::<Outer>(body.as_bytes()).unwrap_err();
        (
            rejection.kind().code,
            serde_json::to_string(&rejection.body()).unwrap(),
        )
    }

    #[test]
    fn text_that_is_no_json_is_told_with_line_and_column() {
        for body in [
            "",
            "{",
            "{\"inner\": [",
            "nul",
            "{\"inner\": []} x",
            "{\"outher\": {]}",
        ] {
            let (code, text) = refusal(body);
            assert_eq!(code, "invalid_json", "{body}");
            assert!(text.contains("line 1 column"), "{text}");
        }
    }

    #[test]
    fn json_of_another_shape_is_told_with_its_pointer() {
        let (code, text) = refusal(r#"{"inner": [{"size": 1}, {"size": 300}]}"#);
        assert_eq!(code, "invalid_body");
        assert!(text.contains(r#""at":"/inner/1/size""#), "{text}");
        let (_, text) = refusal(r#"{"inner": [], "outher": 1}"#);
        assert!(text.contains("outher"), "{text}");
    }
}
