//! Runs whose server died: they have failed, and somebody must say so.

use std::time::Duration;

use bulkhead_agent::Engine;
use bulkhead_domain::Timestamp;
use bulkhead_store::run::SILENCE_MAX;
use tokio_util::sync::CancellationToken;

/// How often a server says which runs it works on, and looks for those that nobody works on.
const EVERY: Duration = Duration::from_secs(SILENCE_MAX.as_secs() / 4);
/// What the metadata of such a run say.
const REASON: &str = "the server that worked on this run ended before the run did";

/// Ends the runs that were going on when their server died. A server that has its database to
/// itself does so once, before its first run; one of several until `stop`, and says meanwhile
/// which runs are its own.
pub(crate) async fn watch(engine: Engine, shared: bool, stop: CancellationToken) {
    if !shared {
        return;
    }
    stop.run_until_cancelled(async {
        loop {
            let silence = i64::try_from(SILENCE_MAX.as_micros()).unwrap_or(i64::MAX);
            let since = Timestamp::now().micros().saturating_sub(silence);
            fail(&engine, Timestamp::from_micros(since)).await;
            tokio::time::sleep(EVERY).await;
            let running = engine.running();
            if running.is_empty() {
                continue;
            }
            if let Err(error) = engine.store().keep_runs_alive(&running).await {
                tracing::warn!(%error, "running runs could not be noted as such");
            }
        }
    })
    .await;
}

/// Ends the runs that nobody has worked on since.
pub(crate) async fn fail(engine: &Engine, silent_since: Timestamp) {
    match engine
        .store()
        .fail_abandoned_runs(silent_since, REASON)
        .await
    {
        Ok(runs) if runs.is_empty() => {}
        Ok(runs) => tracing::warn!(runs = runs.len(), "abandoned runs have failed"),
        Err(error) => tracing::warn!(%error, "abandoned runs could not be ended"),
    }
}
