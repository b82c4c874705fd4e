//! Threads that are about to be deleted: what goes on in them is ended first.

use bulkhead_domain::id::{AgentId, RunId};
use bulkhead_store::{StoreError, ThreadFilter};

use crate::{AgentError, Engine, active::Closing, compiled_here};

/// Threads of an agent in which nothing goes on here, and nothing begins until this is dropped.
#[must_use = "runs may begin again when it is dropped"]
pub struct Closed {
    runs: Vec<RunId>,
    _closing: Closing,
}

impl Closed {
    /// The runs that were cancelled for it on this server. All of them have ended.
    pub fn runs(&self) -> &[RunId] {
        &self.runs
    }
}

impl Engine {
    /// Cancels what goes on in threads of an agent, waits for its end, and lets nothing begin there
    /// meanwhile. Runs on other servers that share the database are stored as cancelled; they end
    /// when they store their next step.
    ///
    /// # Errors
    ///
    /// Failures of the database.
    #[compiled_here]
    pub async fn close(
        &self,
        agent_id: AgentId,
        threads: ThreadFilter,
    ) -> Result<Closed, AgentError> {
        let closing = self.active().close(agent_id, threads);
        let runs = self.active().of(agent_id, threads);
        let ending: Vec<_> = runs
            .iter()
            .filter_map(|run_id| self.active().cancel(*run_id))
            .collect();
        for done in ending {
            done.cancelled().await;
        }
        self.recent().forget(agent_id);
        for run in self.store().active_runs(&agent_id, threads).await? {
            match self.store().cancel_run(&run.id).await {
                Ok(_) | Err(StoreError::NotFound { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Closed {
            runs,
            _closing: closing,
        })
    }
}
