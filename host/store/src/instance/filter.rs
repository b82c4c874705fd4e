//! Lists of instances, and how many do what.

use std::collections::HashMap;

use bulkhead_domain::platform::{AgentTypeId, InstanceFacts, InstanceStatus, ProjectId, Standing};

use super::{
    InstanceRecord,
    row::{COLUMNS, FROM, IN_LIVING_PROJECT, record},
};
use crate::{
    NumberedPage, Result, Store, compiled_here, numbered::NumberedListing, sql::Statement,
};

const LISTING: NumberedListing = NumberedListing {
    columns: COLUMNS,
    from: FROM,
    order: "i.seq",
};

/// Which instances to list. What is none does not matter.
#[derive(Debug, Clone)]
pub struct InstanceFilter {
    /// Of this project.
    pub project_id: ProjectId,
    /// That stand so.
    pub standing: Option<Standing>,
    /// Made from this type.
    pub agent_type_id: Option<AgentTypeId>,
    /// Which page.
    pub page: NumberedPage,
}

impl InstanceFilter {
    /// All instances of this project, the first page.
    pub fn of(project_id: ProjectId) -> Self {
        Self {
            project_id,
            standing: None,
            agent_type_id: None,
            page: NumberedPage::default(),
        }
    }
}

impl Store {
    /// The instances of a page, the oldest first, and how many there are in all. A deleted project
    /// has none.
    #[compiled_here]
    pub async fn list_instances(
        &self,
        filter: &InstanceFilter,
    ) -> Result<(Vec<InstanceRecord>, u64)> {
        let conditions = |query: &mut Statement| {
            query.push(" AND i.project_id = ");
            query.push_value(filter.project_id.to_string());
            query.push(IN_LIVING_PROJECT);
            query.push_if(" AND a.standing = ", filter.standing.map(Standing::as_str));
            let agent_type = filter.agent_type_id.map(|id| id.to_string());
            query.push_if(" AND i.agent_type_id = ", agent_type);
        };
        let (rows, total) = LISTING.page(self, filter.page, conditions).await?;
        let instances = rows.iter().map(record).collect::<Result<Vec<_>>>()?;
        Ok((instances, total))
    }

    /// How many instances of a project do what; what none does is missing.
    #[compiled_here]
    pub async fn instance_counts(
        &self,
        project: ProjectId,
    ) -> Result<HashMap<InstanceStatus, u64>> {
        let query = "SELECT standing, last_stop_reason, active, COUNT(*) FROM (
                SELECT a.standing, a.last_stop_reason,
                    CAST(CASE WHEN EXISTS (SELECT 1 FROM runs WHERE runs.agent_id = i.agent_id
                        AND status IN ('created', 'running')) THEN 1 ELSE 0 END AS BIGINT) AS active
                FROM instances i JOIN agents a ON a.id = i.agent_id
                WHERE i.project_id = $1) AS facts
            GROUP BY standing, last_stop_reason, active";
        let query = Statement::new(query).bind(project.to_string());
        let mut counts = HashMap::new();
        for row in &self.database().all(query).await? {
            let facts = InstanceFacts {
                standing: row.parsed(0, "standing of an agent")?,
                last_stop_reason: row.optional_parsed(1, "stop reason of an agent")?,
                has_active_run: row.int(2)? != 0,
            };
            *counts.entry(facts.status()).or_default() += row.unsigned(3)?;
        }
        Ok(counts)
    }
}
