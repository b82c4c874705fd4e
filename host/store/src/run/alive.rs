//! Runs whose server died. Each server says from time to time which runs it works on; a run that
//! nobody works on has failed.

use std::time::Duration;

use bulkhead_domain::{
    StopReason, Timestamp,
    id::{AgentId, RunId},
};

use super::{RunUpdate, filter::ACTIVE, row, update::apply_update};
use crate::{
    Paging, Result, Store,
    message::lists,
    paging::Listing,
    sql::{Durability, Statement},
    step::write_stop_reason,
};

/// After this long without a word a run counts as abandoned where several servers share a
/// database. Whoever works on one speaks at least four times as often.
pub const SILENCE_MAX: Duration = Duration::from_secs(120);

const LISTING: Listing = Listing {
    what: "run",
    table: "runs",
    columns: "id, agent_id",
    key: "seq",
    bytes: "1",
};

impl Store {
    /// Says that a server works on these runs now.
    pub async fn keep_runs_alive(&self, ids: &[RunId]) -> Result<()> {
        let mut transaction = self.database().begin(Durability::Process).await?;
        let now = Timestamp::now();
        for list in lists(ids) {
            let mut update = Statement::new("UPDATE runs SET alive_at = ");
            update
                .push_value(now)
                .push(" WHERE id IN (")
                .push_list(list);
            update.push(ACTIVE);
            transaction.execute(update).await?;
        }
        transaction.commit().await
    }

    /// Ends the runs that nobody has worked on since: they failed, `error` stands in their
    /// metadata, and their agents stopped for [`StopReason::Error`]. Gives these runs.
    ///
    /// A server that has its database to itself says the present when it starts; one of several
    /// says the present less [`SILENCE_MAX`], and asks from time to time.
    pub async fn fail_abandoned_runs(
        &self,
        silent_since: Timestamp,
        error: &str,
    ) -> Result<Vec<RunId>> {
        let mut failed = Vec::new();
        loop {
            let silent = |query: &mut Statement| {
                query.push(ACTIVE).push(" AND alive_at < ");
                query.push_value(silent_since);
            };
            let rows = LISTING.page(self, &Paging::oldest(), silent).await?;
            let before = failed.len();
            for row in &rows {
                let id = row.parsed(0, "run id")?;
                let agent_id = row.parsed(1, "agent of a run")?;
                if self
                    .fail_if_silent(id, &agent_id, silent_since, error)
                    .await?
                {
                    failed.push(id);
                }
            }
            // Where none of a page was silent any more, others have ended them.
            if failed.len() == before {
                return Ok(failed);
            }
        }
    }

    async fn fail_if_silent(
        &self,
        id: RunId,
        agent_id: &AgentId,
        silent_since: Timestamp,
        error: &str,
    ) -> Result<bool> {
        let now = Timestamp::now();
        let mut transaction = self.database().begin(Durability::Process).await?;
        // The agent first, as the commit of a step does.
        let mut agent = Statement::new("SELECT 1 FROM agents WHERE id = ");
        agent.push_value(agent_id.to_string());
        agent.push(transaction.for_update());
        transaction.all(agent).await?;
        let mut silent = Statement::new("SELECT 1 FROM runs WHERE id = ");
        silent.push_value(id.to_string()).push(ACTIVE);
        silent.push(" AND alive_at < ").push_value(silent_since);
        silent.push(transaction.for_update());
        if transaction.optional(silent).await?.is_none() {
            return Ok(false);
        }
        let mut update = RunUpdate::ended(id, StopReason::Error);
        update.metadata.insert("error".to_owned(), error.into());
        let run = row::lock(&mut transaction, &id).await?;
        let taken = now.micros().saturating_sub(run.created_at.micros());
        update.total_duration_ns = Some(taken.max(0).saturating_mul(1000));
        apply_update(&mut transaction, agent_id, &update, now).await?;
        write_stop_reason(&mut transaction, agent_id, StopReason::Error, now).await?;
        transaction.commit().await?;
        Ok(true)
    }
}
