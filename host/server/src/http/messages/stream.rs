//! An answer as server-sent events.
//!
//! Order and framing are the contract's: a ping that names the run, the messages as they come, why
//! the run stopped, what it cost, `[DONE]`. A run that failed says so in an event named `error`; one
//! that was cancelled just ends.

use std::{
    collections::{HashSet, VecDeque},
    time::Duration,
};

use axum::{body::Body, response::Response};
use bulkhead_agent::{Begun, Engine, Event, Failure, Listener, Outcome, Piece, Shown};
use bulkhead_domain::{StopReason, Timestamp, id::RunId};
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
/// How long a run that was given up may take to end: far longer than any that works properly.
const ENDING: Duration = Duration::from_secs(5);
/// Why the stream of a run in the background does not tell all of it.
const CANCELLED_LATE: &str =
    "The run was cancelled while its events were not taken, and had ended by then.";

/// When a stream says that it is still there, and when it gives up.
#[derive(Clone, Copy)]
struct Patience {
    /// Without an event for so long, a ping is sent.
    ping: Duration,
    /// Pings in a row before a stream in the foreground is given up.
    pings_max: u32,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            ping: PING,
            pings_max: PINGS_MAX,
        }
    }
}

/// How a stream is written.
pub(crate) struct Streaming {
    pub(crate) view: View,
    pub(crate) include_pings: bool,
    /// Whether the run goes on when the client leaves; its events are numbered then.
    pub(crate) background: bool,
}

/// One event, or several that belong together, as they are sent.
pub(crate) struct Written {
    pub(crate) text: String,
    /// Whether nothing follows.
    pub(crate) is_last: bool,
}

/// An answer of events.
pub(crate) fn sse(body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/event-stream; charset=utf-8"),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
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

/// Writes the events of a run that goes on.
pub(crate) struct Writer {
    how: Streaming,
    run_id: RunId,
    events: mpsc::Receiver<Event>,
    driven: Option<JoinHandle<Result<Outcome, Failure>>>,
    stage: Stage,
    patience: Patience,
    /// The number of the last event, in the background.
    sequence: u64,
    /// Events that were written and not taken yet.
    ready: VecDeque<String>,
    /// Calls of the answer that comes, by id, of which no piece is shown.
    held: HashSet<String>,
    leaving: Leaving,
}

impl Writer {
    /// Drives a run, and writes what it tells.
    pub(crate) fn begin(engine: &Engine, begun: Begun, how: Streaming) -> Self {
        let run_id = begun.id();
        let (listener, events) = Listener::channel();
        let leaving = Leaving {
            engine: engine.clone(),
            run_id,
            ends: !how.background,
        };
        let engine = engine.clone();
        let driven = tokio::spawn(async move { engine.drive(begun, listener).await });
        Self {
            how,
            run_id,
            events,
            driven: Some(driven),
            stage: Stage::Begin,
            patience: Patience::default(),
            sequence: 0,
            ready: VecDeque::new(),
            held: HashSet::new(),
            leaving,
        }
    }

    pub(super) fn run_id(&self) -> RunId {
        self.run_id
    }

    /// The next event; none after the last.
    pub(crate) async fn next(&mut self) -> Option<Written> {
        let going_on = |text| {
            Some(Written {
                text,
                is_last: false,
            })
        };
        loop {
            if let Some(text) = self.ready.pop_front() {
                return going_on(text);
            }
            match self.stage {
                Stage::Begin => {
                    self.stage = Stage::Events { silent: 0 };
                    if self.how.include_pings {
                        self.sequence += 1;
                        return going_on(self.ping());
                    }
                }
                Stage::Events { silent } => {
                    let Patience { ping, pings_max } = self.patience;
                    match tokio::time::timeout(ping, self.events.recv()).await {
                        Err(_) if silent >= pings_max && !self.how.background => {
                            let text = self.give_up().await;
                            self.stage = Stage::End;
                            return Some(Written {
                                text,
                                is_last: true,
                            });
                        }
                        Err(_) => {
                            self.stage = Stage::Events { silent: silent + 1 };
                            // One that comes back is given pings of its own.
                            if self.how.include_pings && !self.how.background {
                                return going_on(self.ping());
                            }
                        }
                        Ok(None) => {
                            let text = self.end().await;
                            self.stage = Stage::End;
                            return Some(Written {
                                text,
                                is_last: true,
                            });
                        }
                        Ok(Some(event)) => {
                            self.stage = Stage::Events { silent: 0 };
                            self.write(&event);
                        }
                    }
                }
                Stage::End => return None,
            }
        }
    }

    fn ping(&self) -> String {
        ping(self.run_id, self.how.background.then_some(self.sequence))
    }

    /// Writes an event.
    fn write(&mut self, event: &Event) {
        if self.holds_back(event) {
            return;
        }
        for mut message in shown(&self.how.view, event) {
            if self.how.background {
                self.sequence += 1;
                message["seq_id"] = self.sequence.into();
            }
            let mut text = String::new();
            data(&mut text, &message);
            self.ready.push_back(text);
        }
    }

    /// How a stream ends of which nothing is expected any more: its run is cancelled.
    async fn give_up(&mut self) -> String {
        self.leaving.engine.cancel_run(self.run_id);
        let ended = tokio::time::timeout(ENDING, self.end()).await;
        let end = ended.unwrap_or_else(|_| {
            let mut text = String::new();
            data(&mut text, &stop_reason(StopReason::Cancelled));
            text
        });
        // What it told last.
        while let Ok(event) = self.events.try_recv() {
            self.write(&event);
        }
        let mut text: String = self.ready.drain(..).collect();
        text.push_str(&end);
        text
    }

    /// Whether an event is a piece of a call that is shown as what it says when it is whole.
    fn holds_back(&mut self, event: &Event) -> bool {
        match event {
            Event::Delta(delta) => match &delta.piece {
                Piece::Call {
                    id,
                    name,
                    waits: false,
                } if self.how.view.speaks(name) => {
                    self.held.insert(id.clone());
                    true
                }
                Piece::Arguments { id, .. } => self.held.contains(id),
                _ => false,
            },
            Event::Message(..) => {
                self.held.clear();
                false
            }
            _ => false,
        }
    }

    /// How the stream ends.
    async fn end(&mut self) -> String {
        let mut text = String::new();
        // Awaited where it is: whoever waits for this for a while only loses nothing.
        let driven = match &mut self.driven {
            Some(driven) => driven.await,
            None => return text,
        };
        self.driven = None;
        match driven {
            Ok(Ok(outcome)) => {
                let is_cancelled = outcome.stop_reason == StopReason::Cancelled;
                if outcome.has_gap && !is_cancelled && self.how.background {
                    text.push_str(&incomplete(self.run_id, CANCELLED_LATE));
                }
                data(&mut text, &stop_reason(outcome.stop_reason));
                if !is_cancelled {
                    data(&mut text, &usage(&outcome));
                    text.push_str(DONE);
                }
            }
            Ok(Err(failure)) => failed(&mut text, &failure),
            Err(error) => tracing::error!(%error, run = %self.run_id, "a stream broke off"),
        }
        text
    }
}

/// A sign of life that names the run.
pub(crate) fn ping(run_id: RunId, sequence: Option<u64>) -> String {
    let mut text = String::new();
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
            "run_id": run_id,
        }),
    );
    text
}

/// What is no JSON at the end of a stream.
pub(crate) const DONE_WORD: &str = "[DONE]";
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
            parts.extend(view.spoken(message));
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
    text.push_str(ERROR);
    data(text, &fault.event(failure.run_id));
    if !failure.after_output {
        text.push_str(DONE);
    }
}

/// The event that says of a run's stream that it does not tell all of the run, and why.
pub(super) fn incomplete(run_id: RunId, detail: &str) -> String {
    let mut text = ERROR.to_owned();
    data(
        &mut text,
        &json!({
            "message_type": "error_message",
            "run_id": run_id,
            "error_type": "stream_incomplete",
            "message": "The stream does not tell all of the run.",
            "detail": detail,
            "seq_id": null,
        }),
    );
    text
}

/// One event. The JSON of a value has no line break.
pub(crate) fn data(text: &mut String, value: &Value) {
    text.push_str(DATA);
    text.push_str(&value.to_string());
    text.push_str("\n\n");
}

/// Before an event that is an error.
pub(crate) const ERROR: &str = "event: error\n";
/// Before the JSON of an event.
const DATA: &str = "data: ";

/// The JSON of each of some events, and the word at the end of a stream.
pub(crate) fn data_of(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.strip_prefix(DATA))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bulkhead_agent::{AgentError, Models};
    use bulkhead_domain::LlmConfig;
    use bulkhead_llm::{ChatReply, ChatRequest, Endpoint, LlmError, chat::Deltas};
    use bulkhead_store::{InstallationKey, Store};
    use futures::future::BoxFuture;

    use super::*;

    struct NoModels;

    impl Models for NoModels {
        fn resolve<'a>(&'a self, handle: &'a str) -> BoxFuture<'a, Result<LlmConfig, AgentError>> {
            Box::pin(async move { Err(AgentError::UnknownModel(handle.to_owned())) })
        }

        fn endpoint<'a>(&'a self, _: &'a LlmConfig) -> BoxFuture<'a, Result<Endpoint, AgentError>> {
            Box::pin(std::future::pending())
        }

        fn chat<'a>(
            &'a self,
            _: &'a ChatRequest,
            _: Option<Deltas>,
        ) -> BoxFuture<'a, Result<ChatReply, LlmError>> {
            Box::pin(std::future::pending())
        }
    }

    fn outcome(stop_reason: StopReason, has_gap: bool) -> Outcome {
        Outcome {
            run_id: RunId::random(),
            stop_reason,
            usage: Default::default(),
            steps: 0,
            context_tokens: None,
            messages: Vec::new(),
            logprobs: None,
            has_gap,
            background: Vec::new(),
        }
    }

    /// Writes of a run of which nothing is heard until it ends so, after a while.
    async fn told(outcome: Outcome, after: Duration, background: bool) -> Vec<String> {
        let key = InstallationKey::generate().unwrap();
        let store = Store::open("sqlite::memory:", key).await.unwrap();
        let engine = Engine::new(store, Arc::new(NoModels));
        let run_id = outcome.run_id;
        let (sender, events) = mpsc::channel(1);
        let driven = tokio::spawn(async move {
            tokio::time::sleep(after).await;
            drop(sender);
            Ok(outcome)
        });
        let mut writer = Writer {
            how: Streaming {
                view: View::default(),
                include_pings: true,
                background,
            },
            run_id,
            events,
            driven: Some(driven),
            stage: Stage::Begin,
            patience: Patience {
                ping: Duration::from_millis(1),
                pings_max: 3,
            },
            held: HashSet::new(),
            sequence: 0,
            ready: VecDeque::new(),
            leaving: Leaving {
                engine,
                run_id,
                ends: !background,
            },
        };
        let mut told = Vec::new();
        while let Some(written) = writer.next().await {
            told.push(written.text);
        }
        told
    }

    #[tokio::test]
    async fn a_stream_that_is_given_up_says_why_it_ends() {
        let cancelled = outcome(StopReason::Cancelled, false);
        let told = told(cancelled, Duration::from_millis(50), false).await;
        assert_eq!(told.len(), 5, "{told:?}");
        assert!(told[..4].iter().all(|event| event.contains("\"ping\"")));
        let mut end = String::new();
        data(&mut end, &stop_reason(StopReason::Cancelled));
        assert_eq!(told[4], end, "neither usage nor [DONE]");
    }

    #[tokio::test]
    async fn what_is_kept_of_a_run_that_ended_with_a_gap_says_so_and_nothing_else_does() {
        for (reason, has_gap, background, says_so) in [
            (StopReason::EndTurn, true, true, true),
            (StopReason::EndTurn, false, true, false),
            // Nobody listens any more.
            (StopReason::EndTurn, true, false, false),
            // That says it.
            (StopReason::Cancelled, true, true, false),
        ] {
            let told = told(outcome(reason, has_gap), Duration::ZERO, background).await;
            let end = told.last().unwrap();
            assert_eq!(end.starts_with(ERROR), says_so, "{end}");
            assert_eq!(end.contains("stream_incomplete"), says_so, "{end}");
            assert_eq!(end.matches("\"stop_reason\":").count(), 1, "{end}");
            assert_eq!(end.ends_with(DONE), reason == StopReason::EndTurn, "{end}");
        }
    }
}
