//! One agent or block of an identity.

use bulkhead_domain::{
    Agent, Block,
    id::{AgentId, BlockId, IdentityId},
};

use super::row::{AGENTS, BLOCKS, Links, lock};
use crate::{
    AgentFilter, BlockFilter, Paging, Result, Store, StoreError,
    agent::missing,
    compiled_here,
    sql::{Durability, Statement},
};

impl Store {
    /// Gives an agent to an identity. Whether it did not belong to it.
    /// [`StoreError::NotFound`] where there is no such identity or agent.
    #[compiled_here]
    pub async fn attach_identity_to_agent(
        &self,
        identity: &IdentityId,
        agent: &AgentId,
    ) -> Result<bool> {
        self.attach(&AGENTS, identity, agent.to_string()).await
    }

    /// Takes an agent from an identity. Whether it belonged to it. [`StoreError::NotFound`]
    /// where there is no such identity.
    #[compiled_here]
    pub async fn detach_identity_from_agent(
        &self,
        identity: &IdentityId,
        agent: &AgentId,
    ) -> Result<bool> {
        let agent = agent.to_string();
        self.detach(&AGENTS, identity, " AND agent_id = ", agent)
            .await
    }

    /// Gives a block to an identity. Whether it did not belong to it.
    /// [`StoreError::NotFound`] where there is no such identity or block.
    #[compiled_here]
    pub async fn attach_identity_to_block(
        &self,
        identity: &IdentityId,
        block: &BlockId,
    ) -> Result<bool> {
        self.attach(&BLOCKS, identity, block.to_string()).await
    }

    /// Takes a block from an identity. Whether it belonged to it. [`StoreError::NotFound`]
    /// where there is no such identity.
    #[compiled_here]
    pub async fn detach_identity_from_block(
        &self,
        identity: &IdentityId,
        block: &BlockId,
    ) -> Result<bool> {
        let block = block.to_string();
        self.detach(&BLOCKS, identity, " AND block_id = ", block)
            .await
    }

    /// The agents of an identity, hidden ones too, by the time when they were made.
    /// [`StoreError::NotFound`] where there is no such identity.
    #[compiled_here]
    pub async fn agents_of_identity(
        &self,
        identity: &IdentityId,
        paging: &Paging,
    ) -> Result<Vec<Agent>> {
        self.expect_identity(identity).await?;
        let filter = AgentFilter {
            identity_id: Some(*identity),
            show_hidden: true,
            paging: paging.clone(),
            ..AgentFilter::default()
        };
        self.agents(&filter).await
    }

    /// The blocks of an identity, hidden ones too, by the time when they were made.
    /// [`StoreError::NotFound`] where there is no such identity.
    #[compiled_here]
    pub async fn blocks_of_identity(
        &self,
        identity: &IdentityId,
        paging: &Paging,
    ) -> Result<Vec<Block>> {
        self.expect_identity(identity).await?;
        let filter = BlockFilter {
            identity_id: Some(*identity),
            show_hidden: true,
            paging: paging.clone(),
            ..BlockFilter::default()
        };
        self.blocks(&filter).await
    }

    async fn attach(&self, links: &Links, identity: &IdentityId, id: String) -> Result<bool> {
        let mut transaction = self.database().begin(Durability::Process).await?;
        lock(&mut transaction, identity).await?;
        let attached = links.insert(&mut transaction, identity, &[id]).await;
        let attached = attached.map_err(|error| match error {
            StoreError::UnknownReferences { what, ids } => missing(what, ids.join(", ")),
            error => error,
        })?;
        transaction.commit().await?;
        Ok(attached > 0)
    }

    async fn detach(
        &self,
        links: &Links,
        identity: &IdentityId,
        which: &'static str,
        id: String,
    ) -> Result<bool> {
        let mut transaction = self.database().begin(Durability::Process).await?;
        lock(&mut transaction, identity).await?;
        let mut delete = Statement::new(links.delete).bind(identity.to_string());
        delete.push(which).push_value(id);
        let detached = transaction.execute(delete).await? > 0;
        transaction.commit().await?;
        Ok(detached)
    }

    async fn expect_identity(&self, id: &IdentityId) -> Result<()> {
        let known = Statement::new("SELECT 1 FROM identities WHERE id = $1").bind(id.to_string());
        let known = self.database().optional(known).await?;
        known.map(drop).ok_or_else(|| missing("identity", id))
    }
}
