//! What runs in the background told, kept for clients that come back.

use bulkhead_domain::{Timestamp, id::RunId};

use super::row::missing;
use crate::{
    PAGE_MAX, Result, Store, StoreError, compiled_here,
    sql::{Durability, Statement},
};

/// Events that are deleted in one transaction.
const PRUNED_AT_ONCE: i64 = 5_000;

/// One event of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEvent {
    /// Its place, from 1. That of a numbered event is its number.
    pub position: u64,
    /// Whether it is how the stream ends.
    pub is_last: bool,
    /// The event as it is sent.
    pub data: String,
}

impl Store {
    /// Adds events of a run, in order. What is there at a position stays: whoever does not know
    /// whether events were stored adds them again.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] where the run was deleted.
    #[compiled_here]
    pub async fn append_run_events(&self, run_id: &RunId, events: &[RunEvent]) -> Result<()> {
        let now = Timestamp::now();
        for events in events.chunks(PAGE_MAX as usize) {
            let mut transaction = self.database().begin(Durability::Process).await?;
            let mut run = Statement::new("SELECT 1 FROM runs WHERE id = ");
            run.push_value(run_id.to_string());
            run.push(transaction.for_reference());
            if transaction.optional(run).await?.is_none() {
                return Err(missing(run_id));
            }
            let mut insert = Statement::new(
                "INSERT INTO run_events (run_id, position, is_last, created_at, data) VALUES ",
            );
            for (index, event) in events.iter().enumerate() {
                insert.push_row(
                    index == 0,
                    [
                        run_id.to_string().into(),
                        number(event.position).into(),
                        event.is_last.into(),
                        now.into(),
                        event.data.as_str().into(),
                    ],
                );
            }
            insert.push(" ON CONFLICT (run_id, position) DO NOTHING");
            transaction.defer(insert).await?;
            transaction.commit().await?;
        }
        Ok(())
    }

    /// The events of a run after a position, in order; `limit` of them at most.
    #[compiled_here]
    pub async fn run_events(
        &self,
        run_id: &RunId,
        after: u64,
        limit: u32,
    ) -> Result<Vec<RunEvent>> {
        let query = "SELECT position, is_last, data FROM run_events
            WHERE run_id = $1 AND position > $2 ORDER BY position LIMIT $3";
        let query = Statement::new(query)
            .bind(run_id.to_string())
            .bind(number(after))
            .bind(i64::from(limit.clamp(1, PAGE_MAX)));
        let rows = self.database().all(query).await?;
        rows.iter()
            .map(|row| {
                Ok::<_, StoreError>(RunEvent {
                    position: row.unsigned(0)?,
                    is_last: row.int(1)? != 0,
                    data: row.text(2)?,
                })
            })
            .collect()
    }

    /// Whether how the stream of a run ends is stored.
    #[compiled_here]
    pub async fn has_last_event(&self, run_id: &RunId) -> Result<bool> {
        let query =
            "SELECT is_last FROM run_events WHERE run_id = $1 ORDER BY position DESC LIMIT 1";
        let query = Statement::new(query).bind(run_id.to_string());
        let newest = self.database().optional(query).await?;
        newest.map_or(Ok(false), |row| Ok(row.int(0)? != 0))
    }

    /// Deletes events that are older, of runs that have ended, and gives how many. Those of a run that
    /// goes on are read from its beginning as long as it does.
    #[compiled_here]
    pub async fn prune_run_events(&self, before: Timestamp) -> Result<u64> {
        let mut pruned = 0;
        loop {
            let mut transaction = self.database().begin(Durability::Process).await?;
            let delete = "DELETE FROM run_events WHERE (run_id, position) IN (
                SELECT run_id, position FROM run_events WHERE created_at < $1
                AND run_id NOT IN (SELECT id FROM runs WHERE status IN ('created', 'running'))
                LIMIT $2)";
            let delete = Statement::new(delete).bind(before).bind(PRUNED_AT_ONCE);
            let deleted = transaction.execute(delete).await?;
            transaction.commit().await?;
            pruned += deleted;
            if deleted < PRUNED_AT_ONCE.unsigned_abs() {
                return Ok(pruned);
            }
        }
    }
}

fn number(position: u64) -> i64 {
    i64::try_from(position).unwrap_or(i64::MAX)
}
