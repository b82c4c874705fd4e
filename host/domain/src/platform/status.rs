//! What an instance does at the moment.

use serde::{Deserialize, Serialize};

use super::Standing;
use crate::{
    RunStatus, StopReason,
    run::{UnknownWord, spelled},
};

/// What an instance does at the moment, as people see it. It is computed and never stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InstanceStatus {
    /// Nothing; it takes messages.
    Idle,
    /// It answers a message.
    Working,
    /// It waits for somebody to approve a call of a tool.
    Waiting,
    /// It takes no messages until it is resumed.
    Paused,
    /// Its last answer failed; it takes messages.
    Error,
    /// It takes no messages any more.
    Terminated,
}

/// What the status of an instance is computed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InstanceFacts {
    /// What a person decided of it.
    pub standing: Standing,
    /// Whether a run of it has not ended.
    pub has_active_run: bool,
    /// Why its last run ended. A request that waited for an approval and was cancelled since counts
    /// as cancelled.
    pub last_stop_reason: Option<StopReason>,
}

impl InstanceFacts {
    /// What the instance does. What a person decided comes first: an instance that is paused in the
    /// middle of an answer is paused.
    pub fn status(self) -> InstanceStatus {
        match (self.standing, self.last_stop_reason) {
            (Standing::Terminated, _) => InstanceStatus::Terminated,
            (Standing::Paused, _) => InstanceStatus::Paused,
            (Standing::Active, _) if self.has_active_run => InstanceStatus::Working,
            (Standing::Active, Some(StopReason::RequiresApproval)) => InstanceStatus::Waiting,
            (Standing::Active, Some(reason)) if reason.run_status() == RunStatus::Failed => {
                InstanceStatus::Error
            }
            (Standing::Active, _) => InstanceStatus::Idle,
        }
    }
}

impl InstanceStatus {
    /// As it is shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Working => "working",
            Self::Waiting => "waiting",
            Self::Paused => "paused",
            Self::Error => "error",
            Self::Terminated => "terminated",
        }
    }
}

spelled! {
    InstanceStatus, "status of an instance";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standing_comes_before_what_goes_on_and_that_before_what_was() {
        let status = |standing, has_active_run, last_stop_reason| {
            let facts = InstanceFacts {
                standing,
                has_active_run,
                last_stop_reason,
            };
            facts.status()
        };
        let failed = Some(StopReason::LlmApiError);
        let waits = Some(StopReason::RequiresApproval);
        for (standing, active, last, expected) in [
            (Standing::Active, false, None, InstanceStatus::Idle),
            (
                Standing::Active,
                false,
                Some(StopReason::EndTurn),
                InstanceStatus::Idle,
            ),
            (
                Standing::Active,
                false,
                Some(StopReason::Cancelled),
                InstanceStatus::Idle,
            ),
            (Standing::Active, true, waits, InstanceStatus::Working),
            (Standing::Active, false, waits, InstanceStatus::Waiting),
            (Standing::Active, false, failed, InstanceStatus::Error),
            (Standing::Active, true, failed, InstanceStatus::Working),
            (Standing::Paused, true, waits, InstanceStatus::Paused),
            (
                Standing::Terminated,
                true,
                failed,
                InstanceStatus::Terminated,
            ),
        ] {
            assert_eq!(
                status(standing, active, last),
                expected,
                "{standing:?} {active} {last:?}"
            );
            assert_eq!(expected.as_str().parse(), Ok(expected));
        }
    }
}
