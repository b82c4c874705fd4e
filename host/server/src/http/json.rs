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
use tokio::sync::Semaphore;

use super::error::{self, Rejection};

/// Bytes of a JSON body: the largest input that a sandbox takes by default, and the rest of a
/// call's request around it.
pub(crate) const BODY_MAX: usize = (8 << 20) + (64 << 10);
/// How a JSON body is read. It may take half a minute to arrive, in whatever pieces.
const JSON_BODY: Reading = Reading {
    limit: BODY_MAX,
    timeout: Duration::from_secs(30),
    idle: Duration::from_secs(30),
    too_large: &error::BODY_TOO_LARGE,
    slots: None,
};
/// How long a body whose first bytes are there waits for one of its slots: clients try again
/// after an answer, and none after a connection that hangs.
const SLOT_TIMEOUT: Duration = Duration::from_secs(3);
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

/// The JSON body as `T`, for handlers that look first who asks.
pub(crate) async fn body<T: DeserializeOwned>(request: Request) -> Result<T, Rejection> {
    read(request).await.and_then(|body| parse(&body))
}

/// As [`body`], for bodies that hold a secret.
pub(crate) async fn secret_body<T: DeserializeOwned>(request: Request) -> Result<T, Rejection> {
    read(request).await.and_then(|body| parse_secret(&body))
}

/// The bytes of a JSON body. Pages of other origins can send a form or plain text without being
/// asked, so that any other media type is refused.
pub(crate) async fn read(request: Request) -> Result<Bytes, Rejection> {
    require_media_type(request.headers(), &["application/json"])?;
    read_body(request, &JSON_BODY).await
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

/// How a body is read.
pub(crate) struct Reading {
    /// Bytes.
    pub(crate) limit: usize,
    /// Until its end is there.
    pub(crate) timeout: Duration,
    /// From one piece to the next.
    pub(crate) idle: Duration,
    /// What a larger one is refused as.
    pub(crate) too_large: &'static error::Kind,
    /// How many may be read at once. A body takes one when its first bytes are there and gives
    /// it back with its end, so that a client that sends nothing keeps nobody out.
    pub(crate) slots: Option<&'static Semaphore>,
}

/// The body's bytes.
pub(crate) async fn read_body(request: Request, how: &Reading) -> Result<Bytes, Rejection> {
    let announced = announced_length(request.headers());
    let Reading {
        limit, too_large, ..
    } = *how;
    let mut body = request.into_body();
    let read = tokio::time::timeout(how.timeout, collect(&mut body, announced, how)).await;
    match read.unwrap_or(Err(Unread::Late)) {
        Ok(bytes) => Ok(bytes),
        Err(Unread::Late) => Err(Rejection::new(&error::REQUEST_TIMEOUT)),
        Err(Unread::Busy) => Err(Rejection::with(
            &error::OVERLOADED,
            "too many components are being received at once; try again in a moment",
        )),
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
    Late,
    Busy,
}

fn announced_length(headers: &HeaderMap) -> usize {
    let length = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok());
    length.and_then(|length| length.parse().ok()).unwrap_or(0)
}

async fn collect(body: &mut Body, announced: usize, how: &Reading) -> Result<Bytes, Unread> {
    if announced > how.limit {
        return Err(Unread::TooLarge);
    }
    let mut slot = None;
    let mut first = Bytes::new();
    let mut all = BytesMut::new();
    loop {
        let frame = tokio::time::timeout(how.idle, body.frame()).await;
        let Some(frame) = frame.map_err(|_| Unread::Late)? else {
            break;
        };
        let Ok(data) = frame.map_err(|_| Unread::Broken)?.into_data() else {
            continue;
        };
        if first.len() + all.len() + data.len() > how.limit {
            return Err(Unread::TooLarge);
        }
        if let (None, Some(slots)) = (&slot, how.slots) {
            let free = tokio::time::timeout(SLOT_TIMEOUT, slots.acquire()).await;
            // The semaphore is never closed.
            slot = Some(free.map_err(|_| Unread::Busy)?.map_err(|_| Unread::Busy)?);
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

/// `body`, an object, as `T`. Text that is no JSON and JSON that is no `T` are told apart; both
/// say where.
pub(crate) fn parse<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, Rejection> {
    // An array would do for a struct, one element a field.
    if !looks_like_an_object(body) {
        return Err(no_object(body));
    }
    serde_json::from_slice(body).map_err(|error| explain::<T>(body, &error))
}

/// As [`parse`], for bodies that hold a secret: a refusal has the place of what is wrong and
/// nothing of what was sent.
pub(crate) fn parse_secret<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, Rejection> {
    if !looks_like_an_object(body) {
        return Err(no_object(body));
    }
    let refused = match parse(body) {
        Ok(parsed) => return Ok(parsed),
        Err(refused) if refused.kind() == &error::INVALID_BODY => refused,
        Err(refused) => return Err(refused),
    };
    let message = "a field is missing, unknown, or of another type than this route takes";
    let at = refused.problem_at().unwrap_or_default().to_owned();
    Err(Rejection::with(&error::INVALID_BODY, message).at(at, message))
}

fn looks_like_an_object(body: &[u8]) -> bool {
    body.trim_ascii_start().first() == Some(&b'{')
}

fn no_object(body: &[u8]) -> Rejection {
    match serde_json::from_slice::<IgnoredAny>(body) {
        Err(error) => no_json(&error),
        Ok(_) => {
            let message = "the body must be a JSON object";
            Rejection::with(&error::INVALID_BODY, message).at("", message)
        }
    }
}

fn no_json(error: &serde_json::Error) -> Rejection {
    let message = format!("the body is not valid JSON: {error}");
    Rejection::with(&error::INVALID_JSON, message)
}

/// Reads once more, slower and with the path at hand.
fn explain<'a, T: Deserialize<'a>>(body: &'a [u8], first: &serde_json::Error) -> Rejection {
    // A field may be wrong before the text is: then the text comes first.
    let broken = serde_json::from_slice::<IgnoredAny>(body).err();
    let broken = if first.classify() == Category::Data {
        broken.as_ref()
    } else {
        Some(first)
    };
    if let Some(first) = broken {
        return no_json(first);
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
    fn json_that_is_no_object_is_told_without_names_of_this_program() {
        for body in ["[]", " [[]]", "null", "\"a\"", "7"] {
            let (code, text) = refusal(body);
            assert_eq!(code, "invalid_body", "{body}");
            assert!(text.contains("must be a JSON object"), "{text}");
            assert!(!text.contains("struct"), "{text}");
        }
    }

    #[test]
    fn what_holds_a_secret_is_refused_by_its_place_alone() {
        for (body, at) in [
            (r#"{"inner": [{"size": "hunter2"}]}"#, "/inner/0/size"),
            (r#"{"inner": "hunter2"}"#, "/inner"),
            (r#""hunter2""#, ""),
        ] {
            let refused = parse_secret::<Outer>(body.as_bytes()).unwrap_err();
            let text = serde_json::to_string(&refused.body()).unwrap();
            assert_eq!(refused.problem_at(), Some(at));
            assert!(!text.contains("hunter2"), "{text}");
        }
    }

    #[tokio::test]
    async fn a_body_without_a_slot_or_without_progress_is_refused() {
        static SLOTS: Semaphore = Semaphore::const_new(1);
        let how = Reading {
            slots: Some(&SLOTS),
            idle: Duration::from_millis(50),
            ..JSON_BODY
        };
        let read = async |body: Body| {
            let read = read_body(Request::new(body), &how).await;
            read.map_err(|refused| refused.kind().code)
        };
        let stalled =
            || Body::from_stream(futures::stream::pending::<Result<Bytes, std::io::Error>>());
        assert_eq!(read(stalled()).await, Err("request_timeout"));
        // One that sends nothing keeps nobody out.
        let waiting = tokio::spawn(read_body(Request::new(stalled()), &JSON_BODY));
        assert_eq!(read(Body::from("a")).await.unwrap(), "a");
        waiting.abort();
        let held = SLOTS.acquire().await.unwrap();
        assert_eq!(read(Body::from("a")).await, Err("overloaded"));
        drop(held);
        assert_eq!(read(Body::from("a")).await.unwrap(), "a");
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
