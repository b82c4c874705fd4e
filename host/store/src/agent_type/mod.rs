//! Types of agents: what instances are made from.
//!
//! - `row`: a type as a row; `filter`: lists and counts; `limits`: what is stored at most.

mod filter;
pub mod limits;
mod row;

use bulkhead_domain::{
    Timestamp,
    platform::{AgentType, AgentTypeId},
};

pub use filter::AgentTypeFilter;
pub(crate) use row::expect_active;

use crate::{
    Result, Store, StoreError,
    agent::missing,
    check, compiled_here,
    sql::{Durability, Statement},
};

impl Store {
    /// Stores a new type. [`StoreError::NameTaken`] with the slug where another one has it.
    #[compiled_here]
    pub async fn create_agent_type(&self, agent_type: &AgentType) -> Result<()> {
        let mut transaction = self.database().begin(Durability::Power).await?;
        row::insert(&mut transaction, agent_type).await?;
        transaction.commit().await
    }

    /// The type with this id.
    #[compiled_here]
    pub async fn agent_type(&self, id: AgentTypeId) -> Result<Option<AgentType>> {
        let row = self.database().optional(row::by_id(id)).await?;
        row.as_ref().map(row::record).transpose()
    }

    /// The type with this slug.
    #[compiled_here]
    pub async fn agent_type_by_slug(&self, slug: &str) -> Result<Option<AgentType>> {
        // What is no slug is nobody's.
        if check::name("the slug", slug).is_err() {
            return Ok(None);
        }
        let query = Statement::new("SELECT document FROM agent_types WHERE slug = $1").bind(slug);
        let row = self.database().optional(query).await?;
        row.as_ref().map(row::record).transpose()
    }

    /// Changes a type; gives it as it is then. Nobody else changes it from before `edit` sees it
    /// until it is stored, so that two who change different parts of it undo nothing of each other.
    /// Its id and when it was made stay what they were. Instances stay what they are.
    ///
    /// [`StoreError::NotFound`] where it is not there, [`StoreError::NameTaken`] where another one
    /// has the new slug; where `edit` fails, nothing is stored.
    pub async fn update_agent_type<E: From<StoreError>>(
        &self,
        id: AgentTypeId,
        edit: impl FnOnce(&mut AgentType) -> Result<(), E> + Send,
    ) -> Result<AgentType, E> {
        let mut transaction = self.database().begin(Durability::Power).await?;
        let mut query = row::by_id(id);
        query.push(transaction.for_update());
        let former = transaction.optional(query).await?;
        let former = row::record(&former.ok_or_else(|| missing("agent type", id))?)?;
        let mut agent_type = former.clone();
        edit(&mut agent_type)?;
        agent_type.id = former.id;
        agent_type.created_at = former.created_at;
        agent_type.updated_at = Timestamp::now();
        row::replace(&mut transaction, &agent_type).await?;
        transaction.commit().await?;
        Ok(agent_type)
    }
}
