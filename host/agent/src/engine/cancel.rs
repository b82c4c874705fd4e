//! Runs are cancelled, here and in other servers, and open requests for approval closed.

use std::time::Duration;

use bulkhead_domain::{
    Run, RunStatus, StopReason,
    id::{AgentId, RunId},
};
use bulkhead_store::{StoreError, ThreadFilter};
use tokio::sync::OwnedMutexGuard;

use super::Engine;
use crate::{AgentError, active::ThreadKey, approval, compiled_here, thread::Thread};

/// How long a request to cancel waits for a run that was faster before it cancels that one too: most
/// are refused at once, because the thread waits for an approval.
const FASTER_RUN: Duration = Duration::from_millis(20);

/// What a request to cancel reached.
#[derive(Default)]
struct Reached {
    /// The runs, each once, and whether it is cancelled.
    runs: Vec<(RunId, bool)>,
    /// Whether a request for approval was closed. That of an imported agent is of no run.
    closed: bool,
}

impl Reached {
    fn note(&mut self, run_id: RunId, cancelled: bool) {
        match self.runs.iter_mut().find(|(known, _)| *known == run_id) {
            Some((_, known)) => *known |= cancelled,
            None => self.runs.push((run_id, cancelled)),
        }
    }

    fn cancelled(&self) -> Vec<RunId> {
        let cancelled = self.runs.iter().filter(|(_, cancelled)| *cancelled);
        cancelled.map(|(run_id, _)| *run_id).collect()
    }
}

impl Engine {
    /// Cancels a run that goes on here; false if none does.
    pub fn cancel_run(&self, run_id: RunId) -> bool {
        self.0.active.cancel(run_id).is_some()
    }

    /// Cancels runs in threads of an agent: those named, or all that go on. An open request for
    /// approval is closed with denials: the thread's (the default one's where all threads are
    /// meant), or those of the runs that are named. Gives each run and whether it is cancelled, when
    /// all has ended.
    ///
    /// # Errors
    ///
    /// If nothing goes on and nothing waits.
    #[compiled_here]
    pub async fn cancel(
        &self,
        agent_id: AgentId,
        threads: ThreadFilter,
        named: Option<Vec<RunId>>,
    ) -> Result<Vec<(RunId, bool)>, AgentError> {
        let store = &self.0.store;
        if store.agent(&agent_id).await?.is_none() {
            return Err(AgentError::NoAgent(agent_id));
        }
        let conversation_id = match threads {
            ThreadFilter::Any | ThreadFilter::Default => None,
            ThreadFilter::Conversation(id) => Some(id),
        };
        let thread = ThreadKey {
            agent_id,
            conversation_id,
        };
        let mut reached = Reached::default();
        match named.filter(|named| !named.is_empty()) {
            Some(named) => {
                for run_id in named {
                    let cancelled = self.end_one(run_id, agent_id).await?;
                    reached.note(run_id, cancelled);
                    if !cancelled {
                        self.close_request_of(run_id, agent_id, &mut reached)
                            .await?;
                    }
                }
                self.seen_elsewhere(&reached.cancelled()).await?;
            }
            None => {
                for run_id in self.going_on(agent_id, threads).await? {
                    let cancelled = self.end_one(run_id, agent_id).await?;
                    reached.note(run_id, cancelled);
                    if !cancelled {
                        // It may have been faster, and ended with a request.
                        self.close_request_of(run_id, agent_id, &mut reached)
                            .await?;
                    }
                }
                self.seen_elsewhere(&reached.cancelled()).await?;
                self.close_request(thread, None, &mut reached).await?;
            }
        }
        if reached.runs.is_empty() && !reached.closed {
            let what = match conversation_id {
                None => format!("agent {agent_id}"),
                Some(id) => format!("conversation {id}"),
            };
            return Err(AgentError::NothingToCancel(what));
        }
        Ok(reached.runs)
    }

    /// The runs that go on here, which are told to end all at once, so that none takes its turn when
    /// the one before it has ended; and those that go on in other servers.
    async fn going_on(
        &self,
        agent_id: AgentId,
        threads: ThreadFilter,
    ) -> Result<Vec<RunId>, AgentError> {
        let mut runs = self.0.active.of(agent_id, threads);
        for run_id in &runs {
            self.0.active.cancel(*run_id);
        }
        for run in self.0.store.active_runs(&agent_id, threads).await? {
            if !runs.contains(&run.id) {
                self.end_elsewhere(run.id).await?;
                runs.push(run.id);
            }
        }
        Ok(runs)
    }

    /// Cancels a run of an agent unless it has ended, and waits for its end; where it goes on in
    /// another server for a second or so. Whether it is cancelled then.
    ///
    /// # Errors
    ///
    /// Failures of the database.
    #[compiled_here]
    pub async fn cancel_one(&self, run_id: RunId, agent_id: AgentId) -> Result<bool, AgentError> {
        let is_cancelled = self.end_one(run_id, agent_id).await?;
        if is_cancelled {
            self.seen_elsewhere(&[run_id]).await?;
        }
        Ok(is_cancelled)
    }

    /// As [`Self::cancel_one`], without waiting for other servers.
    async fn end_one(&self, run_id: RunId, agent_id: AgentId) -> Result<bool, AgentError> {
        let of_agent = self.0.active.of(agent_id, ThreadFilter::Any);
        let goes_on = of_agent.contains(&run_id);
        if goes_on && let Some(done) = self.0.active.cancel(run_id) {
            done.cancelled().await;
        } else if let Some(run) = self.0.store.run(&run_id).await?
            && run.agent_id == agent_id
            && !run.status.is_final()
        {
            self.end_elsewhere(run_id).await?;
        }
        let run = self.0.store.run(&run_id).await?;
        Ok(run.is_some_and(|run| run.agent_id == agent_id && run.status == RunStatus::Cancelled))
    }

    /// Stores that a run is cancelled which goes on in another process, which looks for this now and
    /// then, or nowhere any more.
    async fn end_elsewhere(&self, run_id: RunId) -> Result<(), AgentError> {
        match self.0.store.cancel_run(&run_id).await {
            Ok(_) | Err(StoreError::NotFound { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Closes the request for approval by which a run of the agent ended, if it is still open.
    async fn close_request_of(
        &self,
        run_id: RunId,
        agent_id: AgentId,
        reached: &mut Reached,
    ) -> Result<(), AgentError> {
        let run = self.0.store.run(&run_id).await?;
        let asked = |run: &Run| {
            run.agent_id == agent_id && run.stop_reason == Some(StopReason::RequiresApproval)
        };
        let Some(run) = run.filter(asked) else {
            return Ok(());
        };
        let thread = ThreadKey {
            agent_id,
            conversation_id: run.conversation_id,
        };
        match self.close_request(thread, Some(run_id), reached).await {
            // It was deleted, and its request with it.
            Err(AgentError::NoConversation(_)) => Ok(()),
            other => other,
        }
    }

    /// Closes an open request for approval with denials, whoever asked or only if `asked` did.
    async fn close_request(
        &self,
        thread: ThreadKey,
        asked: Option<RunId>,
        reached: &mut Reached,
    ) -> Result<(), AgentError> {
        let store = &self.0.store;
        let is_meant = |thread: &Thread| {
            let request = thread.pending();
            request.is_some_and(|request| asked.is_none() || request.run_id == asked)
        };
        if !is_meant(&Thread::load(store, thread).await?) {
            return Ok(());
        }
        let _gate = self.enter_cancelling(thread, reached).await?;
        let loaded = Thread::load(store, thread).await?;
        if is_meant(&loaded) {
            reached.closed = true;
            if let Some(run_id) = approval::close(store, loaded).await? {
                reached.note(run_id, true);
            }
        }
        Ok(())
    }

    /// Enters a thread whose open request is to be closed. A run that was faster carries out an
    /// answer to it, perhaps for long, and is cancelled.
    async fn enter_cancelling(
        &self,
        thread: ThreadKey,
        reached: &mut Reached,
    ) -> Result<OwnedMutexGuard<()>, AgentError> {
        let mut gate = std::pin::pin!(self.0.active.enter(thread));
        loop {
            if let Ok(gate) = tokio::time::timeout(FASTER_RUN, &mut gate).await {
                return Ok(gate);
            }
            if let Some(run_id) = self.0.active.busy(thread) {
                let cancelled = self.cancel_one(run_id, thread.agent_id).await?;
                reached.note(run_id, cancelled);
            }
        }
    }

    /// Cancels all runs of an agent that go on, here and in other servers, all at once, and waits for
    /// their end, once for all; with them the compactions and calls by hand of this server. Open
    /// requests for approval stay. The agent begins none meanwhile: it is paused or terminated.
    ///
    /// # Errors
    ///
    /// Failures of the database.
    #[compiled_here]
    pub async fn cancel_runs(&self, agent_id: AgentId) -> Result<(), AgentError> {
        let mut cancelled = Vec::new();
        loop {
            // A page of them, of those in other servers.
            let runs = self.going_on(agent_id, ThreadFilter::Any).await?;
            if runs.is_empty() {
                self.by_hand().stop(agent_id).await;
                return self.seen_elsewhere(&cancelled).await;
            }
            for run_id in runs {
                if self.end_one(run_id, agent_id).await? {
                    cancelled.push(run_id);
                }
            }
        }
    }
}
