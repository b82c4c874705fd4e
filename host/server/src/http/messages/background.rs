//! Runs in the background: what they tell is kept, so that clients can leave and come back.
//!
//! A run's events are stored as they come, some at a time. Whoever follows the run, the client that
//! began it too, reads them from the database: there is one way for all, on every server that
//! shares the database, and a slow reader holds nothing in memory.

use std::{
    collections::HashMap,
    convert::Infallible,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{body::Body, response::Response};
use bulkhead_agent::Begun;
use bulkhead_domain::id::RunId;
use bulkhead_store::{RunEvent, Store};
use bytes::Bytes;
use futures::stream;
use parking_lot::Mutex;
use serde_json::json;
use tokio::sync::watch;

use super::stream::{self as wire, Streaming, Writer};
use crate::{app::App, http::AppState};

/// How long events wait for others that are stored with them.
const GATHER: Duration = Duration::from_millis(10);
/// Events that are stored at once at most.
const GATHERED_MAX: usize = 200;
/// Bytes of one run's events. What comes beyond is not kept for clients that come back; the
/// messages are stored anyway, and the end is always kept.
const BYTES_MAX: usize = 32 << 20;
/// How often the database is asked about a run that goes on in another process.
const POLL: Duration = Duration::from_millis(250);
/// Clients give a silent stream up after a minute.
const PING: Duration = Duration::from_secs(20);
/// Events that are read at once.
const PAGE: u32 = 100;

/// The runs whose events this process stores, and how far each is.
#[derive(Default)]
pub(crate) struct Recordings(Mutex<HashMap<RunId, watch::Receiver<u64>>>);

impl Recordings {
    fn follow(&self, run_id: RunId) -> Option<watch::Receiver<u64>> {
        self.0.lock().get(&run_id).cloned()
    }
}

/// Drives a run and keeps what it tells. Ends when the run has ended and all is stored.
pub(crate) async fn record(app: &App, begun: Begun, how: Streaming) {
    let run_id = begun.id();
    let (stored, progress) = watch::channel(0);
    app.recordings.0.lock().insert(run_id, progress);
    let mut writer = Writer::begin(&app.engine, begun, how);
    let mut position = 0;
    let mut bytes = 0;
    let mut ended = false;
    while !ended {
        let mut events = Vec::new();
        let until = Instant::now() + GATHER;
        while events.len() < GATHERED_MAX {
            let next = match events.is_empty() {
                // The first is awaited for as long as it takes.
                true => Ok(writer.next().await),
                false => tokio::time::timeout_at(until.into(), writer.next()).await,
            };
            let Ok(next) = next else { break };
            let Some(written) = next else {
                ended = true;
                break;
            };
            position += 1;
            bytes += written.text.len();
            ended = written.is_last;
            if bytes <= BYTES_MAX || written.is_last {
                events.push(RunEvent {
                    position,
                    is_last: written.is_last,
                    data: written.text,
                });
            }
            // What is alone is shown at once.
            if ended || position == 1 {
                break;
            }
        }
        if let Err(error) = app.store.append_run_events(&run_id, &events).await {
            tracing::warn!(run = %run_id, %error, "events of a run were not kept");
        }
        stored.send_replace(position);
    }
    app.recordings.0.lock().remove(&run_id);
}

/// Begins a run in the background and answers with its events.
pub(crate) fn respond(app: &AppState, begun: Begun, how: Streaming) -> Response {
    let run_id = begun.id();
    let include_pings = how.include_pings;
    let recorder = Arc::clone(app);
    app.tasks
        .spawn(async move { record(&recorder, begun, how).await });
    follow(app, run_id, 0, include_pings)
}

/// Answers with the events of a run after a position: those that are stored, then those that come.
pub(crate) fn follow(app: &AppState, run_id: RunId, after: u64, include_pings: bool) -> Response {
    let reader = Reader {
        store: app.store.clone(),
        app: Arc::clone(app),
        run_id,
        position: after,
        include_pings,
        told: Instant::now(),
        over: false,
    };
    let pieces = stream::unfold(reader, |mut reader| async move {
        let piece = reader.next().await?;
        Some((Ok::<_, Infallible>(piece), reader))
    });
    wire::sse(Body::from_stream(pieces))
}

struct Reader {
    store: Store,
    app: AppState,
    run_id: RunId,
    position: u64,
    include_pings: bool,
    /// When something was sent last.
    told: Instant,
    over: bool,
}

impl Reader {
    async fn next(&mut self) -> Option<Bytes> {
        while !self.over {
            // Asked first: what is stored after it is seen by the next look.
            let recording = self.app.recordings.follow(self.run_id);
            let has_ended = match &recording {
                Some(_) => false,
                None => self.has_ended().await,
            };
            match self.stored().await {
                Ok(text) if !text.is_empty() => {
                    self.told = Instant::now();
                    return Some(text.into());
                }
                Ok(_) if self.over => return None,
                Ok(_) if has_ended => {
                    self.over = true;
                    return Some(self.incomplete().into());
                }
                Ok(_) => {}
                Err(error) => {
                    tracing::warn!(run = %self.run_id, %error, "a stream broke off");
                    return None;
                }
            }
            self.wait(recording).await;
            if self.include_pings && self.told.elapsed() >= PING {
                self.told = Instant::now();
                return Some(wire::ping(self.run_id, Some(self.position)).into());
            }
        }
        None
    }

    /// The next events, as they are sent.
    async fn stored(&mut self) -> Result<String, bulkhead_store::StoreError> {
        let events = self.store.run_events(&self.run_id, self.position, PAGE);
        let mut text = String::new();
        for event in events.await? {
            self.position = event.position;
            self.over |= event.is_last;
            if self.include_pings || !is_ping(&event.data) {
                text.push_str(&event.data);
            }
        }
        Ok(text)
    }

    /// Waits until there is more, or for a while.
    async fn wait(&self, recording: Option<watch::Receiver<u64>>) {
        let Some(mut recording) = recording else {
            return tokio::time::sleep(POLL).await;
        };
        let more = recording.wait_for(|stored| *stored > self.position);
        // An error says that the recording is over: the next look sees all of it.
        let _ = tokio::time::timeout(PING, more).await;
    }

    async fn has_ended(&self) -> bool {
        match self.store.run(&self.run_id).await {
            Ok(run) => run.is_none_or(|run| run.status.is_final()),
            Err(_) => false,
        }
    }

    /// How the stream of a run ends whose own end was not stored: its server was killed.
    fn incomplete(&self) -> String {
        let mut text = String::new();
        wire::data(
            &mut text,
            &json!({"message_type": "stop_reason", "stop_reason": "error"}),
        );
        text.push_str("event: error\n");
        wire::data(
            &mut text,
            &json!({
                "message_type": "error_message",
                "run_id": self.run_id,
                "error_type": "stream_incomplete",
                "message": "The stream ended without saying how the run ended.",
                "detail": "The server that worked on the run stopped. What the run stored is in its messages.",
                "seq_id": null,
            }),
        );
        text.push_str(wire::DONE);
        text
    }
}

fn is_ping(event: &str) -> bool {
    event.contains("\"message_type\":\"ping\"") && event.contains("\"id\":\"ping-")
}
