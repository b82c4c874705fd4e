//! The blocks of an agent.

use bulkhead_domain::{
    Agent, Block,
    id::{AgentId, BlockId},
    platform::UserId,
};

use super::row::{COLUMNS, insert, record};
use crate::{
    AgentFilter, Paging, Result, Store, StoreError,
    agent::{limits, lock_blocks, missing},
    check, compiled_here,
    group::{lock_with_owned, mirror},
    sql::{Durability, Statement, Transaction},
};

impl Store {
    /// Gives an agent a block, after those that it has, and those that were made to look after its
    /// memory too. Whether it did not have it.
    ///
    /// [`StoreError::NotFound`] where there is no such agent or block, [`StoreError::NameTaken`]
    /// with the label where the agent has another block with it.
    #[compiled_here]
    pub async fn attach_block(&self, agent: &AgentId, block: &BlockId) -> Result<bool> {
        let mut transaction = self.database().begin(Durability::Process).await?;
        let blocks = lock_blocks(&mut transaction, &[*block]).await;
        let blocks = blocks.map_err(|error| match error {
            StoreError::UnknownReferences { what, .. } => missing(what, block),
            error => error,
        })?;
        let owned = lock_with_owned(&mut transaction, agent).await?;
        let mut attached = false;
        for (block, label) in &blocks {
            attached |= link(&mut transaction, agent, block, label).await?;
        }
        mirror(&mut transaction, &owned, &[], &blocks).await?;
        transaction.commit().await?;
        Ok(attached)
    }

    /// Makes a block and gives it to an agent, after those that it has, and to those that were made to
    /// look after its memory. It is whose the agent is,
    /// unless it says otherwise. Errors as [`Store::attach_block`]; then there is no such block.
    #[compiled_here]
    pub async fn create_block_for(&self, agent: &AgentId, block: &Block) -> Result<()> {
        let mut transaction = self.database().begin(Durability::Process).await?;
        let creator = "SELECT created_by_id FROM agents WHERE id = $1";
        let creator = Statement::new(creator).bind(agent.to_string());
        let creator = transaction.optional(creator).await?;
        let creator = creator.map_or(Ok(None), |row| row.optional_text(0))?;
        let block_only = std::slice::from_ref(block);
        insert(&mut transaction, block_only, creator.as_deref()).await?;
        let owned = lock_with_owned(&mut transaction, agent).await?;
        link(&mut transaction, agent, &block.id, &block.label).await?;
        let new = [(block.id, block.label.clone())];
        mirror(&mut transaction, &owned, &[], &new).await?;
        transaction.commit().await
    }

    /// Takes a block from an agent, and from those that were made to look after its memory; it stays
    /// where it is otherwise. Whether the agent had it.
    /// [`StoreError::NotFound`] where there is no such agent.
    #[compiled_here]
    pub async fn detach_block(&self, agent: &AgentId, block: &BlockId) -> Result<bool> {
        let mut transaction = self.database().begin(Durability::Process).await?;
        let owned = lock_with_owned(&mut transaction, agent).await?;
        let delete = "DELETE FROM agent_blocks WHERE agent_id = $1 AND block_id = $2";
        let delete = Statement::new(delete)
            .bind(agent.to_string())
            .bind(block.to_string());
        let detached = transaction.execute(delete).await? > 0;
        if detached {
            mirror(&mut transaction, &owned, &[*block], &[]).await?;
        }
        transaction.commit().await?;
        Ok(detached)
    }

    /// The block with this label, where the agent has one.
    #[compiled_here]
    pub async fn block_of_agent(&self, agent: &AgentId, label: &str) -> Result<Option<Block>> {
        check::text("the block's label", label, check::NAME_MAX)?;
        let mut query = Statement::new("SELECT ");
        query.push(COLUMNS);
        query.push(" FROM blocks WHERE id = (SELECT block_id FROM agent_blocks WHERE agent_id = ");
        query.push_value(agent.to_string());
        query.push(" AND label = ").push_value(label).push(")");
        let row = self.database().optional(query).await?;
        row.map(|row| record(&row, 0)).transpose()
    }

    /// Agents that have a block, hidden ones too, by the time when they were made; with `created_by`
    /// those of this user of the platform alone.
    /// [`StoreError::NotFound`] where there is no such block.
    #[compiled_here]
    pub async fn agents_of_block(
        &self,
        block: &BlockId,
        created_by: Option<UserId>,
        paging: &Paging,
    ) -> Result<Vec<Agent>> {
        let known = Statement::new("SELECT 1 FROM blocks WHERE id = $1").bind(block.to_string());
        let known = self.database().optional(known).await?;
        known.ok_or_else(|| missing("block", block))?;
        let filter = AgentFilter {
            block_id: Some(*block),
            show_hidden: true,
            created_by,
            paging: paging.clone(),
            ..AgentFilter::default()
        };
        self.agents(&filter).await
    }

    /// The ids of all agents that have a block, in the order in which they got it.
    #[compiled_here]
    pub async fn agent_ids_of_block(&self, block: &BlockId) -> Result<Vec<AgentId>> {
        let query = "SELECT agent_id FROM agent_blocks WHERE block_id = $1 ORDER BY seq";
        let query = Statement::new(query).bind(block.to_string());
        let rows = self.database().all(query).await?;
        rows.iter().map(|row| row.parsed(0, "agent id")).collect()
    }
}

pub(crate) fn label_taken(label: &str) -> StoreError {
    StoreError::NameTaken {
        what: "block of this agent",
        name: label.to_owned(),
    }
}

/// Attaches a block to an agent; both are locked, or new. Whether it was not attached.
async fn link(
    transaction: &mut Transaction,
    agent: &AgentId,
    block: &BlockId,
    label: &str,
) -> Result<bool> {
    let query = "SELECT block_id, label FROM agent_blocks WHERE agent_id = $1";
    let query = Statement::new(query).bind(agent.to_string());
    let rows = transaction.all(query).await?;
    for row in &rows {
        if row.text(0)? == block.to_string() {
            return Ok(false);
        }
        if row.text(1)? == label {
            return Err(label_taken(label));
        }
    }
    if rows.len() >= limits::BLOCKS_MAX {
        return Err(StoreError::Quota {
            what: "the agent's list of blocks",
            limit: limits::BLOCKS_MAX as u64,
        });
    }
    let insert = "INSERT INTO agent_blocks (agent_id, block_id, label) VALUES ($1, $2, $3)";
    let insert = Statement::new(insert)
        .bind(agent.to_string())
        .bind(block.to_string())
        .bind(label);
    transaction.defer(insert).await?;
    Ok(true)
}

/// Writes a block's label where it is attached. The block is locked; its agents are locked here,
/// so that none gets another block with this label meanwhile.
pub(super) async fn relabel(transaction: &mut Transaction, block: &Block) -> Result<()> {
    let id = block.id.to_string();
    let agents = "SELECT id FROM agents
        WHERE id IN (SELECT agent_id FROM agent_blocks WHERE block_id = $1) ORDER BY id";
    let mut agents = Statement::new(agents).bind(id.as_str());
    agents.push(transaction.for_update());
    transaction.all(agents).await?;
    let taken = "SELECT 1 FROM agent_blocks WHERE label = $2 AND block_id <> $1 AND agent_id IN
        (SELECT agent_id FROM agent_blocks WHERE block_id = $1) LIMIT 1";
    let taken = Statement::new(taken)
        .bind(id.as_str())
        .bind(block.label.as_str());
    if transaction.optional(taken).await?.is_some() {
        return Err(label_taken(&block.label));
    }
    let relabel = "UPDATE agent_blocks SET label = $2 WHERE block_id = $1";
    let relabel = Statement::new(relabel).bind(id).bind(block.label.as_str());
    transaction.defer(relabel).await
}
