//! What is kept of a run in the background, read by whoever follows it: what was, then what comes.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use bulkhead_domain::{Run, RunStatus, StopReason, Timestamp, id::RunId};
use bulkhead_store::StoreError;
use serde_json::json;
use tokio::sync::watch;

use super::stream as wire;
use crate::http::AppState;

/// How often the database is asked about a run that goes on in another process.
const POLL: Duration = Duration::from_millis(250);
/// Clients give a silent stream up after a minute.
const PING: Duration = Duration::from_secs(20);
/// Events that are read at once at most.
const PAGE: u32 = 100;
/// Bytes after which what is sent at once ends: a client that reads slowly holds this in memory, and
/// one event more.
const PAGE_BYTES: usize = 256 << 10;
/// How long after a run's end the last events may be under way: the server that works on it stores
/// them some milliseconds after the end itself.
const LAST_EVENTS_MICROS: i64 = 2_000_000;

/// What readers are told where the end of a stream is missing.
const NO_END: &str = "The end of the stream was not stored: the server that worked on the run \
                      stopped, or could not store it. What the run stored is in its messages.";
/// What readers are told where the database failed.
const UNREAD: &str = "The events of the run could not be read. Ask for its stream again, after the \
                      last event that came.";

/// Reads the events of one run.
pub(crate) struct Reader {
    app: AppState,
    run_id: RunId,
    /// Of the last event that was read.
    position: u64,
    /// Events that are read at once: fewer where large ones come.
    page: u32,
    include_pings: bool,
    /// When something was sent last.
    told: Instant,
    over: bool,
}

impl Reader {
    /// Reads what comes after a position.
    pub(super) fn new(app: &AppState, run_id: RunId, after: u64, include_pings: bool) -> Self {
        Self {
            app: Arc::clone(app),
            run_id,
            position: after,
            page: PAGE,
            include_pings,
            told: Instant::now(),
            over: false,
        }
    }

    pub(super) fn run_id(&self) -> RunId {
        self.run_id
    }

    /// The next events together; none after the last.
    pub(super) async fn next(&mut self) -> Option<String> {
        while !self.over {
            // Asked first: what is stored after it is seen by the next look.
            let recording = self.app.recordings.follow(self.run_id);
            let ended = match &recording {
                Some(_) => None,
                None => self.ended().await,
            };
            let before = self.position;
            match self.stored().await {
                Ok(text) if !text.is_empty() => {
                    self.told = Instant::now();
                    return Some(text);
                }
                // What was read is not shown to this client; there may be more.
                Ok(_) if self.over || self.position > before => continue,
                Ok(_) => {}
                Err(error) => return Some(self.broken(&error)),
            }
            if let Some(ended) = ended {
                self.over = true;
                let is_told = self.app.store.has_last_event(&self.run_id).await;
                return match is_told {
                    // The client has seen it.
                    Ok(true) => None,
                    Ok(false) => Some(self.incomplete(&ended)),
                    Err(error) => Some(self.broken(&error)),
                };
            }
            self.wait(recording).await;
            if self.include_pings && self.told.elapsed() >= PING {
                self.told = Instant::now();
                return Some(wire::ping(self.run_id, Some(self.position)));
            }
        }
        None
    }

    /// The next events, as they are sent.
    async fn stored(&mut self) -> Result<String, StoreError> {
        let events = self
            .app
            .store
            .run_events(&self.run_id, self.position, self.page)
            .await?;
        self.page = self.page.saturating_mul(2).min(PAGE);
        let mut text = String::new();
        for (read, event) in (0..).zip(events) {
            if text.len() >= PAGE_BYTES {
                // The rest is read again, and not much more than fits.
                self.page = read;
                break;
            }
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

    /// What is known of the run where nothing more of it is stored: it ended a while ago, or was
    /// deleted.
    async fn ended(&self) -> Option<Option<Run>> {
        let run = match self.app.store.run(&self.run_id).await {
            Ok(Some(run)) => run,
            Ok(None) => return Some(None),
            Err(_) => return None,
        };
        let ended = run.completed_at.unwrap_or(run.created_at).micros();
        let age = Timestamp::now().micros().saturating_sub(ended);
        (run.status.is_final() && age > LAST_EVENTS_MICROS).then_some(Some(run))
    }

    /// How the stream of a run ends whose own end was not stored, because its server was killed, or
    /// is not stored any more.
    fn incomplete(&self, run: &Option<Run>) -> String {
        let known = run.as_ref().and_then(|run| run.metadata.as_ref());
        let known = known.and_then(|metadata| metadata.get("error"));
        let error = known.filter(|error| error.is_object()).cloned();
        let reason = match run {
            Some(run) => run.stop_reason,
            // It was cancelled before it was deleted.
            None => Some(StopReason::Cancelled),
        };
        let reason = reason.map_or_else(|| json!("error"), |reason| json!(reason));
        let mut text = String::new();
        wire::data(
            &mut text,
            &json!({"message_type": "stop_reason", "stop_reason": reason}),
        );
        if run
            .as_ref()
            .is_none_or(|run| run.status == RunStatus::Cancelled)
        {
            return text;
        }
        match error {
            Some(error) => {
                text.push_str(wire::ERROR);
                wire::data(&mut text, &error);
            }
            None => text.push_str(&wire::incomplete(self.run_id, NO_END)),
        }
        text.push_str(wire::DONE);
        text
    }

    /// How a stream ends that can't be read any more.
    fn broken(&mut self, error: &StoreError) -> String {
        tracing::warn!(run = %self.run_id, %error, "a stream broke off");
        self.over = true;
        wire::incomplete(self.run_id, UNREAD) + wire::DONE
    }
}

fn is_ping(event: &str) -> bool {
    event.contains("\"message_type\":\"ping\"") && event.contains("\"id\":\"ping-")
}
