//! What a run cost and used.

use std::collections::{BTreeSet, HashMap};

use bulkhead_domain::{
    Usage,
    id::{AgentId, RunId},
};

use crate::{
    Result, Store, compiled_here,
    message::lists,
    sql::Statement,
    step::{SUMS, usage},
};

/// What a run did, in numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunMetrics {
    /// The run.
    pub run_id: RunId,
    /// Its agent.
    pub agent_id: AgentId,
    /// When it began, in nanoseconds since the epoch.
    pub run_start_ns: i64,
    /// How long it took, in nanoseconds; none while it works.
    pub run_ns: Option<i64>,
    /// Its steps.
    pub num_steps: u64,
    /// The tools that gave it results, by name.
    pub tools_used: Vec<ToolUsed>,
}

/// A tool that gave a run a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolUsed {
    /// Its name.
    pub name: String,
    /// Its id; none where no tool has that name (any more).
    pub id: Option<String>,
}

impl Store {
    /// What all steps of a run cost; none where there is no such run.
    #[compiled_here]
    pub async fn run_usage(&self, id: &RunId) -> Result<Option<Usage>> {
        if self.run(id).await?.is_none() {
            return Ok(None);
        }
        let mut query = Statement::new("SELECT ");
        query.push(SUMS).push(" FROM steps WHERE run_id = ");
        query.push_value(id.to_string());
        let row = self.database().optional(query).await?;
        row.as_ref().map(usage).transpose()
    }

    /// What a run did, in numbers; none where there is no such run.
    #[compiled_here]
    pub async fn run_metrics(&self, id: &RunId) -> Result<Option<RunMetrics>> {
        let Some(run) = self.run(id).await? else {
            return Ok(None);
        };
        let steps = Statement::new("SELECT COUNT(*) FROM steps WHERE run_id = $1");
        let steps = self.database().optional(steps.bind(id.to_string())).await?;
        Ok(Some(RunMetrics {
            run_id: run.id,
            agent_id: run.agent_id,
            run_start_ns: run.created_at.micros().saturating_mul(1000),
            run_ns: run.total_duration_ns,
            num_steps: steps.map_or(Ok(0), |row| row.unsigned(0))?,
            tools_used: self.tools_used(id).await?,
        }))
    }

    async fn tools_used(&self, id: &RunId) -> Result<Vec<ToolUsed>> {
        let query = "SELECT DISTINCT tool_names FROM messages
            WHERE run_id = $1 AND tool_names IS NOT NULL";
        let query = Statement::new(query).bind(id.to_string());
        let mut names = BTreeSet::new();
        for row in &self.database().all(query).await? {
            names.extend(row.json::<Vec<String>>(0, "tools of a message")?);
        }
        let names: Vec<_> = names.into_iter().collect();
        let mut ids = HashMap::new();
        for list in lists(&names) {
            // A model may have called a name that Postgres could not compare.
            let list = list.into_iter().filter(|name| !name.contains('\0'));
            let mut query = Statement::new("SELECT name, id FROM tools WHERE name IN (");
            query.push_list(list);
            for row in &self.database().all(query).await? {
                ids.insert(row.text(0)?, row.text(1)?);
            }
        }
        let tool = |name: String| ToolUsed {
            id: ids.remove(&name),
            name,
        };
        Ok(names.into_iter().map(tool).collect())
    }
}
