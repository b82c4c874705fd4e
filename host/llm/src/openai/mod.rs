//! OpenAI's chat completions, as OpenAI and many others speak them.
//!
//! - [`dialect`]: in what endpoints differ. [`request`], [`messages`], [`paired`], [`tools`], [`strict`],
//!   [`ids`], [`images`]: what is sent. [`fold`], [`calls`], [`reply`]: what comes back.
//!   [`problem`]: what a refusal means.

mod calls;
pub(crate) mod dialect;
mod fold;
pub(crate) mod ids;
pub(crate) mod images;
pub(crate) mod messages;
pub(crate) mod paired;
pub(crate) mod problem;
mod reply;
mod request;
pub(crate) mod strict;
pub(crate) mod tools;

use serde_json::Value;

use self::fold::Fold;
use crate::{
    chat::{ChatReply, ChatRequest, Deltas},
    error::{ErrorKind, LlmError},
    transport::{Auth, Call, EventStream, Transport, failure},
};

/// The data of the event that ends a stream.
const DONE: &str = "[DONE]";

/// What is posted.
pub(crate) fn payload(request: &ChatRequest, stream: bool) -> Value {
    request::body(request, stream)
}

/// Asks a model.
///
/// # Errors
/// As [`LlmError`] says; `EmptyResponse` for an answer without a choice.
pub(crate) async fn chat(
    transport: &Transport,
    request: &ChatRequest,
    deltas: Option<&Deltas>,
) -> Result<ChatReply, LlmError> {
    let body = request::body(request, deltas.is_some());
    let call = Call {
        endpoint: &request.endpoint,
        path: "/chat/completions",
        auth: Auth::Bearer,
        headers: &[],
        body: Some(&body),
        classify: problem::kind,
    };
    match deltas {
        Some(deltas) => {
            let stream = transport.post_stream(&call, deltas).await?;
            let reply = pieces(stream, request).await?;
            Ok(ChatReply {
                request_json: body,
                ..reply
            })
        }
        None => whole(&call, transport.post_json(&call).await?, request, &body),
    }
}

/// An answer that came as one document.
fn whole(
    call: &Call<'_>,
    answer: Value,
    request: &ChatRequest,
    body: &Value,
) -> Result<ChatReply, LlmError> {
    if let Some(problem) = problem::in_answer(&answer) {
        return Err(problem.refusal(call.endpoint, &answer));
    }
    let mut fold = Fold::default();
    if let Err(text) = fold.take(&answer) {
        return Err(failure(call.endpoint, ErrorKind::InvalidResponse, &text));
    }
    fold.end();
    if !fold.answered() {
        let text = "the answer has no choices";
        return Err(failure(call.endpoint, ErrorKind::EmptyResponse, text));
    }
    Ok(ChatReply {
        request_json: body.clone(),
        response_json: answer,
        ..reply::of(fold, &request.config.model)
    })
}

/// An answer that comes in pieces.
async fn pieces(mut stream: EventStream<'_>, request: &ChatRequest) -> Result<ChatReply, LlmError> {
    let mut fold = Fold::default();
    let mut done = false;
    while let Some(event) = stream.next().await? {
        if event.data.trim() == DONE {
            done = true;
            break;
        }
        let chunk: Value = serde_json::from_str(&event.data).map_err(|error| {
            let text = format!("an event of the stream is no JSON: {error}");
            stream.failure(ErrorKind::InvalidResponse, &text)
        })?;
        if let Some(problem) = problem::in_answer(&chunk) {
            return Err(stream.refusal(problem.kind, problem.status, &chunk));
        }
        let deltas = fold
            .take(&chunk)
            .map_err(|text| stream.failure(ErrorKind::InvalidResponse, &text))?;
        for delta in deltas {
            stream.emit(delta).await;
        }
    }
    if !done && !fold.finished() {
        let text = "the stream ended before the answer did";
        return Err(stream.failure(ErrorKind::InvalidResponse, text));
    }
    if !fold.answered() {
        let text = "the stream held no answer";
        return Err(stream.failure(ErrorKind::EmptyResponse, text));
    }
    for delta in fold.end() {
        stream.emit(delta).await;
    }
    let first_delta = stream.first_delta();
    stream.finish();
    Ok(ChatReply {
        response_json: fold.document(),
        first_delta,
        ..reply::of(fold, &request.config.model)
    })
}
