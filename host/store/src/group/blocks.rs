//! Blocks that a group shares: its agents have them, and the one that leads it.

use bulkhead_domain::id::{AgentId, BlockId, GroupId};

use super::{
    MEMBERS_MAX,
    follow::mirror,
    row::{by_id, lock},
};
use crate::{
    Result, Store, StoreError,
    agent::{lock_blocks, missing},
    compiled_here,
    sql::{Durability, Statement, Transaction},
};

/// The agents of a group, and the one that leads it.
const OF_GROUP: &str = "SELECT agent_id FROM group_agents WHERE group_id = $1 UNION
    SELECT manager_agent_id FROM agent_groups WHERE id = $1";

impl Store {
    /// Gives a block to a group, to its agents, to the one that leads it, and to those that were made to
    /// look after the memory of any of them. Who comes to the group later does not get it.
    ///
    /// [`StoreError::NotFound`] where there is no such group or block, [`StoreError::NameTaken`] with
    /// the label where one of the agents has another block with it, [`StoreError::Quota`] where the
    /// group or an agent would have too many.
    #[compiled_here]
    pub async fn attach_group_block(&self, group: &GroupId, block: &BlockId) -> Result<()> {
        let mut transaction = self.database().begin(Durability::Process).await?;
        let blocks = lock_blocks(&mut transaction, &[*block]).await;
        let blocks = blocks.map_err(|error| match error {
            StoreError::UnknownReferences { what, .. } => missing(what, block),
            error => error,
        })?;
        let agents = lock_all(&mut transaction, group).await?;
        let shared = "SELECT COUNT(*) FROM group_blocks WHERE group_id = $1 AND block_id <> $2";
        let shared = transaction.optional(of(shared, group, block)).await?;
        if shared.map_or(Ok(0), |row| row.unsigned(0))? >= MEMBERS_MAX as u64 {
            return Err(StoreError::Quota {
                what: "the group's list of agents or blocks",
                limit: MEMBERS_MAX as u64,
            });
        }
        let insert = "INSERT INTO group_blocks (group_id, block_id) VALUES ($1, $2)
            ON CONFLICT (group_id, block_id) DO NOTHING";
        transaction.defer(of(insert, group, block)).await?;
        mirror(&mut transaction, &agents, &[], &blocks).await?;
        transaction.commit().await
    }

    /// Takes a block that a group shares from it and from its agents; those keep it otherwise. Errors as
    /// [`Store::attach_group_block`].
    #[compiled_here]
    pub async fn detach_group_block(&self, group: &GroupId, block: &BlockId) -> Result<()> {
        let mut transaction = self.database().begin(Durability::Process).await?;
        let agents = lock_all(&mut transaction, group).await?;
        let delete = "DELETE FROM group_blocks WHERE group_id = $1 AND block_id = $2";
        if transaction.execute(of(delete, group, block)).await? == 0 {
            return Err(missing("block", block));
        }
        mirror(&mut transaction, &agents, &[*block], &[]).await?;
        transaction.commit().await
    }
}

fn of(text: &'static str, group: &GroupId, block: &BlockId) -> Statement {
    let statement = Statement::new(text).bind(group.to_string());
    statement.bind(block.to_string())
}

/// Locks a group after its agents and those that were made for them; gives all of these.
/// [`StoreError::NotFound`] where it is not there.
async fn lock_all(transaction: &mut Transaction, group: &GroupId) -> Result<Vec<AgentId>> {
    // Told before agents are locked for nothing.
    if transaction.optional(by_id(group)).await?.is_none() {
        return Err(missing("group", group));
    }
    let mut query = Statement::new("SELECT id FROM agents WHERE id IN (");
    query.push(OF_GROUP);
    query.push(
        ") OR id IN (SELECT m.agent_id FROM group_agents m JOIN agent_groups g ON g.id = m.group_id
        WHERE m.is_owned = 1 AND g.manager_agent_id IN (",
    );
    query.push(OF_GROUP).push(")) ORDER BY id");
    query.push(transaction.for_update());
    let rows = transaction.all(query.bind(group.to_string())).await?;
    // Who joins or leaves meanwhile does so after this.
    lock(transaction, group).await?;
    rows.iter().map(|row| row.parsed(0, "agent id")).collect()
}
