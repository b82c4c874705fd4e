//! What agents did and used: summed from their steps and runs, not counted beside them.

use std::collections::BTreeMap;

use bulkhead_domain::{Usage, id::AgentId, platform::ProjectId};

use crate::{
    Result, Store, StoreError,
    agent::limits::AGENTS_AT_ONCE_MAX,
    sql::Statement,
    step::{SUMS, usage},
};

/// Whose usage is asked for.
#[derive(Debug, Clone, Copy)]
pub enum UsageOf<'a> {
    /// That of these agents, [`AGENTS_AT_ONCE_MAX`] at most. Each is in the answer.
    Agents(&'a [AgentId]),
    /// That of the instances of this project, terminated ones too. Those that did nothing are not in
    /// the answer.
    Project(ProjectId),
}

/// What one agent did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentUsage {
    /// The agent.
    pub agent_id: AgentId,
    /// Its runs that ended as they should. One that waits for an approval has not; the one that
    /// answers it does.
    pub runs_completed: u64,
    /// Fuel of the calls of tools in its steps.
    pub fuel: u64,
    /// What each model was asked.
    pub models: Vec<ModelUsage>,
}

/// What the steps of one agent with one model used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelUsage {
    /// The provider's name of the model.
    pub model: Option<String>,
    /// `provider/model`. None for steps without one, and for those that were stored before it was a
    /// column.
    pub model_handle: Option<String>,
    /// The steps.
    pub steps: u64,
    /// Their tokens.
    pub usage: Usage,
}

impl Store {
    /// What agents did and used, ordered by their ids.
    pub async fn usage_of_agents(&self, of: UsageOf<'_>) -> Result<Vec<AgentUsage>> {
        let mut found = BTreeMap::new();
        if let UsageOf::Agents(agents) = of {
            if agents.len() > AGENTS_AT_ONCE_MAX {
                return Err(StoreError::Quota {
                    what: "the list of agents",
                    limit: AGENTS_AT_ONCE_MAX as u64,
                });
            }
            found.extend(agents.iter().map(|id| (*id, AgentUsage::none(*id))));
        }
        let queries = vec![steps(of), runs(of)];
        let mut answers = self.database().each(queries).await?.into_iter();
        for row in &answers.next().unwrap_or_default() {
            let id: AgentId = row.parsed(6, "agent of a step")?;
            let agent = found.entry(id).or_insert_with(|| AgentUsage::none(id));
            agent.fuel = agent.fuel.saturating_add(row.unsigned(10)?);
            agent.models.push(ModelUsage {
                model: row.optional_text(7)?,
                model_handle: row.optional_text(8)?,
                steps: row.unsigned(9)?,
                usage: usage(row)?,
            });
        }
        for row in &answers.next().unwrap_or_default() {
            let id: AgentId = row.parsed(0, "agent of a run")?;
            let agent = found.entry(id).or_insert_with(|| AgentUsage::none(id));
            agent.runs_completed = row.unsigned(1)?;
        }
        Ok(found.into_values().collect())
    }
}

impl AgentUsage {
    fn none(agent_id: AgentId) -> Self {
        Self {
            agent_id,
            runs_completed: 0,
            fuel: 0,
            models: Vec::new(),
        }
    }
}

/// A row for each agent and model: [`SUMS`] first.
fn steps(of: UsageOf<'_>) -> Statement {
    let mut query = Statement::new("SELECT ");
    query.push(SUMS).push(
        ", agent_id, model, model_handle, COUNT(*), CAST(SUM(fuel) AS BIGINT) FROM steps
        WHERE agent_id IN (",
    );
    push_agents(&mut query, of);
    query.push(" GROUP BY agent_id, model, model_handle ORDER BY agent_id, model, model_handle");
    query
}

/// A row for each agent.
fn runs(of: UsageOf<'_>) -> Statement {
    let mut query = Statement::new("SELECT agent_id, COUNT(*) FROM runs WHERE agent_id IN (");
    push_agents(&mut query, of);
    query.push(" AND status = 'completed' AND COALESCE(stop_reason, '') <> 'requires_approval'");
    query.push(" GROUP BY agent_id");
    query
}

/// The values of an `IN (` and its end.
fn push_agents(query: &mut Statement, of: UsageOf<'_>) {
    match of {
        UsageOf::Agents(agents) => {
            query.push_list(agents.iter().map(ToString::to_string));
        }
        UsageOf::Project(project) => {
            query.push("SELECT agent_id FROM instances WHERE project_id = ");
            query.push_value(project.to_string()).push(")");
        }
    }
}
