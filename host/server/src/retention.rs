//! How long receipts are kept, the events of runs in the background, and sign-ins that ended.

use std::time::Duration;

use bulkhead_domain::Timestamp;
use bulkhead_store::Store;
use tokio_util::sync::CancellationToken;

use crate::http::runs::stream::KEPT_MICROS;

/// Before the first look: the requests that wait for a start come first.
const FIRST: Duration = Duration::from_secs(1);
/// From one look to the next. A look that finds nothing reads one index.
const EVERY: Duration = Duration::from_secs(600);
/// How long it is kept that somebody was signed in, after the end of it.
const SESSIONS_DAYS: u64 = 30;
const DAY_MICROS: i64 = 86_400_000_000;

/// Deletes receipts that are older than `days` or beyond the newest `max`, events that nobody can
/// ask for any more, and sign-ins that ended long ago, until `stop`. What one look has not finished
/// then, the next start's first one does.
pub(crate) async fn prune(store: Store, days: u64, max: u64, stop: CancellationToken) {
    stop.run_until_cancelled(async {
        tokio::time::sleep(FIRST).await;
        loop {
            match store.prune_receipts(Some(days_ago(days)), Some(max)).await {
                Ok(0) => {}
                Ok(receipts) => tracing::info!(receipts, "old receipts were deleted"),
                Err(error) => tracing::warn!(%error, "old receipts could not be deleted"),
            }
            let expired = Timestamp::now().micros().saturating_sub(KEPT_MICROS);
            match store
                .prune_run_events(Timestamp::from_micros(expired))
                .await
            {
                Ok(0) => {}
                Ok(events) => tracing::info!(events, "old events of runs were deleted"),
                Err(error) => tracing::warn!(%error, "old events of runs could not be deleted"),
            }
            let ended = days_ago(SESSIONS_DAYS);
            match store.forget_sessions(ended).await {
                Ok(0) => {}
                Ok(sessions) => tracing::info!(sessions, "old sign-ins were deleted"),
                Err(error) => tracing::warn!(%error, "old sign-ins could not be deleted"),
            }
            tokio::time::sleep(EVERY).await;
        }
    })
    .await;
}

fn days_ago(days: u64) -> Timestamp {
    let age = i64::try_from(days)
        .unwrap_or(i64::MAX)
        .saturating_mul(DAY_MICROS);
    Timestamp::from_micros(Timestamp::now().micros().saturating_sub(age))
}
