//! Lists of runs.

use bulkhead_domain::{Run, RunStatus, StopReason, id::AgentId, platform::UserId};

use super::{
    row::{COLUMNS, record},
    work::RunWork,
};
use crate::{
    Paging, Result, Store, StoreError, compiled_here, message::ThreadFilter,
    owner::push_agent_created_by, paging::Listing, sql::Statement, tool::FILTER_LIST_MAX,
};

/// The states of a run that has not ended. The index of such runs spells them the same.
pub(super) const ACTIVE: &str = " AND status IN ('created', 'running')";

/// What a list of runs is ordered by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RunOrder {
    /// When they were made.
    #[default]
    CreatedAt,
    /// How long they took; those that have not ended come before the shortest.
    Duration,
}

impl RunOrder {
    fn listing(self) -> Listing {
        Listing {
            what: "run",
            table: "runs",
            columns: COLUMNS,
            key: match self {
                Self::CreatedAt => "created_at",
                Self::Duration => "COALESCE(total_duration_ns, -1)",
            },
            bytes: "size",
        }
    }
}

/// Which runs to list. What is none does not matter.
#[derive(Debug, Clone, Default)]
pub struct RunFilter {
    /// Of one of these agents.
    pub agent_ids: Option<Vec<AgentId>>,
    /// In one of these states.
    pub statuses: Option<Vec<RunStatus>>,
    /// That go on when their client leaves, or that do not.
    pub background: Option<bool>,
    /// That ended for this reason.
    pub stop_reason: Option<StopReason>,
    /// In these threads.
    pub thread: ThreadFilter,
    /// Of agents that this user of the platform made.
    pub created_by: Option<UserId>,
    /// Those that have not ended.
    pub active: bool,
    /// That did this.
    pub work: RunWork,
    /// What orders them.
    pub order_by: RunOrder,
    /// Which part of the list.
    pub paging: Paging,
}

impl Store {
    /// Runs, the newest or longest first unless the paging says otherwise.
    #[compiled_here]
    pub async fn runs(&self, filter: &RunFilter) -> Result<Vec<Run>> {
        filter.check()?;
        let conditions = |query: &mut Statement| filter.push_conditions(query);
        let listing = filter.order_by.listing();
        let rows = listing.page(self, &filter.paging, conditions).await?;
        rows.iter().map(record).collect()
    }

    /// How many runs there are, whatever the filter's page.
    #[compiled_here]
    pub async fn count_runs(&self, filter: &RunFilter) -> Result<u64> {
        filter.check()?;
        let conditions = |query: &mut Statement| filter.push_conditions(query);
        filter.order_by.listing().count(self, conditions).await
    }

    /// The runs of an agent that have not ended, the oldest first; one page at most.
    #[compiled_here]
    pub async fn active_runs(&self, agent_id: &AgentId, thread: ThreadFilter) -> Result<Vec<Run>> {
        self.runs(&RunFilter {
            agent_ids: Some(vec![*agent_id]),
            thread,
            active: true,
            paging: Paging::oldest(),
            ..RunFilter::default()
        })
        .await
    }
}

impl RunFilter {
    fn check(&self) -> Result<()> {
        if self
            .agent_ids
            .as_ref()
            .is_some_and(|ids| ids.len() > FILTER_LIST_MAX)
        {
            return Err(StoreError::Quota {
                what: "the filter's list of agents",
                limit: FILTER_LIST_MAX as u64,
            });
        }
        self.work.check()
    }

    fn push_conditions(&self, query: &mut Statement) {
        if let Some(ids) = &self.agent_ids {
            query.push(" AND agent_id IN (");
            query.push_list(ids.iter().map(ToString::to_string));
        }
        if let Some(statuses) = &self.statuses {
            query.push(" AND status IN (");
            query.push_list(statuses.iter().map(|status| status.as_str()));
        }
        query.push_if(" AND background = ", self.background);
        let reason = self.stop_reason.map(StopReason::as_str);
        query.push_if(" AND stop_reason = ", reason);
        self.thread.push_condition(query);
        push_agent_created_by(query, self.created_by);
        if self.active {
            query.push(ACTIVE);
        }
        self.work.push_conditions(query);
    }
}
