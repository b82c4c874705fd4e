//! `POST /v1/chat/completions`: an agent as a client of OpenAI's API knows a model. Its tools run
//! here, unseen; what it says comes as pieces.

use std::convert::Infallible;

use axum::{
    body::Body as Answer,
    extract::{Request, State},
    response::Response,
};
use bulkhead_agent::{
    Event, Failure, Incoming, Input, Listener, Listening, Outcome, Piece, RunRequest, RunType,
    Shown,
};
use bulkhead_domain::{Message, Role, StopReason, Timestamp, id::AgentId, id::RunId};
use bytes::Bytes;
use futures::stream;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{sync::mpsc, task::JoinHandle};
use utoipa_axum::{router::UtoipaMethodRouter, routes};

use super::{
    AppState,
    messages::{
        body::{Route, SendBody},
        input,
        stream::{DONE, Leaving, data, sse},
        view::View,
    },
    missing,
};
use crate::contract::{
    Refusal,
    body::{self, Schema},
    document::Refusals,
    id::DEFAULT_USER,
};

/// The routes.
pub(crate) fn routes() -> Vec<UtoipaMethodRouter<AppState>> {
    vec![routes!(create)]
}

/// What of a request counts; everything else that OpenAI's API has is taken and ignored.
#[derive(Deserialize)]
struct ChatCompletion {
    model: String,
    messages: Vec<Value>,
    #[serde(default)]
    stream: Option<bool>,
}

impl Schema for ChatCompletion {
    const NAME: &str = "ChatCompletion";
}

/// Sends the last message of a user to the agent that `model` names, and answers with what it says.
#[utoipa::path(
    post,
    path = "/v1/chat/completions",
    operation_id = "create_chat_completion",
    tag = "chat",
    request_body = Object,
    responses(
        (status = OK, body = String, content_type = "text/event-stream", description = "chat.completion.chunk objects"),
        Refusals,
    )
)]
pub(crate) async fn create(
    State(app): State<AppState>,
    request: Request,
) -> Result<Response, Refusal> {
    let body: ChatCompletion = body::read(&body::value(request).await?)?;
    if body.stream != Some(true) {
        return Err(Refusal::bad_request(
            "INVALID_ARGUMENT: Non-streaming chat completions not yet implemented. Please set \
             stream=true.",
        ));
    }
    let agent_id: AgentId = body.model.parse().map_err(|_| {
        Refusal::bad_request(format!(
            "INVALID_ARGUMENT: For this endpoint, the 'model' field should contain an agent ID \
             (format: 'agent-...'). Received: '{}'",
            body.model
        ))
    })?;
    let agent = app.store.agent(&agent_id).await?;
    let agent = agent.ok_or_else(|| missing::agent(agent_id))?;
    let last = body.messages.iter().rev().find(|message| message["role"] == "user");
    let last = last.ok_or_else(|| {
        Refusal::bad_request(
            "INVALID_ARGUMENT: No user message found in the request. Please include at least one \
             message with role='user'.",
        )
    })?;
    let mut run = RunRequest::new(agent_id, RunType::ChatCompletions);
    run.input = user_input(&app, agent_id, last).await?;
    run.listening = Listening {
        tokens: true,
        ends_with_listener: true,
    };
    run.user = Some(DEFAULT_USER.to_owned());
    let begun = app.engine.begin(run).await?;
    let run_id = begun.id();
    let (listener, events) = Listener::channel();
    let engine = app.engine.clone();
    let driven = tokio::spawn(async move { engine.drive(begun, listener).await });
    let chunks = Chunks {
        run_id,
        created: Timestamp::now().micros().div_euclid(1_000_000),
        model: agent.llm_config.model,
        events,
        driven: Some(driven),
        has_begun: false,
        _leaving: Leaving {
            engine: app.engine.clone(),
            run_id,
            ends: true,
        },
    };
    let pieces = stream::unfold(chunks, |mut chunks| async move {
        let piece = chunks.next().await?;
        Some((Ok::<_, Infallible>(piece), chunks))
    });
    Ok(sse(Answer::from_stream(pieces)))
}

/// A user's message in OpenAI's form: a text, or parts with texts and images.
async fn user_input(app: &AppState, agent_id: AgentId, message: &Value) -> Result<Input, Refusal> {
    let content = match &message["content"] {
        Value::Array(parts) => parts.iter().map(part).collect::<Value>(),
        Value::String(text) => json!(text),
        _ => json!(""),
    };
    let sent = json!({ "messages": [{ "role": "user", "content": content }] });
    let body = SendBody::read(Route::Agent, sent)?;
    let mut input = input::input(app, &body, agent_id).await?;
    if input.messages.is_empty() {
        input.messages.push(Incoming::text(Role::User, ""));
    }
    Ok(input)
}

/// A part in this API's own form.
fn part(part: &Value) -> Value {
    let Some(url) = part["image_url"]["url"].as_str() else {
        return json!({ "type": "text", "text": part["text"].as_str().unwrap_or_default() });
    };
    let inline = url
        .strip_prefix("data:")
        .and_then(|rest| rest.split_once(";base64,"));
    let source = match inline {
        Some((media_type, data)) => {
            json!({ "type": "base64", "media_type": media_type, "data": data })
        }
        None => json!({ "type": "url", "url": url }),
    };
    json!({ "type": "image", "source": source })
}

/// The chunks of an answer.
struct Chunks {
    run_id: RunId,
    /// Seconds since the epoch.
    created: i64,
    model: String,
    events: mpsc::Receiver<Event>,
    driven: Option<JoinHandle<Result<Outcome, Failure>>>,
    has_begun: bool,
    _leaving: Leaving,
}

impl Chunks {
    /// The next piece of the body; none at its end.
    async fn next(&mut self) -> Option<Bytes> {
        while let Some(event) = self.events.recv().await {
            let said = match &event {
                Event::Delta(delta) => match &delta.piece {
                    Piece::Text(text) => text.clone(),
                    _ => continue,
                },
                Event::Message(message, Shown::Not) => said(message),
                _ => continue,
            };
            if !said.is_empty() {
                return Some(self.chunk(&said));
            }
        }
        let driven = self.driven.take()?.await;
        Some(self.end(driven).into())
    }

    fn chunk(&mut self, said: &str) -> Bytes {
        let mut delta = json!({ "content": said });
        if !self.has_begun {
            self.has_begun = true;
            delta["role"] = json!("assistant");
        }
        let mut text = String::new();
        data(&mut text, &self.frame(&delta, None));
        text.into()
    }

    fn frame(&self, delta: &Value, finish_reason: Option<&str>) -> Value {
        json!({
            "id": format!("chatcmpl-{}", self.run_id),
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
            "choices": [{ "index": 0, "delta": delta, "finish_reason": finish_reason }],
        })
    }

    fn end(&self, driven: Result<Result<Outcome, Failure>, tokio::task::JoinError>) -> String {
        let mut text = String::new();
        match driven {
            Ok(Ok(outcome)) => {
                let reason = match outcome.stop_reason {
                    StopReason::MaxTokensExceeded => "length",
                    _ => "stop",
                };
                data(&mut text, &self.frame(&json!({}), Some(reason)));
            }
            Ok(Err(failure)) => {
                let fault = failure.error.fault();
                let error = json!({
                    "message": fault.message, "type": fault.error_type, "detail": fault.detail,
                });
                text.push_str("event: error\n");
                data(&mut text, &json!({ "error": error }));
            }
            Err(error) => tracing::error!(%error, run = %self.run_id, "a stream broke off"),
        }
        text.push_str(DONE);
        text
    }
}

/// What a message that came whole says.
fn said(message: &Message) -> String {
    let parts = View::default().one(message);
    let said = parts
        .iter()
        .filter(|part| part["message_type"] == "assistant_message");
    said.filter_map(|part| part["content"].as_str()).collect()
}
