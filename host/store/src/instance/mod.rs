//! Instances: the agents of projects.
//!
//! - `row`: an instance as a row, with what its status is computed from; `filter`: lists and counts;
//!   `standing`: pausing, resuming and terminating.
//!
//! An instance is stored with its agent ([`crate::NewAgent::instance`]) and goes with it. Its name and
//! its standing are the agent's, and stand in the agent's row alone.

mod filter;
mod row;
mod standing;

use bulkhead_domain::{
    id::AgentId,
    platform::{Instance, InstanceFacts, ProjectId},
};

pub use filter::InstanceFilter;
pub(crate) use row::{expect_room, insert as insert_instance, note as note_instance};

use crate::{Result, Store, compiled_here};

/// Living instances of one project. All of them end with it in one transaction.
pub const INSTANCES_MAX: u64 = 1_000;

/// An instance, and what its status is computed from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstanceRecord {
    /// The instance.
    pub instance: Instance,
    /// What it does.
    pub facts: InstanceFacts,
}

impl Store {
    /// An instance of a project; none where it is in another one, and where the project was deleted.
    #[compiled_here]
    pub async fn instance(
        &self,
        project: ProjectId,
        agent: AgentId,
    ) -> Result<Option<InstanceRecord>> {
        let mut query = row::by_agent(agent);
        query.push(" AND i.project_id = ");
        query.push_value(project.to_string());
        query.push(row::IN_LIVING_PROJECT);
        let row = self.database().optional(query).await?;
        row.as_ref().map(row::record).transpose()
    }

    /// What makes this agent an instance, where it is one; of a deleted project too.
    #[compiled_here]
    pub async fn instance_of(&self, agent: AgentId) -> Result<Option<Instance>> {
        let row = self.database().optional(row::by_agent(agent)).await?;
        row.map(|row| Ok(row::record(&row)?.instance)).transpose()
    }
}
