//! Runs whose server ended before they did: they have failed, and somebody must say so.
//!
//! A server that has its database to itself ends them when it starts. Where several share one, each
//! says from time to time which runs it works on; what nobody has spoken of for a while, any of them
//! ends. Long before that such a run has lost its turn in its thread. The same look finds runs of a
//! server's own that it works on no more: whose end could not be stored, because the disk was full.

use std::{sync::Arc, time::Duration};

use bulkhead_agent::AgentError;
use tokio_util::sync::CancellationToken;

use crate::{app::App, http::messages::later};

/// How often a server looks whether its runs were ended by another one that was told to cancel them.
const LOOK: Duration = Duration::from_millis(250);
/// How often a server says at least that it works on its runs where others wait for their turn.
const BEAT: Duration = Duration::from_secs(1);
/// How many times in the silence after which a run counts as abandoned its server says at least that it
/// works on it, and looks for such runs.
const BEATS: u32 = 4;
/// How much sooner it is said again what could not be said.
const AGAIN: u32 = 4;

/// Ends all runs that go on, before this server's first one: nobody else works on this database.
pub(crate) async fn end_all(app: &Arc<App>) {
    fail(app, None).await;
}

/// Says which runs are this server's own, ends those that nobody has spoken of for `silence`, and
/// cancels its own that other servers have ended, until `stop`. None of these waits for another: to
/// put the threads of many abandoned runs in order takes long, and meanwhile turns would lapse.
pub(crate) async fn watch(app: Arc<App>, silence: Duration, shared: bool, stop: CancellationToken) {
    let every = silence / BEATS;
    let beat = if shared { BEAT.min(every) } else { every };
    let mut tasks = vec![
        tokio::spawn(speak(Arc::clone(&app), beat)),
        tokio::spawn(look(Arc::clone(&app), silence, every)),
    ];
    if shared {
        tasks.push(tokio::spawn(heed(app, LOOK.min(beat))));
    }
    stop.cancelled().await;
    for task in &tasks {
        task.abort();
    }
    for task in tasks {
        if let Err(error) = task.await
            && error.is_panic()
        {
            tracing::error!(%error, "watching over runs broke off");
        }
    }
}

/// Says again and again which runs this server works on.
async fn speak(app: Arc<App>, beat: Duration) {
    loop {
        let said = is_done(
            app.engine.say_alive().await,
            "running runs could not be noted as such",
        );
        tokio::time::sleep(if said { beat } else { beat / AGAIN }).await;
    }
}

/// Cancels again and again what other servers have ended.
async fn heed(app: Arc<App>, pause: Duration) {
    loop {
        tokio::time::sleep(pause).await;
        is_done(
            app.engine.heed_others().await,
            "it is not known whether runs were cancelled",
        );
    }
}

/// Ends again and again the runs that nobody has spoken of.
async fn look(app: Arc<App>, silence: Duration, every: Duration) {
    loop {
        // First: a server that was stopped for longer than the silence ends none of its own, nor does
        // one that can't say so.
        if is_done(
            app.engine.say_alive().await,
            "abandoned runs are not looked for",
        ) {
            fail(&app, Some(silence)).await;
        }
        tokio::time::sleep(every).await;
    }
}

fn is_done(done: Result<(), AgentError>, what: &'static str) -> bool {
    if let Err(error) = &done {
        tracing::warn!(%error, "{what}");
    }
    done.is_ok()
}

/// Ends the runs that nobody has worked on for so long, all where it is none, and reports those that
/// want it.
async fn fail(app: &Arc<App>, silence: Option<Duration>) {
    let runs = match app.engine.fail_abandoned(silence).await {
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
