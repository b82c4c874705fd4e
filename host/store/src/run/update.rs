//! What becomes of a run while it works and when it ends.

use bulkhead_domain::{
    Run, RunStatus, StopReason, Timestamp,
    id::{AgentId, RunId},
};
use serde_json::{Map, Value};

use super::row::{missing, put};
use crate::{Result, sql::Transaction};

/// A change of a run. What is none stays.
#[derive(Debug, Clone)]
pub struct RunUpdate {
    /// The run.
    pub id: RunId,
    /// How far it is.
    pub status: Option<RunStatus>,
    /// Why it ended.
    pub stop_reason: Option<StopReason>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// Entries of its metadata: added, or in place of those of the same name.
    pub metadata: Map<String, Value>,
    /// Nanoseconds to the first token of the first step.
    pub ttft_ns: Option<i64>,
    /// Nanoseconds from beginning to end. That they are known says that its server works on it no
    /// more: until then a run that was cancelled may have its turn still.
    pub total_duration_ns: Option<i64>,
    /// Whether this is what became of a request for approval by which the run ended: it counts
    /// although the run has ended, unless that was for another reason.
    pub closes_request: bool,
}

impl RunUpdate {
    /// Changes nothing yet.
    pub fn new(id: RunId) -> Self {
        Self {
            id,
            status: None,
            stop_reason: None,
            completed_at: None,
            metadata: Map::new(),
            ttft_ns: None,
            total_duration_ns: None,
            closes_request: false,
        }
    }

    /// The run works.
    pub fn running(id: RunId) -> Self {
        Self {
            status: Some(RunStatus::Running),
            ..Self::new(id)
        }
    }

    /// The run ended now, for this reason, with the status that follows from it.
    pub fn ended(id: RunId, reason: StopReason) -> Self {
        Self {
            status: Some(reason.run_status()),
            stop_reason: Some(reason),
            completed_at: Some(Timestamp::now()),
            ..Self::new(id)
        }
    }

    /// That it took from when the run was made until then.
    pub fn taking(mut self, run: &Run, until: Timestamp) -> Self {
        let taken = until.micros().saturating_sub(run.created_at.micros());
        self.total_duration_ns = Some(taken.max(0).saturating_mul(1_000));
        self
    }

    /// Changes a run. How, why and when it ended stays what it was once it has ended.
    pub(super) fn apply(&self, run: &mut Run) {
        let asked = run.stop_reason == Some(StopReason::RequiresApproval);
        let counts = !run.status.is_final() || (self.closes_request && asked);
        if counts {
            run.status = self.status.unwrap_or(run.status);
            run.stop_reason = self.stop_reason.or(run.stop_reason);
            run.completed_at = self.completed_at.or(run.completed_at);
        }
        run.ttft_ns = run.ttft_ns.or(self.ttft_ns);
        run.total_duration_ns = self.total_duration_ns.or(run.total_duration_ns);
        if self.metadata.is_empty() || !counts {
            return;
        }
        let mut metadata = match run.metadata.take() {
            Some(Value::Object(metadata)) => metadata,
            _ => Map::new(),
        };
        metadata.extend(self.metadata.clone());
        run.metadata = Some(Value::Object(metadata));
    }
}

/// Changes a run of this agent, which is locked, as a part of something larger.
pub(crate) async fn apply_update(
    transaction: &mut Transaction,
    agent_id: &AgentId,
    mut run: Run,
    update: &RunUpdate,
) -> Result<Run> {
    if run.agent_id != *agent_id {
        return Err(missing(&update.id));
    }
    update.apply(&mut run);
    put(transaction, &run).await?;
    Ok(run)
}
