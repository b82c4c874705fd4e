//! The end of a run as those see it that look after the agent's memory.

use std::sync::Arc;

use bulkhead_domain::{Message, Role, Run, StopReason};
use bulkhead_store::{RunUpdate, SleeptimeTurn};

use super::Driver;
use crate::{Engine, RunRequest, RunType};

/// Bytes of a result in a run's metadata. What is larger has no messages there; they are those of the
/// run.
const RESULT_BYTES_MAX: usize = 1 << 20;

impl Driver {
    /// What runs of those begin as that look after the agent's memory, where the end of this one counts
    /// as a request to it. Runs of such agents count nowhere: two that look after each other would
    /// never rest.
    pub(super) fn sleeptime_run(&self) -> Option<Run> {
        let counts = self.agent().enable_sleeptime == Some(true)
            && self.request.run_type != RunType::Sleeptime;
        counts.then(|| self.engine.new_sleeptime_run(self.request.agent_id))
    }

    /// Sets the runs of a turn going.
    pub(super) fn look_after(&mut self, turn: Option<&SleeptimeTurn>) {
        if let Some(turn) = turn {
            let agent = Arc::clone(self.agent());
            self.background.extend(self.engine.look_after(&agent, turn));
        }
    }

    /// How the run ends with these messages, which nobody has heard of yet where they are results. A
    /// run that the engine began has its outcome in its metadata.
    pub(super) fn ended_with(&self, reason: StopReason, last: &[Message]) -> RunUpdate {
        let mut update = self.ended(reason);
        let Some(background) = self.engine.background() else {
            return update;
        };
        if self.request.run_type != RunType::Sleeptime {
            return update;
        }
        let mut outcome = self.outcome(reason);
        let results = last.iter().filter(|message| message.role == Role::Tool);
        outcome.messages.extend(results.cloned().map(Arc::new));
        let mut result = background.result(&outcome);
        if result.to_string().len() > RESULT_BYTES_MAX {
            outcome.messages.clear();
            result = background.result(&outcome);
        }
        update.metadata.insert("result".to_owned(), result);
        update
    }
}

impl Engine {
    /// What a run of an agent that looks after this one's memory begins as.
    pub(crate) fn new_sleeptime_run(&self, agent_id: bulkhead_domain::id::AgentId) -> Run {
        let request = RunRequest {
            background: true,
            ..RunRequest::new(agent_id, RunType::Sleeptime)
        };
        self.noted(&request)
    }
}
