//! An answer as server-sent events.
//!
//! Order and framing are the contract's: a ping that names the run, the messages as they come, why
//! the run stopped, what it cost, `[DONE]`. A run that failed says so in an event named `error`; one
//! that was cancelled just ends.

use std::{convert::Infallible, time::Duration};

use axum::{
    body::Body,
    response::Response,
};
use bulkhead_agent::{Begun, Engine, Event, Failure, Listener, Outcome, Shown};
use bulkhead_domain::{StopReason, Timestamp, id::RunId};
use bytes::Bytes;
use futures::stream;
use http::{HeaderValue, header};
use serde_json::{Value, json};
use tokio::{sync::mpsc, task::JoinHandle};
use uuid::Uuid;

use super::{
    answer::{stop_reason, usage},
    delta,
    view::{View, date},
};

/// Clients give a silent stream up after a minute, and some proxies sooner.
const PING: Duration = Duration::from_secs(20);
/// Pings in a row after which nothing is expected to come any more: half an hour.
const PINGS_MAX: u32 = 90;

/// How a stream is written.
pub(crate) struct Streaming {
    pub(crate) view: View,
    pub(crate) include_pings: bool,
    /// Whether the run goes on when the client leaves; its events are numbered then.
    pub(crate) background: bool,
}

/// Drives a run and answers with its events.
pub(crate) fn respond(engine: &Engine, begun: Begun, how: Streaming) -> Response {
    let run_id = begun.id();
    let (listener, events) = Listener::channel();
    let leaving = Leaving {
        engine: engine.clone(),
        run_id,
        ends: !how.background,
    };
    let engine = engine.clone();
    let driven = tokio::spawn(async move { engine.drive(begun, listener).await });
    let writer = Writer {
        how,
        run_id,
        events,
        driven: Some(driven),
        stage: Stage::Begin,
        sequence: 0,
        _leaving: leaving,
    };
    let pieces = stream::unfold(writer, |mut writer| async move {
        let piece = writer.next().await?;
        Some((Ok::<_, Infallible>(piece), writer))
    });
    sse(Body::from_stream(pieces))
}

/// An answer of events.
pub(crate) fn sse(body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/event-stream; charset=utf-8"),
    );
    headers.insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("no-cache"),
    );
    // Proxies of one kind hold events back unless they are told not to.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// Cancels a run whose client leaves before its end. Of a run that has ended nothing is left to
/// cancel.
pub(crate) struct Leaving {
    pub(crate) engine: Engine,
    pub(crate) run_id: RunId,
    pub(crate) ends: bool,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        if self.ends {
            self.engine.cancel_run(self.run_id);
        }
    }
}

enum Stage {
    Begin,
    Events { silent: u32 },
    End,
}

struct Writer {
    how: Streaming,
    run_id: RunId,
    events: mpsc::Receiver<Event>,
    driven: Option<JoinHandle<Result<Outcome, Failure>>>,
    stage: Stage,
    /// The number of the last event, in the background.
    sequence: u64,
    _leaving: Leaving,
}

impl Writer {
    /// The next piece of the body; none at its end.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            match self.stage {
                Stage::Begin => {
                    self.stage = Stage::Events { silent: 0 };
                    if self.how.include_pings {
                        self.sequence += 1;
                        return Some(self.ping());
                    }
                }
                Stage::Events { silent } => {
                    match tokio::time::timeout(PING, self.events.recv()).await {
                        Err(_) if silent >= PINGS_MAX => return None,
                        Err(_) => {
                            self.stage = Stage::Events { silent: silent + 1 };
                            if self.how.include_pings {
                                return Some(self.ping());
                            }
                        }
                        Ok(None) => {
                            self.stage = Stage::End;
                            return Some(self.end().await);
                        }
                        Ok(Some(event)) => {
                            self.stage = Stage::Events { silent: 0 };
                            let written = self.written(&event);
                            if !written.is_empty() {
                                return Some(written.into());
                            }
                        }
                    }
                }
                Stage::End => return None,
            }
        }
    }

    fn ping(&self) -> Bytes {
        let mut text = String::new();
        let sequence = self.how.background.then_some(self.sequence);
        data(
            &mut text,
            &json!({
                "id": format!("ping-{}", Uuid::new_v4()),
                "date": date(Timestamp::now()),
                "name": null,
                "message_type": "ping",
                "otid": null,
                "sender_id": null,
                "step_id": null,
                "is_err": null,
                "seq_id": sequence,
                "run_id": self.run_id,
            }),
        );
        text.into()
    }

    /// What is written of an event.
    fn written(&mut self, event: &Event) -> String {
        let mut text = String::new();
        for mut message in shown(&self.how.view, event) {
            if self.how.background {
                self.sequence += 1;
                message["seq_id"] = self.sequence.into();
            }
            data(&mut text, &message);
        }
        text
    }

    /// How the stream ends.
    async fn end(&mut self) -> Bytes {
        let mut text = String::new();
        let driven = match self.driven.take() {
            Some(driven) => driven.await,
            None => return Bytes::new(),
        };
        match driven {
            Ok(Ok(outcome)) => {
                data(&mut text, &stop_reason(outcome.stop_reason));
                if outcome.stop_reason != StopReason::Cancelled {
                    data(&mut text, &usage(&outcome));
                    text.push_str(DONE);
                }
            }
            Ok(Err(failure)) => failed(&mut text, &failure),
            Err(error) => tracing::error!(%error, run = %self.run_id, "a stream broke off"),
        }
        text.into()
    }
}

/// The end of a stream.
pub(crate) const DONE: &str = "data: [DONE]\n\n";

/// The messages that a client sees of an event.
fn shown(view: &View, event: &Event) -> Vec<Value> {
    match event {
        Event::Started(_) => Vec::new(),
        Event::Delta(piece) => {
            let event = delta::event(piece);
            let kind = event["message_type"].as_str().unwrap_or_default();
            match view.shows(kind) {
                true => vec![event],
                false => Vec::new(),
            }
        }
        Event::Message(message, Shown::Not) => view.one(message),
        // What came in pieces was seen; there are none of what only the provider can read.
        Event::Message(message, Shown::InPieces) => {
            let mut parts = view.one(message);
            parts.retain(|part| part["message_type"] == "hidden_reasoning_message");
            parts
        }
        Event::Compacting {
            trigger,
            context_tokens,
            context_window,
            run_id,
            step_id,
        } => {
            if !view.summaries || !view.shows("event_message") {
                return Vec::new();
            }
            vec![json!({
                "id": Uuid::new_v4(),
                "date": date(Timestamp::now()),
                "name": null,
                "message_type": "event_message",
                "otid": null,
                "sender_id": null,
                "step_id": step_id,
                "is_err": null,
                "seq_id": null,
                "run_id": run_id,
                "event_type": "compaction",
                "event_data": {
                    "trigger": trigger,
                    "context_token_estimate": context_tokens,
                    "context_window": context_window,
                },
            })]
        }
        Event::Compacted(message, _) => view.one(message),
    }
}

/// A run that failed: before it said anything a stream ends as any other, afterwards it breaks off.
fn failed(text: &mut String, failure: &Failure) {
    let mut fault = failure.error.fault();
    data(text, &stop_reason(fault.stop_reason));
    if failure.after_output {
        fault.error_type = "internal_error";
        "An error occurred during agent execution.".clone_into(&mut fault.message);
    }
    text.push_str("event: error\n");
    data(text, &fault.event(failure.run_id));
    if !failure.after_output {
        text.push_str(DONE);
    }
}

/// One event. The JSON of a value has no line break.
pub(crate) fn data(text: &mut String, value: &Value) {
    text.push_str("data: ");
    text.push_str(&value.to_string());
    text.push_str("\n\n");
}
