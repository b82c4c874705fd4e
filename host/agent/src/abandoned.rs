//! Runs whose server ended before they did. They are not resumed: what the tools of a step that went
//! on did is not known, and doing it a second time may be worse than not doing it. They have failed,
//! and say so.

use std::time::Duration;

use bulkhead_domain::{Run, StopReason};
use bulkhead_store::{StepCommit, StoreError};

use crate::{
    AgentError, Engine, RunType, active::ThreadKey, compiled_here, driver::told, thread::Thread,
};

impl Engine {
    /// Ends the runs that nobody has worked on for so long, all of them where it is none: they have
    /// failed, and their metadata say why.
    /// The threads that they worked on are put in order. Gives these runs as they are then.
    ///
    /// # Errors
    ///
    /// Failures of the database; the runs that came before are ended by then.
    #[compiled_here]
    pub async fn fail_abandoned(&self, silence: Option<Duration>) -> Result<Vec<Run>, AgentError> {
        let fault = AgentError::Abandoned.fault();
        let error = |run: &Run| {
            let run_type = run.metadata.as_ref().map(|metadata| &metadata["run_type"]);
            let is_whole = run_type.is_some_and(|name| name == RunType::Message.as_str());
            told(run.id, is_whole, &fault)
        };
        let threads = self.store().abandoned_threads(silence).await?;
        let threads: Vec<_> = threads
            .into_iter()
            .map(|(agent_id, conversation_id)| ThreadKey {
                agent_id,
                conversation_id,
            })
            .collect();
        // First: a server that is killed meanwhile too leaves the runs as they are, and the next one
        // does it again.
        for thread in &threads {
            noted(*thread, self.show_memory(*thread).await);
        }
        let runs = self.store().fail_abandoned_runs(silence, error);
        let runs = runs.await?;
        for thread in threads {
            noted(thread, self.show_request(thread).await);
        }
        Ok(runs)
    }

    /// Has an agent say that it waits for an approval, where it does.
    async fn show_request(&self, thread: ThreadKey) -> Result<(), AgentError> {
        if Thread::load(self.store(), thread)
            .await?
            .pending()
            .is_none()
        {
            return Ok(());
        }
        let mut commit = StepCommit::new(thread.agent_id, thread.conversation_id);
        commit.last_stop_reason = Some(StopReason::RequiresApproval);
        self.store().commit_step(&commit).await?;
        Ok(())
    }
}

/// Notes what could not be done; that a thread was deleted meanwhile is nothing.
fn noted(thread: ThreadKey, done: Result<(), AgentError>) {
    match done {
        Ok(())
        | Err(
            AgentError::NoAgent(_)
            | AgentError::NoConversation(_)
            | AgentError::Store(StoreError::NotFound { .. }),
        ) => {}
        Err(error) => {
            tracing::warn!(agent = %thread.agent_id, %error, "a thread was not put in order");
        }
    }
}
