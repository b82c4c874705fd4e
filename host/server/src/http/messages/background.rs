//! Runs in the background: what they tell is kept, so that clients can leave and come back.
//!
//! A run's events are stored as they come, some at a time. Whoever follows the run, the client that
//! began it too, reads them from the database: there is one way for all, on every server that
//! shares the database, and a slow reader holds little in memory.
//!
//! What is kept has no gap: after the first event that can't be kept only the end is, and says so.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use bulkhead_agent::Begun;
use bulkhead_domain::id::RunId;
use bulkhead_store::{RunEvent, Store, StoreError};
use parking_lot::Mutex;
use tokio::sync::watch;

use super::stream::{self as wire, Streaming, Writer, Written};
use crate::app::App;

/// How long events wait for others that are stored with them.
const GATHER: Duration = Duration::from_millis(10);
/// Events that are stored at once at most.
const GATHERED_MAX: usize = 200;
/// Bytes of one run's events. What comes beyond is not kept; the messages are stored anyway.
const BYTES_MAX: usize = 32 << 20;
/// How long each further try to store events waits, and soon the run with it: some seconds in all. A
/// database that is away for longer fails the run's steps as well.
const TRIES: [Duration; 3] = [
    Duration::from_millis(100),
    Duration::from_millis(500),
    Duration::from_secs(2),
];

/// What readers are told of what is missing before the end.
const NOT_KEPT: &str = "More was told than is kept, or it could not be stored. What the run stored \
                        is in its messages.";

/// How far the events of each run are that this process stores.
type Progress = HashMap<RunId, watch::Receiver<u64>>;

/// The runs whose events this process stores.
#[derive(Default)]
pub(crate) struct Recordings(Arc<Mutex<Progress>>);

impl Recordings {
    /// Notes a run whose events this process is about to store.
    pub(crate) fn begin(&self, run_id: RunId) -> Recording {
        let (stored, progress) = watch::channel(0);
        self.0.lock().insert(run_id, progress);
        Recording {
            run_id,
            stored,
            recordings: Arc::clone(&self.0),
            position: 0,
            bytes: 0,
            is_whole: true,
        }
    }

    /// How far a run is whose events this process stores.
    pub(super) fn follow(&self, run_id: RunId) -> Option<watch::Receiver<u64>> {
        self.0.lock().get(&run_id).cloned()
    }

    /// Waits until all is stored that these runs told, which have ended.
    pub(crate) async fn finished(&self, runs: &[RunId]) {
        for run_id in runs {
            if let Some(mut progress) = self.follow(*run_id) {
                // An error says that nothing is stored any more.
                while progress.changed().await.is_ok() {}
            }
        }
    }
}

/// One run whose events are stored. Dropping it says that no more are, however that came.
pub(crate) struct Recording {
    run_id: RunId,
    /// The position of the newest event that is stored.
    stored: watch::Sender<u64>,
    recordings: Arc<Mutex<Progress>>,
    /// Of the last event, stored or not.
    position: u64,
    /// Of all events so far.
    bytes: usize,
    /// Whether all events before were kept.
    is_whole: bool,
}

impl Drop for Recording {
    fn drop(&mut self) {
        self.recordings.lock().remove(&self.run_id);
    }
}

/// Drives a run and keeps what it tells. Ends when the run has ended and all is stored.
pub(crate) async fn record(app: &App, begun: Begun, how: Streaming, mut recording: Recording) {
    let mut writer = Writer::begin(&app.engine, begun, how);
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
            ended = written.is_last;
            events.extend(recording.keep(written));
            // What is alone is shown at once.
            if ended || recording.position == 1 {
                break;
            }
        }
        recording.store(&app.store, &events).await;
    }
}

impl Recording {
    /// What of an event is kept: all, or of the end alone where something before it was not.
    fn keep(&mut self, written: Written) -> Option<RunEvent> {
        let Written { text, is_last } = written;
        self.position += 1;
        self.bytes += text.len();
        self.is_whole &= is_last || self.bytes <= BYTES_MAX;
        let data = match (self.is_whole, is_last) {
            (true, _) => text,
            (false, true) => wire::incomplete(self.run_id, NOT_KEPT) + &text,
            (false, false) => return None,
        };
        Some(RunEvent {
            position: self.position,
            is_last,
            data,
        })
    }

    /// Stores events, and tells readers. Where that fails again and again, they are not kept.
    async fn store(&mut self, store: &Store, events: &[RunEvent]) {
        let Some(newest) = events.last().map(|event| event.position) else {
            return;
        };
        let mut pauses = TRIES.into_iter();
        loop {
            let Err(error) = store.append_run_events(&self.run_id, events).await else {
                // Readers look for what is there, and wait for what is not.
                self.stored.send_replace(newest);
                return;
            };
            let is_deleted = matches!(error, StoreError::NotFound { .. });
            let Some(pause) = pauses.next().filter(|_| !is_deleted) else {
                self.is_whole = false;
                tracing::warn!(run = %self.run_id, %error, "events of a run were not kept");
                return;
            };
            tokio::time::sleep(pause).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: String, is_last: bool) -> Written {
        Written { text, is_last }
    }

    #[test]
    fn after_what_is_too_much_only_the_end_is_kept_and_says_so() {
        let recordings = Recordings::default();
        let mut recording = recordings.begin(RunId::random());
        let half = || written("a".repeat(BYTES_MAX / 2), false);
        assert_eq!(recording.keep(half()).map(|event| event.position), Some(1));
        assert_eq!(recording.keep(half()).map(|event| event.position), Some(2));
        for _ in 0..2 {
            assert_eq!(recording.keep(written("b".to_owned(), false)), None);
        }
        let last = recording.keep(written("the end".to_owned(), true));
        let last = last.expect("the end is always kept");
        assert!(last.is_last && last.position == 5);
        assert!(last.data.starts_with("event: error\n"), "{}", last.data);
        assert!(last.data.contains("stream_incomplete") && last.data.ends_with("the end"));
    }

    #[test]
    fn the_end_of_what_is_whole_is_kept_as_it_is() {
        let recordings = Recordings::default();
        let mut recording = recordings.begin(RunId::random());
        recording.keep(written("a".repeat(BYTES_MAX), false));
        let last = recording.keep(written("the end".to_owned(), true));
        assert_eq!(last.map(|event| event.data).as_deref(), Some("the end"));
    }

    #[tokio::test]
    async fn whoever_waits_for_a_recording_that_breaks_off_learns_of_it() {
        let recordings = Recordings::default();
        let run_id = RunId::random();
        let recording = recordings.begin(run_id);
        let broken = tokio::spawn(async move {
            let _recording = recording;
            panic!("a defect");
        });
        recordings.finished(&[run_id]).await;
        assert!(broken.await.is_err() && recordings.follow(run_id).is_none());
    }
}
