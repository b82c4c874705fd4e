//! Lists of steps.

use bulkhead_domain::{
    Step, Timestamp,
    id::{AgentId, RunId},
    platform::UserId,
};

use super::row::{COLUMNS, record};
use crate::{
    Paging, Result, Store, compiled_here,
    owner::push_agent_created_by,
    paging::{Listing, check_filter},
    sql::Statement,
};

const LISTING: Listing = Listing {
    what: "step",
    table: "steps",
    columns: COLUMNS,
    key: "created_at",
    bytes: "size",
};

/// Which steps to list. What is none does not matter.
#[derive(Debug, Clone, Default)]
pub struct StepFilter {
    /// Of this agent.
    pub agent_id: Option<AgentId>,
    /// Of this run.
    pub run_id: Option<RunId>,
    /// That called this model, by the provider's name of it.
    pub model: Option<String>,
    /// That began at this time or later.
    pub since: Option<Timestamp>,
    /// That began before this time.
    pub until: Option<Timestamp>,
    /// With one of these traces (`provider_trace-<uuid>`).
    pub trace_ids: Option<Vec<String>>,
    /// With this feedback.
    pub feedback: Option<String>,
    /// With feedback, or without.
    pub has_feedback: Option<bool>,
    /// With one of these tags.
    pub tags: Option<Vec<String>>,
    /// Of this project.
    pub project_id: Option<String>,
    /// Of agents that this user of the platform made.
    pub created_by: Option<UserId>,
    /// Which part of the list; ordered by the time when steps began.
    pub paging: Paging,
}

impl Store {
    /// Steps, the newest first unless the paging says otherwise.
    #[compiled_here]
    pub async fn steps(&self, filter: &StepFilter) -> Result<Vec<Step>> {
        filter.check()?;
        let conditions = |query: &mut Statement| filter.push_conditions(query);
        let rows = LISTING.page(self, &filter.paging, conditions).await?;
        rows.iter().map(record).collect()
    }
}

impl StepFilter {
    fn check(&self) -> Result<()> {
        let lists = [&self.trace_ids, &self.tags].into_iter().flatten();
        for list in lists {
            check_filter("the filter of steps", list.iter().map(String::as_str))?;
        }
        let single = [&self.model, &self.feedback, &self.project_id];
        let single = single.into_iter().flatten().map(String::as_str);
        check_filter("the filter of steps", single)
    }

    fn push_conditions(&self, query: &mut Statement) {
        let agent_id = self.agent_id.map(|id| id.to_string());
        query.push_if(" AND agent_id = ", agent_id);
        query.push_if(" AND run_id = ", self.run_id.map(|id| id.to_string()));
        query.push_if(" AND model = ", self.model.as_deref());
        query.push_if(" AND created_at >= ", self.since);
        query.push_if(" AND created_at < ", self.until);
        query.push_if(" AND feedback = ", self.feedback.as_deref());
        query.push_if(" AND project_id = ", self.project_id.as_deref());
        push_agent_created_by(query, self.created_by);
        match self.has_feedback {
            Some(true) => query.push(" AND feedback IS NOT NULL"),
            Some(false) => query.push(" AND feedback IS NULL"),
            None => query,
        };
        if let Some(ids) = &self.trace_ids {
            query.push(" AND id IN (SELECT step_id FROM traces WHERE id IN (");
            query.push_list(ids.iter().map(String::as_str));
            query.push(")");
        }
        if let Some(tags) = &self.tags {
            query.push(" AND id IN (SELECT step_id FROM step_tags WHERE tag IN (");
            query.push_list(tags.iter().map(String::as_str));
            query.push(")");
        }
    }
}
