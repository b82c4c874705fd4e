//! What is kept of a run in the background, read by whoever follows it: what was, then what comes.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use bulkhead_domain::{Run, RunStatus, StopReason, Timestamp, id::RunId};
use bulkhead_store::StoreError;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::stream as wire;
use crate::http::AppState;

/// How often the database is asked about a run that goes on in another process.
const POLL: Duration = Duration::from_millis(250);
/// Clients give a silent stream up after a minute.
const PING: Duration = Duration::from_secs(20);
/// Events that are read at once.
const PAGE: u32 = 100;
/// How long after a run's end the last events may be under way: the server that works on it stores
/// them some milliseconds after the end itself.
const LAST_EVENTS_MICROS: i64 = 2_000_000;

/// Reads the events of one run.
pub(crate) struct Reader {
    app: AppState,
    run_id: RunId,
    /// Of the last event that was read.
    position: u64,
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
            match self.stored().await {
                Ok(text) if !text.is_empty() => {
                    self.told = Instant::now();
                    return Some(text);
                }
                Ok(_) if self.over => return None,
                Ok(_) => {}
                Err(error) => {
                    tracing::warn!(run = %self.run_id, %error, "a stream broke off");
                    return None;
                }
            }
            if let Some(ended) = ended {
                self.over = true;
                return Some(self.incomplete(&ended));
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
            .run_events(&self.run_id, self.position, PAGE)
            .await?;
        let mut text = String::new();
        for event in events {
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
        text.push_str("event: error\n");
        wire::data(&mut text, &error.unwrap_or_else(|| self.unknown_end()));
        text.push_str(wire::DONE);
        text
    }

    fn unknown_end(&self) -> Value {
        json!({
            "message_type": "error_message",
            "run_id": self.run_id,
            "error_type": "stream_incomplete",
            "message": "The stream ended without saying how the run ended.",
            "detail": "The server that worked on the run stopped. What the run stored is in its messages.",
            "seq_id": null,
        })
    }
}

fn is_ping(event: &str) -> bool {
    event.contains("\"message_type\":\"ping\"") && event.contains("\"id\":\"ping-")
}
