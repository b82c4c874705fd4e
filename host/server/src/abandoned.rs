//! Runs whose server ended before they did: they have failed, and somebody must say so.
//!
//! A server that has its database to itself ends them when it starts. Where several share one, each
//! says from time to time which runs it works on; what nobody has spoken of for a while, any of them
//! ends. Long before that such a run has lost its turn in its thread. The same look finds runs of a
//! server's own that it works on no more: whose end could not be stored, because the disk was full.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use bulkhead_domain::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::{app::App, http::messages::later};

/// How often a server looks whether its runs were ended by another one that was told to cancel them.
const LOOK: Duration = Duration::from_millis(500);
/// How often a server says at least that it works on its runs where others wait for their turn.
const BEAT: Duration = Duration::from_secs(1);

/// Ends all runs that go on, before this server's first one: nobody else works on this database.
pub(crate) async fn end_all(app: &Arc<App>) {
    // Whatever the clock said when somebody worked on them last.
    fail(app, Timestamp::from_micros(i64::MAX)).await;
}

/// Says which runs are this server's own, ends those that nobody has spoken of for `silence`, and
/// cancels its own that other servers have ended, until `stop`.
pub(crate) async fn watch(app: Arc<App>, silence: Duration, shared: bool, stop: CancellationToken) {
    let every = silence / 4;
    let beat = if shared { BEAT.min(every) } else { every };
    let pause = if shared { LOOK.min(beat) } else { beat };
    let mut spoken: Option<Instant> = None;
    let mut looked: Option<Instant> = None;
    stop.run_until_cancelled(async {
        loop {
            let is_due = |last: Option<Instant>, every| {
                last.is_none_or(|last: Instant| last.elapsed() >= every)
            };
            let has_spoken = is_due(spoken, beat) && keep_alive(&app).await;
            if has_spoken {
                spoken = Some(Instant::now());
            }
            // After it: a server that was stopped for longer than the silence ends none of its own,
            // nor does one that could not say so.
            if has_spoken && is_due(looked, every) {
                looked = Some(Instant::now());
                let silence = i64::try_from(silence.as_micros()).unwrap_or(i64::MAX);
                let since = Timestamp::now().micros().saturating_sub(silence);
                fail(&app, Timestamp::from_micros(since)).await;
            }
            tokio::time::sleep(pause).await;
            if shared {
                heed_others(&app).await;
            }
        }
    })
    .await;
}

/// Says which runs this server works on, and gives whether that could be said.
async fn keep_alive(app: &App) -> bool {
    let running = app.engine.running();
    if running.is_empty() {
        return true;
    }
    let said = app.store.keep_runs_alive(&running).await;
    if let Err(error) = &said {
        tracing::warn!(%error, "running runs could not be noted as such");
    }
    said.is_ok()
}

/// Cancels the runs that go on here and were stopped in the database.
async fn heed_others(app: &App) {
    let running = app.engine.running();
    if running.is_empty() {
        return;
    }
    match app.store.stopped_runs(&running).await {
        Ok(ended) => {
            for run_id in ended {
                app.engine.cancel_run(run_id);
            }
        }
        Err(error) => tracing::warn!(%error, "it is not known whether runs were cancelled"),
    }
}

/// Ends the runs that nobody has worked on since, and reports those that want it.
async fn fail(app: &Arc<App>, silent_since: Timestamp) {
    let runs = match app.engine.fail_abandoned(silent_since).await {
        Ok(runs) => runs,
        Err(error) => return tracing::warn!(%error, "abandoned runs could not be ended"),
    };
    if !runs.is_empty() {
        tracing::warn!(runs = runs.len(), "abandoned runs have failed");
    }
    for run in runs {
        let Some(url) = run.callback_url else {
            continue;
        };
        let app = Arc::clone(app);
        app.tasks.clone().spawn(async move {
            later::report(&app, run.id, &url).await;
        });
    }
}
