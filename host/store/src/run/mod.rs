//! Runs: what each request to an agent does, and how it ended.

mod alive;
mod events;
mod filter;
mod metrics;
mod otids;
mod queue;
mod row;
mod turn;
mod update;
mod work;

use bulkhead_domain::{Run, id::RunId};

use crate::{
    Result, Store, compiled_here,
    sql::{Durability, Statement},
};

pub use alive::SILENCE_MAX;
pub use events::RunEvent;
pub use filter::{RunFilter, RunOrder};
pub use metrics::{RunMetrics, ToolUsed};
pub use otids::OTIDS_MAX;
pub use queue::{Ahead, Asking, Why};
pub(crate) use row::{insert_if_active, run_of, run_to_change};
pub use turn::Turn;
pub use update::RunUpdate;
pub(crate) use update::apply_update;
pub use work::{Comparison, RunWork};

impl Store {
    /// Stores a new run.
    ///
    /// # Errors
    ///
    /// [`crate::StoreError::NotFound`] where its agent is not there,
    /// [`crate::StoreError::AgentPaused`] and [`crate::StoreError::AgentTerminated`] where the agent
    /// takes no messages. One that is paused at the same moment may get the run all the same: who
    /// drives it looks at the agent's standing once more.
    #[compiled_here]
    pub async fn create_run(&self, run: &Run) -> Result<()> {
        let stored = async {
            let mut transaction = self.database().begin(Durability::Process).await?;
            row::insert(&mut transaction, run).await?;
            transaction.commit().await
        };
        match stored.await {
            Ok(()) => Ok(()),
            Err(error) => Err(row::refused(self, error, run).await),
        }
    }

    /// The run with this id.
    #[compiled_here]
    pub async fn run(&self, id: &RunId) -> Result<Option<Run>> {
        let query = "SELECT document FROM runs WHERE id = $1";
        let query = Statement::new(query).bind(id.to_string());
        let row = self.database().optional(query).await?;
        row.as_ref().map(row::record).transpose()
    }

    /// Notes how far a run is, or how it ended. What ended first counts: a run that was cancelled
    /// stays cancelled. Gives the run as it is then.
    #[compiled_here]
    pub async fn finish_run(&self, update: &RunUpdate) -> Result<Run> {
        self.update_run(&update.id, |run| update.apply(run)).await
    }

    /// Changes a run; nobody else changes it from before `change` sees it until it is stored. Its
    /// id, its agent and when it was made stay what they were.
    pub async fn update_run(
        &self,
        id: &RunId,
        change: impl FnOnce(&mut Run) + Send,
    ) -> Result<Run> {
        let mut transaction = self.database().begin(Durability::Process).await?;
        let former = row::lock(&mut transaction, id).await?;
        let mut run = former.clone();
        change(&mut run);
        run.id = former.id;
        run.agent_id = former.agent_id;
        run.created_at = former.created_at;
        row::put(&mut transaction, &run).await?;
        transaction.commit().await?;
        Ok(run)
    }

    /// Deletes a run. Its messages and its steps stay, without a run. Whether it was there.
    #[compiled_here]
    pub async fn delete_run(&self, id: &RunId) -> Result<bool> {
        let id = id.to_string();
        let mut transaction = self.database().begin(Durability::Power).await?;
        // The agent first, as the commit of a step does: it changes the same rows.
        let agent = "SELECT 1 FROM agents WHERE id =
            (SELECT agent_id FROM runs WHERE id = $1)";
        let mut agent = Statement::new(agent).bind(id.as_str());
        agent.push(transaction.for_update());
        transaction.all(agent).await?;
        let delete = Statement::new("DELETE FROM runs WHERE id = $1").bind(id.as_str());
        let deleted = transaction.execute(delete).await? > 0;
        for update in [
            "UPDATE messages SET run_id = NULL WHERE run_id = $1",
            "UPDATE steps SET run_id = NULL WHERE run_id = $1",
            "UPDATE traces SET run_id = NULL WHERE run_id = $1",
        ] {
            let update = Statement::new(update).bind(id.as_str());
            transaction.defer(update).await?;
        }
        transaction.commit().await?;
        Ok(deleted)
    }
}
