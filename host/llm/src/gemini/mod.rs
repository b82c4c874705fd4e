//! Google's Gemini API.
//!
//! - [`request`]: the body. [`contents`]: the conversation. [`schema`]: schemas of tools and
//!   answers. [`model`]: what a model can do.
//! - [`answer`]: an answer, whole or in pieces. [`refusal`]: what kind of error a body means.
//!
//! Vectors are made in [`embed`].

mod answer;
mod contents;
pub(crate) mod embed;
mod model;
mod refusal;
mod request;
mod schema;

use std::fmt::Write as _;

use serde_json::Value;

use self::answer::Answer;
use crate::{
    chat::{ChatReply, ChatRequest, Deltas, Finish},
    error::{ErrorKind, LlmError},
    transport::{Auth, Call, EventStream, Transport, failure},
};

/// The header that carries the key.
const KEY: Auth = Auth::Header("x-goog-api-key");

/// What is posted, streamed or not.
pub(crate) fn payload(request: &ChatRequest) -> Value {
    request::body(request)
}

/// Asks a model and gives its whole answer; pieces go to `deltas` as they come.
///
/// # Errors
/// As [`LlmError`] says.
pub(crate) async fn chat(
    transport: &Transport,
    request: &ChatRequest,
    deltas: Option<&Deltas>,
) -> Result<ChatReply, LlmError> {
    let endpoint = &request.endpoint;
    let body = request::body(request);
    let method = match deltas {
        None => "generateContent",
        Some(_) => "streamGenerateContent?alt=sse",
    };
    let path = path(&request.config.model, method);
    let call = Call {
        endpoint,
        path: &path,
        auth: KEY,
        headers: &[],
        body: Some(&body),
        classify: refusal::classify,
    };
    let mut answer = Answer::default();
    let first_delta = match deltas {
        None => {
            answer.take(&transport.post_json(&call).await?);
            None
        }
        Some(deltas) => {
            let mut stream = transport.post_stream(&call, deltas).await?;
            read(&mut stream, &mut answer).await?;
            stream.first_delta()
        }
    };
    let partial = first_delta.is_some();
    let finish = finish(&answer).map_err(|text| LlmError {
        partial,
        ..failure(endpoint, ErrorKind::InvalidResponse, &text)
    })?;
    Ok(ChatReply {
        finish,
        usage: answer.usage(),
        model: answer.model().unwrap_or(&request.config.model).to_owned(),
        request_json: body,
        response_json: answer.to_json(),
        content: answer.content,
        tool_calls: answer.calls,
        logprobs: None,
        first_delta,
    })
}

/// `/v1beta/models/{model}:{method}`; models are listed as `models/{model}`.
fn path(model: &str, method: &str) -> String {
    let model = model.strip_prefix("models/").unwrap_or(model);
    format!("/v1beta/models/{}:{method}", escape(model))
}

/// A model's name as one segment of a path, whatever a configuration calls it.
fn escape(segment: &str) -> String {
    let mut escaped = String::with_capacity(segment.len());
    for byte in segment.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                escaped.push(char::from(byte));
            }
            _ => {
                let _ = write!(escaped, "%{byte:02X}");
            }
        }
    }
    escaped
}

/// Reads a stream to its end.
async fn read(stream: &mut EventStream<'_>, answer: &mut Answer) -> Result<(), LlmError> {
    while let Some(event) = stream.next().await? {
        let Ok(event) = serde_json::from_str::<Value>(&event.data) else {
            return Err(stream.failure(
                ErrorKind::InvalidResponse,
                "an event of its stream is no JSON",
            ));
        };
        // A server that knows no server-sent events sends a list of what they would be.
        let events = match event {
            Value::Array(events) => events,
            event => vec![event],
        };
        for event in events {
            if let Some(error) = event.get("error") {
                let status = error["code"].as_u64().and_then(|code| code.try_into().ok());
                let kind = refusal::of_body(&event).unwrap_or(ErrorKind::Server);
                return Err(stream.refusal(kind, status, &event));
            }
            for delta in answer.take(&event) {
                stream.emit(delta).await;
            }
        }
    }
    if answer.is_complete() {
        Ok(())
    } else {
        Err(stream.failure(
            ErrorKind::InvalidResponse,
            "its stream ended before the answer did",
        ))
    }
}

/// Why the answer ended.
///
/// # Errors
/// What is wrong with it, when it holds nothing that could be used.
fn finish(answer: &Answer) -> Result<Finish, String> {
    let is_empty = answer.content.is_empty() && answer.calls.is_empty();
    match (answer.reason(), answer.blocked()) {
        (None, Some(_)) => Ok(Finish::Filtered),
        (None, None) => Err("its answer holds no candidate".to_owned()),
        (Some("STOP"), _) => Ok(Finish::Stop),
        (Some("MAX_TOKENS"), _) => Ok(Finish::Length),
        (
            Some(
                "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"
                | "IMAGE_SAFETY" | "LANGUAGE",
            ),
            _,
        ) => Ok(Finish::Filtered),
        (Some(reason), _) if is_empty => {
            let words = answer.reason_in_words().unwrap_or_default();
            Err(format!("its answer is of no use: {reason} {words}")
                .trim_end()
                .to_owned())
        }
        (Some(reason), _) => Ok(Finish::Other(reason.to_owned())),
    }
}
