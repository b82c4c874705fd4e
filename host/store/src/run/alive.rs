//! Runs whose server died. Each server says from time to time which runs it works on; a run that
//! nobody works on has failed.

use std::{collections::HashSet, time::Duration};

use bulkhead_domain::{
    Run, StopReason, Timestamp,
    id::{AgentId, ConversationId, RunId},
};
use serde_json::Value;

use super::{RunUpdate, filter::ACTIVE, queue::ENDING, row, update::apply_update};
use crate::{
    Paging, Result, Store, compiled_here,
    message::lists,
    paging::Listing,
    sql::{Durability, Statement, micros},
    step::write_stop_reason,
    thread::LockedThread,
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

/// The condition of runs that go on and of which nothing was heard for so long.
fn push_silent(query: &mut Statement, clock: &'static str, silence: Option<Duration>) {
    query.push(ACTIVE);
    if let Some(silence) = silence {
        query.push(" AND alive_at < ").push(clock).push(" - ");
        query.push_value(micros(silence));
    }
}

/// Of runs: ended by somebody else, or of an agent that does not run.
const STOPPED: &str = " AND (status IN ('cancelled', 'failed')
    OR (status IN ('created', 'running') AND EXISTS (
        SELECT 1 FROM agents WHERE agents.id = runs.agent_id AND standing <> 'active')))";

impl Store {
    /// Says that a server works on these runs now. It waits for nobody: not for a connection of which
    /// all are busy, and not for a run that somebody changes at this moment, of which it says nothing.
    ///
    /// # Errors
    ///
    /// [`crate::StoreError::Unavailable`] where the database took longer than `most` for some hundreds
    /// of them, and other failures of the database.
    #[compiled_here]
    pub async fn keep_runs_alive(&self, ids: &[RunId], most: Duration) -> Result<()> {
        let database = self.database();
        for list in lists(ids) {
            let mut update = Statement::new("UPDATE runs SET alive_at = ");
            update.push(database.clock());
            update.push(" WHERE id IN (SELECT id FROM runs WHERE id IN (");
            update.push_list(list);
            update.push(database.skip_locked()).push(")");
            update.push(" AND (status IN ('created', 'running') OR ");
            update.push(ENDING).push(")");
            database.execute_at_once(update, most).await?;
        }
        Ok(())
    }

    /// The threads of the runs that nobody has worked on for so long, as [`Self::fail_abandoned_runs`]
    /// has it, each once; a default thread has no conversation.
    #[compiled_here]
    pub async fn abandoned_threads(
        &self,
        silence: Option<Duration>,
    ) -> Result<Vec<(AgentId, Option<ConversationId>)>> {
        let mut query =
            Statement::new("SELECT DISTINCT agent_id, conversation_id FROM runs WHERE TRUE");
        push_silent(&mut query, self.database().clock(), silence);
        let rows = self.database().all(query).await?;
        rows.iter()
            .map(|row| {
                let agent_id = row.parsed(0, "agent of a run")?;
                Ok((agent_id, row.optional_parsed(1, "conversation of a run")?))
            })
            .collect()
    }

    /// Those of these runs that are cancelled or failed, whoever said so; those that go on although
    /// their agent was paused or terminated, whose server may have ended before it cancelled them; and
    /// those of `working` that have lost their turn or were deleted. One that is completed is so by its
    /// own last step, after which its server may have something to do. One that does not work yet may
    /// not be stored yet.
    #[compiled_here]
    pub async fn stopped_runs(&self, ids: &[RunId], working: &[RunId]) -> Result<Vec<RunId>> {
        let mut stopped = self.those(ids, STOPPED).await?;
        let kept = self.those(working, " AND status <> 'created'").await?;
        let kept: HashSet<RunId> = kept.into_iter().collect();
        stopped.extend(working.iter().filter(|id| !kept.contains(id)));
        Ok(stopped)
    }

    async fn those(&self, ids: &[RunId], condition: &'static str) -> Result<Vec<RunId>> {
        let mut those = Vec::new();
        for list in lists(ids) {
            let mut query = Statement::new("SELECT id FROM runs WHERE id IN (");
            query.push_list(list).push(condition);
            for row in &self.database().all(query).await? {
                those.push(row.parsed(0, "run id")?);
            }
        }
        Ok(those)
    }

    /// Ends the runs that nobody has worked on for so long: they failed, what `error` says stands in
    /// their metadata, and their agents stopped for [`StopReason::Error`] unless they have begun
    /// another run meanwhile. Gives these runs as they are then.
    ///
    /// A server that has its database to itself says nothing when it starts, before its own first run:
    /// all runs are meant. Later, or as one of several, it says a silence such as [`SILENCE_MAX`], and
    /// asks from time to time.
    pub async fn fail_abandoned_runs(
        &self,
        silence: Option<Duration>,
        error: impl Fn(&Run) -> Value + Send + Sync,
    ) -> Result<Vec<Run>> {
        let mut failed = Vec::new();
        loop {
            let clock = self.database().clock();
            let silent = |query: &mut Statement| push_silent(query, clock, silence);
            let rows = LISTING.page(self, &Paging::oldest(), silent).await?;
            let before = failed.len();
            for row in &rows {
                let id = row.parsed(0, "run id")?;
                let agent_id = row.parsed(1, "agent of a run")?;
                let run = self.fail_if_silent(id, &agent_id, silence, &error);
                match run.await {
                    Ok(run) => failed.extend(run),
                    // One that can't be ended must not keep the others from it.
                    Err(error) => {
                        tracing::warn!(run = %id, %error, "an abandoned run was not ended");
                    }
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
        silence: Option<Duration>,
        error: &(impl Fn(&Run) -> Value + Send + Sync),
    ) -> Result<Option<Run>> {
        let now = Timestamp::now();
        let mut transaction = self.database().begin(Durability::Process).await?;
        // The agent first, as the commit of a step does.
        let mut agent = Statement::new("SELECT 1 FROM agents WHERE id = ");
        agent.push_value(agent_id.to_string());
        agent.push(transaction.for_update());
        transaction.all(agent).await?;
        let mut silent = Statement::new("SELECT 1 FROM runs WHERE id = ");
        silent.push_value(id.to_string());
        push_silent(&mut silent, transaction.clock(), silence);
        silent.push(transaction.for_update());
        if transaction.optional(silent).await?.is_none() {
            return Ok(None);
        }
        let run = row::lock(&mut transaction, &id).await?;
        let mut update = RunUpdate::ended(id, StopReason::Error).taking(&run, now);
        update.metadata.insert("error".to_owned(), error(&run));
        let failed = apply_update(&mut transaction, agent_id, run, &update).await?;
        let later = "SELECT 1 FROM runs WHERE agent_id = $1 AND created_at > $2 LIMIT 1";
        let later = Statement::new(later)
            .bind(agent_id.to_string())
            .bind(failed.created_at);
        let is_last = transaction.optional(later).await?.is_none();
        let hides_request = failed.conversation_id.is_some()
            && LockedThread::lock(&mut transaction, *agent_id, None)
                .await?
                .default_waits(&mut transaction)
                .await?;
        if is_last && !hides_request {
            write_stop_reason(&mut transaction, agent_id, StopReason::Error, now).await?;
        }
        transaction.commit().await?;
        Ok(Some(failed))
    }
}
