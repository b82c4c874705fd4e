//! Whose turn it is in a thread of messages on a database that several servers share: a run that waits
//! is `created`, and the one that works is `running`.
//!
//! A server that is killed leaves its run as it is. So a turn counts as long as something is heard of
//! it: see [`Store::keep_runs_alive`].

use bulkhead_domain::{Run, RunStatus, Timestamp, id::RunId};

use super::{filter::ACTIVE, row};
use crate::{
    Result, Store,
    message::ThreadFilter,
    sql::{Durability, Statement},
};

/// What came of asking for a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// The run has it, and is running.
    Taken,
    /// Another run of the thread has it.
    Of {
        /// That one.
        run_id: RunId,
        /// When its server said last that it works on it.
        alive_at: Timestamp,
    },
    /// There is nothing to do: the run has ended, because it was cancelled.
    Ended,
}

impl Store {
    /// Gives a run the turn in its thread, unless another run has it of which something was heard
    /// since. Those of `own` do not count: their server sees to it that one of them works at a time.
    ///
    /// # Errors
    ///
    /// [`crate::StoreError::NotFound`] where the run was deleted.
    pub async fn take_turn(
        &self,
        run: &Run,
        own: &[RunId],
        silent_since: Timestamp,
    ) -> Result<Turn> {
        let mut transaction = self.database().begin(Durability::Process).await?;
        // The agent first, as the commit of a step does; of servers that ask at once one is first.
        let mut agent = Statement::new("SELECT 1 FROM agents WHERE id = ");
        agent.push_value(run.agent_id.to_string());
        agent.push(transaction.for_update());
        transaction.all(agent).await?;
        let mut run = row::lock(&mut transaction, &run.id).await?;
        if run.status.is_final() {
            return Ok(Turn::Ended);
        }
        let mut other = Statement::new("SELECT id, alive_at FROM runs WHERE agent_id = ");
        other.push_value(run.agent_id.to_string());
        // What the index of such runs says, and the narrower condition.
        other.push(ACTIVE).push(" AND status = 'running'");
        ThreadFilter::of(run.conversation_id).push_condition(&mut other);
        other.push(" AND alive_at >= ").push_value(silent_since);
        let others = transaction.all(other).await?;
        for other in &others {
            let run_id = other.parsed(0, "run id")?;
            if run_id != run.id && !own.contains(&run_id) {
                let alive_at = other.timestamp(1)?;
                return Ok(Turn::Of { run_id, alive_at });
            }
        }
        if run.status != RunStatus::Running {
            run.status = RunStatus::Running;
            row::put(&mut transaction, &run, Timestamp::now()).await?;
            transaction.commit().await?;
        }
        Ok(Turn::Taken)
    }
}
