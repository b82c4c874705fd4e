//! Runs in the background: what they tell is kept, so that clients can leave and come back.
//!
//! A run's events are stored as they come, some at a time. Whoever follows the run, the client that
//! began it too, reads them from the database: there is one way for all, on every server that
//! shares the database, and a slow reader holds nothing in memory.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use bulkhead_agent::Begun;
use bulkhead_domain::id::RunId;
use bulkhead_store::RunEvent;
use parking_lot::Mutex;
use tokio::sync::watch;

use super::stream::{Streaming, Writer};
use crate::app::App;

/// How long events wait for others that are stored with them.
const GATHER: Duration = Duration::from_millis(10);
/// Events that are stored at once at most.
const GATHERED_MAX: usize = 200;
/// Bytes of one run's events. What comes beyond is not kept for clients that come back; the
/// messages are stored anyway, and the end is always kept.
const BYTES_MAX: usize = 32 << 20;

/// The runs whose events this process stores, and how far each is.
#[derive(Default)]
pub(crate) struct Recordings(Mutex<HashMap<RunId, watch::Receiver<u64>>>);

impl Recordings {
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
        let Some(newest) = events.last().map(|event| event.position) else {
            continue;
        };
        match app.store.append_run_events(&run_id, &events).await {
            // Readers look for what is there, and wait for what is not.
            Ok(()) => drop(stored.send_replace(newest)),
            Err(error) => tracing::warn!(run = %run_id, %error, "events of a run were not kept"),
        }
    }
    app.recordings.0.lock().remove(&run_id);
}
