//! How a run ends in the database where no step's own transaction says so.

use std::time::Duration;

use bulkhead_domain::{Receipt, Run, Step, StepStatus, StopReason, Usage, id::RunId};
use bulkhead_store::{RunUpdate, StepCommit, Store, StoreError};
use serde_json::{Value, json};

use super::{Driver, ask::Begun};
use crate::{
    AgentError, active::ThreadKey, asked::nanos, engine::Outcome, error::Fault, thread::Thread,
};

impl Driver {
    /// The run was cancelled; nothing of the step that went on is stored.
    pub(super) async fn end_cancelled(&mut self) -> Result<StopReason, AgentError> {
        let reason = StopReason::Cancelled;
        let mut commit = StepCommit::new(self.request.agent_id, self.thread.conversation_id());
        commit.run = Some(self.ended(reason));
        commit.last_stop_reason = Some(reason);
        self.store.commit_step(&commit).await?;
        Ok(reason)
    }

    /// As [`Self::end_cancelled`], where the model had answered: what the answer used is kept.
    pub(super) async fn end_unheard(
        &mut self,
        step: &Begun,
        usage: Usage,
        took: Duration,
    ) -> Result<StopReason, AgentError> {
        let reason = StopReason::Cancelled;
        let mut record = self.broken_off(step, usage, took);
        record.status = StepStatus::Cancelled;
        record.stop_reason = Some(reason);
        let mut commit = StepCommit::new(self.request.agent_id, self.thread.conversation_id());
        commit.step = Some(record);
        commit.traces = std::mem::take(&mut self.traces);
        commit.run = Some(self.ended(reason));
        commit.last_stop_reason = Some(reason);
        self.store.commit_step(&commit).await?;
        Ok(reason)
    }

    /// A step that ends before all of it was done: what it used, and how long it took.
    fn broken_off(&self, step: &Begun, usage: Usage, took: Duration) -> Step {
        let mut record = self.blank_step(step);
        record.usage = usage;
        record.metrics.step_start_ns = Some(step.at.micros().saturating_mul(1_000));
        record.metrics.step_ns = Some(nanos(took));
        record
    }

    /// A step without a usable reply, or whose messages could not be stored: what it was, why it
    /// failed, and what it and its tools used.
    pub(super) async fn store_failed_step(
        &self,
        step: &Begun,
        (usage, receipts): (Usage, Vec<(String, Receipt)>),
        error: &AgentError,
        took: Duration,
    ) {
        let fault = error.fault();
        let mut record = self.broken_off(step, usage, took);
        record.status = StepStatus::Failed;
        record.stop_reason = Some(fault.stop_reason);
        record.error_type = Some(fault.error_type.to_owned());
        record.error_data = Some(json!({
            "message": fault.detail, "traceback": null, "details": {},
        }));
        let mut commit = StepCommit::new(self.request.agent_id, self.thread.conversation_id());
        commit.step = Some(record);
        commit.traces.clone_from(&self.traces);
        commit.receipts = receipts;
        if let Err(error) = self.store.commit_step(&commit).await {
            tracing::warn!(run = %self.run.id, %error, "a failed step was not stored");
        }
    }
}

/// Whether a run failed because what it works on is not there any more.
pub(super) fn is_deleted(error: &AgentError) -> bool {
    matches!(
        error,
        AgentError::Store(StoreError::NotFound {
            what: "agent" | "conversation" | "run",
            ..
        })
    )
}

/// Whether a run failed because something else has changed its thread, or may.
pub(super) fn is_overtaken(error: &AgentError) -> bool {
    matches!(
        error,
        AgentError::TurnLost | AgentError::Store(StoreError::ThreadChanged { .. })
    )
}

/// A run that was cancelled before it began. Other runs of its thread may work meanwhile: whether the
/// agent waits for an approval is seen in the transaction, and it goes on waiting for it.
pub(crate) async fn cancelled_before(store: &Store, run: &Run) -> Result<Outcome, AgentError> {
    let mut commit = StepCommit::new(run.agent_id, run.conversation_id);
    let update = RunUpdate::ended(run.id, StopReason::Cancelled).taking(run, commit.at);
    commit.run = Some(update.clone());
    commit.last_stop_reason = Some(StopReason::Cancelled);
    commit.keeps_request = true;
    let stored = match store.commit_step(&commit).await.map(drop) {
        // The conversation was deleted; its runs stay.
        Err(StoreError::NotFound { .. }) => store.finish_run(&update).await.map(drop),
        stored => stored,
    };
    match stored {
        // Nor is there a run any more.
        Ok(()) | Err(StoreError::NotFound { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(Outcome {
        run_id: run.id,
        stop_reason: StopReason::Cancelled,
        usage: Usage::default(),
        steps: 0,
        context_tokens: None,
        messages: Vec::new(),
        logprobs: None,
        has_gap: false,
        background: Vec::new(),
    })
}

/// A run that failed.
pub(crate) struct Failed {
    pub(crate) thread: ThreadKey,
    pub(crate) run_id: RunId,
    /// Whether its answer is one whole, and no stream.
    pub(crate) is_whole: bool,
    pub(crate) took: Duration,
    /// Whether it had its turn. Else others of its thread may work meanwhile, and the agent goes on
    /// waiting for an approval if it does.
    pub(crate) works: bool,
}

impl Failed {
    /// Stores that it failed, and why.
    pub(crate) async fn store(&self, store: &Store, error: &AgentError) {
        let run_id = self.run_id;
        if let AgentError::Store(error) = error {
            tracing::error!(run = %run_id, %error, "the database failed a run");
        } else if let AgentError::Internal(text) = error {
            tracing::error!(run = %run_id, error = text, "a run failed");
        }
        let fault = error.fault();
        let mut update = RunUpdate::ended(run_id, fault.stop_reason);
        update.total_duration_ns = Some(nanos(self.took));
        update
            .metadata
            .insert("error".to_owned(), told(run_id, self.is_whole, &fault));
        let mut commit = StepCommit::new(self.thread.agent_id, self.thread.conversation_id);
        if changes_agent(error) && !waits(store, self.thread).await {
            commit.last_stop_reason = Some(fault.stop_reason);
        }
        commit.keeps_request = !self.works;
        commit.run = Some(update.clone());
        let stored = match store.commit_step(&commit).await.map(drop) {
            // The conversation was deleted; its runs stay.
            Err(StoreError::NotFound { .. }) => store.finish_run(&update).await.map(drop),
            stored => stored,
        };
        match stored {
            // Nor is there an agent any more.
            Ok(()) | Err(StoreError::NotFound { .. }) => {}
            Err(error) => {
                tracing::warn!(run = %run_id, %error, "a failed run was not stored as such");
            }
        }
    }
}

/// Whether a request for approval is open in a thread, such as one whose answer was not stored: the
/// agent says that it waits as long as it does.
async fn waits(store: &Store, thread: ThreadKey) -> bool {
    let thread = Thread::load(store, thread).await;
    thread.is_ok_and(|thread| thread.pending().is_some())
}

/// Whether the agent itself came to a stop: not by a request that was refused before it began, nor
/// where another one works.
fn changes_agent(error: &AgentError) -> bool {
    !matches!(
        error,
        AgentError::PendingApproval(_)
            | AgentError::NothingToApprove
            | AgentError::WrongApprovals { .. }
            | AgentError::Invalid(_)
            | AgentError::UnknownModel(_)
            | AgentError::NoAgent(_)
            | AgentError::NoConversation(_)
            | AgentError::TurnLost
    )
}

/// What the run's metadata says of its failure: a text for answers as a whole, else the event.
pub(crate) fn told(run_id: RunId, is_whole: bool, fault: &Fault) -> Value {
    match is_whole {
        true => Value::from(fault.detail.as_str()),
        false => fault.event(run_id),
    }
}
