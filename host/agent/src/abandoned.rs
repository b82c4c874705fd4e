//! Runs whose server ended before they did. They are not resumed: what the tools of a step that went
//! on did is not known, and doing it a second time may be worse than not doing it. They have failed,
//! and say so.

use std::collections::BTreeSet;

use bulkhead_domain::{Run, StopReason, Timestamp};
use bulkhead_store::{StepCommit, StoreError};

use crate::{
    AgentError, Engine, RunType, active::ThreadKey, driver::told, thread::Thread,
    upkeep::RecompileOptions,
};

impl Engine {
    /// Ends the runs that nobody has worked on since: they have failed, and their metadata say why.
    /// The threads that they worked on are put in order. Gives these runs as they are then.
    ///
    /// # Errors
    ///
    /// Failures of the database; the runs that came before are ended by then.
    pub async fn fail_abandoned(&self, silent_since: Timestamp) -> Result<Vec<Run>, AgentError> {
        let fault = AgentError::Abandoned.fault();
        let error = |run: &Run| {
            let run_type = run.metadata.as_ref().map(|metadata| &metadata["run_type"]);
            let is_whole = run_type.is_some_and(|name| name == RunType::Message.as_str());
            told(run.id, is_whole, &fault)
        };
        let runs = self.store().fail_abandoned_runs(silent_since, error);
        let runs = runs.await?;
        let threads: BTreeSet<_> = runs
            .iter()
            .map(|run| (run.agent_id, run.conversation_id))
            .collect();
        for (agent_id, conversation_id) in threads {
            let thread = ThreadKey {
                agent_id,
                conversation_id,
            };
            match self.put_in_order(thread).await {
                // It was deleted meanwhile.
                Ok(()) | Err(AgentError::NoAgent(_) | AgentError::NoConversation(_)) => {}
                Err(error) => {
                    tracing::warn!(agent = %agent_id, %error, "a thread was not put in order");
                }
            }
        }
        Ok(runs)
    }

    /// A thread after a run that was killed: its system message has the memory that the run's tools
    /// wrote, and an agent that waits for an approval says so.
    async fn put_in_order(&self, thread: ThreadKey) -> Result<(), AgentError> {
        let options = RecompileOptions {
            dry_run: false,
            update_timestamp: true,
        };
        self.recompile(thread.agent_id, thread.conversation_id, options)
            .await?;
        if Thread::load(self.store(), thread)
            .await?
            .pending()
            .is_none()
        {
            return Ok(());
        }
        let mut commit = StepCommit::new(thread.agent_id, thread.conversation_id);
        commit.last_stop_reason = Some(StopReason::RequiresApproval);
        match self.store().commit_step(&commit).await {
            Ok(_) | Err(StoreError::NotFound { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
