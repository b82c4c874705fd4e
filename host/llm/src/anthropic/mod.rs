//! Anthropic's Messages API, and servers that speak it.
//!
//! - [`request`]: the body. [`thinking`]: whether and how the model reasons. [`messages`]: the
//!   conversation. [`tools`]: what may be called. [`model`]: what a model can do.
//! - [`answer`]: a whole answer. [`stream`]: one in pieces, folded into the form of a whole one.
//! - [`refusal`]: what kind of error a body means.
//!
//! `LlmConfig::verbosity` has no counterpart in this API; `effort` has one.

mod answer;
mod messages;
mod model;
mod refusal;
mod request;
mod stream;
mod thinking;
mod tools;

use serde_json::Value;

use self::{
    request::Prepared,
    stream::{Fold, Folded},
};
use crate::{
    chat::{ChatReply, ChatRequest, Deltas},
    error::{ErrorKind, LlmError},
    transport::{Auth, Call, EventStream, Transport, failure},
};

/// The version of the API that this module speaks.
const VERSION: &str = "2023-06-01";

/// What is posted.
pub(crate) fn payload(request: &ChatRequest, stream: bool) -> Value {
    request::prepare(request, stream).body
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
    let Prepared { body, betas } = request::prepare(request, deltas.is_some());
    let mut headers = vec![("anthropic-version", VERSION)];
    if !betas.is_empty() {
        headers.push(("anthropic-beta", betas.as_str()));
    }
    let call = Call {
        endpoint,
        path: "/v1/messages",
        auth: Auth::Header("x-api-key"),
        headers: &headers,
        body: Some(&body),
        classify: refusal::classify,
    };
    let (message, arguments, first_delta) = match deltas {
        None => (transport.post_json(&call).await?, Vec::new(), None),
        Some(deltas) => {
            let mut stream = transport.post_stream(&call, deltas).await?;
            let Folded { message, arguments } = read(&mut stream).await?;
            (message, arguments, stream.first_delta())
        }
    };
    let mut answer = answer::read(&message).ok_or_else(|| {
        let text = "its answer is no message";
        failure(endpoint, ErrorKind::InvalidResponse, text)
    })?;
    for (call, arguments) in answer.calls.iter_mut().zip(arguments) {
        call.arguments = arguments;
    }
    Ok(ChatReply {
        content: answer.content,
        tool_calls: answer.calls,
        finish: answer.finish,
        usage: answer.usage,
        model: answer.model.unwrap_or_else(|| request.config.model.clone()),
        request_json: body,
        response_json: message,
        logprobs: None,
        first_delta,
    })
}

/// Reads a stream to its end and gives the message that it makes.
async fn read(stream: &mut EventStream<'_>) -> Result<Folded, LlmError> {
    let mut fold = Fold::default();
    while let Some(event) = stream.next().await? {
        let Ok(event) = serde_json::from_str::<Value>(&event.data) else {
            return Err(stream.failure(
                ErrorKind::InvalidResponse,
                "an event of its stream is no JSON",
            ));
        };
        if event["type"] == "error" {
            let kind = refusal::of_body(&event).unwrap_or(ErrorKind::Server);
            return Err(stream.refusal(kind, None, &event));
        }
        for delta in fold.take(event) {
            stream.emit(delta).await;
        }
        if fold.is_complete() {
            break;
        }
    }
    fold.finish().ok_or_else(|| {
        stream.failure(
            ErrorKind::InvalidResponse,
            "its stream ended before the answer did",
        )
    })
}
