//! What an agent says, as chunks of OpenAI's API. Its tools run without a word of them.

use std::{convert::Infallible, time::Duration};

use axum::{body::Body, response::Response};
use bulkhead_agent::{Begun, Engine, Event, Failure, Listener, Outcome, Piece, Shown};
use bulkhead_domain::{StopReason, Timestamp};
use bytes::Bytes;
use futures::stream;
use serde_json::{Value, json};
use tokio::{sync::mpsc, task::JoinHandle};

use crate::http::{
    holder::{self, Right},
    messages::{
        stream::{DONE, Leaving, data, sse},
        view::View,
    },
};

/// Silence after which something is sent, so that nobody between takes the connection for dead.
const SILENCE: Duration = Duration::from_secs(20);
/// What is sent then: a comment, which clients skip. OpenAI's know no pings.
const COMMENT: &str = ": ping\n\n";
/// Comments in a row after which nothing is expected to come any more: half an hour.
const COMMENTS_MAX: u32 = 90;

/// Drives a run and answers with what its agent says.
pub(super) fn respond(engine: &Engine, begun: Begun, model: String) -> Response {
    let run_id = begun.id();
    let (listener, events) = Listener::channel();
    let leaving = Leaving {
        engine: engine.clone(),
        run_id,
        ends: true,
    };
    let engine = engine.clone();
    let chunks = Chunks {
        id: format!("chatcmpl-{run_id}"),
        model,
        created: Timestamp::now().micros().div_euclid(1_000_000),
        view: View {
            types: Some(vec!["assistant_message".to_owned()]),
            ..View::default()
        },
        events,
        driven: Some(tokio::spawn(
            async move { engine.drive(begun, listener).await },
        )),
        has_begun: false,
        comments: 0,
        _leaving: leaving,
    };
    let pieces = stream::unfold(chunks, |mut chunks| async move {
        let piece = chunks.next().await?;
        Some((Ok::<_, Infallible>(piece), chunks))
    });
    let right = Right::Own(run_id.to_string());
    holder::of_right(sse(Body::from_stream(pieces)), right)
}

struct Chunks {
    id: String,
    model: String,
    /// Seconds since the epoch.
    created: i64,
    view: View,
    events: mpsc::Receiver<Event>,
    /// None when the stream has ended.
    driven: Option<JoinHandle<Result<Outcome, Failure>>>,
    /// Whether a chunk has said who speaks.
    has_begun: bool,
    comments: u32,
    _leaving: Leaving,
}

impl Chunks {
    /// The next piece of the body; none at its end.
    async fn next(&mut self) -> Option<Bytes> {
        self.driven.as_ref()?;
        loop {
            match tokio::time::timeout(SILENCE, self.events.recv()).await {
                Err(_) if self.comments >= COMMENTS_MAX => return None,
                Err(_) => {
                    self.comments += 1;
                    return Some(COMMENT.into());
                }
                Ok(Some(event)) => {
                    self.comments = 0;
                    let said = self.said(event);
                    if !said.is_empty() {
                        return Some(self.piece(&said));
                    }
                }
                Ok(None) => return Some(self.end().await),
            }
        }
    }

    /// What the agent says in an event.
    fn said(&self, event: Event) -> String {
        match event {
            Event::Delta(delta) => match delta.piece {
                Piece::Text(text) => text,
                _ => String::new(),
            },
            Event::Message(message, Shown::Not) => text(self.view.one(&message)),
            Event::Message(message, Shown::InPieces) => text(self.view.spoken(&message)),
            _ => String::new(),
        }
    }

    fn piece(&mut self, said: &str) -> Bytes {
        let delta = match self.has_begun {
            true => json!({ "content": said }),
            false => json!({ "role": "assistant", "content": said }),
        };
        self.has_begun = true;
        let mut text = String::new();
        data(&mut text, &self.chunk(&delta, None));
        text.into()
    }

    fn chunk(&self, delta: &Value, finish_reason: Option<&str>) -> Value {
        json!({
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
            "choices": [{ "index": 0, "delta": delta, "finish_reason": finish_reason }],
        })
    }

    /// How the stream ends. A run that was cancelled just ends.
    async fn end(&mut self) -> Bytes {
        let Some(driven) = self.driven.take() else {
            return Bytes::new();
        };
        let mut text = String::new();
        match driven.await {
            Ok(Ok(outcome)) => {
                if let Some(reason) = finish_reason(outcome.stop_reason) {
                    data(&mut text, &self.chunk(&json!({}), Some(reason)));
                    text.push_str(DONE);
                }
            }
            Ok(Err(failure)) => data(&mut text, &failed(&failure)),
            Err(error) => tracing::error!(%error, run = self.id, "a stream broke off"),
        }
        text.into()
    }
}

/// The texts of what is shown of a message.
fn text(parts: Vec<Value>) -> String {
    let mut text = String::new();
    for part in parts {
        match &part["content"] {
            Value::String(said) => text.push_str(said),
            Value::Array(parts) => {
                let parts = parts.iter().filter_map(|part| part["text"].as_str());
                text.extend(parts);
            }
            _ => {}
        }
    }
    text
}

/// Why an agent stopped, in OpenAI's words; none where it was stopped.
fn finish_reason(reason: StopReason) -> Option<&'static str> {
    match reason {
        StopReason::Cancelled => None,
        StopReason::MaxTokensExceeded => Some("length"),
        _ => Some("stop"),
    }
}

/// A run that failed, in the form in which OpenAI's clients look for it in a stream.
fn failed(failure: &Failure) -> Value {
    let fault = failure.error.fault();
    json!({ "error": {
        "message": format!("{} {}", fault.message, fault.detail),
        "type": fault.error_type,
        "param": null,
        "code": null,
    } })
}
