//! OpenAI's Responses API, over which its reasoning models are asked: it takes back their reasoning
//! in encrypted form, so that a model goes on thinking where it stopped to call a tool. Nothing is
//! stored at the provider.
//!
//! - [`request`], [`input`]: what is sent. [`events`], [`output`]: what comes back.

mod events;
mod input;
mod output;
mod request;

use bulkhead_domain::LlmConfig;
use serde_json::Value;

use self::events::{Events, Step};
use crate::{
    chat::{ChatReply, ChatRequest, Deltas},
    error::{ErrorKind, LlmError},
    openai::{dialect::is_reasoning_model, problem},
    transport::{Auth, Call, EventStream, Transport, failure},
};

/// Whether a model is asked over this API: OpenAI's own reasoning models. Other servers that speak
/// like OpenAI have a type of their own, or models of other names.
pub(crate) fn speaks(config: &LlmConfig) -> bool {
    config.model_endpoint_type == "openai" && is_reasoning_model(&config.model)
}

/// What is posted.
pub(crate) fn payload(request: &ChatRequest, stream: bool) -> Value {
    request::body(request, stream)
}

/// Asks a model.
///
/// # Errors
/// As [`LlmError`] says.
pub(crate) async fn chat(
    transport: &Transport,
    request: &ChatRequest,
    deltas: Option<&Deltas>,
) -> Result<ChatReply, LlmError> {
    let body = request::body(request, deltas.is_some());
    let call = Call {
        endpoint: &request.endpoint,
        path: "/responses",
        auth: Auth::Bearer,
        headers: &[],
        body: Some(&body),
        classify: problem::kind,
    };
    let reply = match deltas {
        Some(deltas) => pieces(transport.post_stream(&call, deltas).await?, request).await?,
        None => whole(&call, transport.post_json(&call).await?, request)?,
    };
    Ok(ChatReply {
        request_json: body,
        ..reply
    })
}

/// An answer that came as one document.
fn whole(call: &Call<'_>, answer: Value, request: &ChatRequest) -> Result<ChatReply, LlmError> {
    if let Some(problem) = problem::in_answer(&answer) {
        return Err(problem.refusal(call.endpoint, &answer));
    }
    output::reply(&answer, &[], &request.config.model)
        .map(|reply| ChatReply {
            response_json: answer,
            ..reply
        })
        .map_err(|text| failure(call.endpoint, ErrorKind::InvalidResponse, text))
}

/// An answer that comes in pieces.
async fn pieces(mut stream: EventStream<'_>, request: &ChatRequest) -> Result<ChatReply, LlmError> {
    let mut events = Events::default();
    while let Some(event) = stream.next().await? {
        if event.data.trim() == "[DONE]" {
            break;
        }
        let data: Value = serde_json::from_str(&event.data).map_err(|error| {
            let text = format!("an event of the stream is no JSON: {error}");
            stream.failure(ErrorKind::InvalidResponse, &text)
        })?;
        let step = events
            .take(data)
            .map_err(|text| stream.failure(ErrorKind::InvalidResponse, &text))?;
        match step {
            Step::On(deltas) => {
                for delta in deltas {
                    stream.emit(delta).await;
                }
            }
            Step::Refused(body) => {
                let problem = problem::in_answer(&body);
                let kind = problem.map_or(ErrorKind::Server, |problem| problem.kind);
                let status = problem.and_then(|problem| problem.status);
                return Err(stream.refusal(kind, status, &body));
            }
            Step::Done(answer) => {
                let reply = output::reply(&answer, events.ids(), &request.config.model)
                    .map_err(|text| stream.failure(ErrorKind::InvalidResponse, text))?;
                let first_delta = stream.first_delta();
                stream.finish();
                return Ok(ChatReply {
                    response_json: answer,
                    first_delta,
                    ..reply
                });
            }
        }
    }
    let text = "the stream ended before the answer did";
    Err(stream.failure(ErrorKind::InvalidResponse, text))
}
