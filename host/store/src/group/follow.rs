//! Agents that were made to look after the memory of another one: they have its blocks, and go with
//! it.

use bulkhead_domain::id::{AgentId, BlockId};

use crate::{
    Result, Store, StoreError,
    agent::{limits, missing},
    block::label_taken,
    compiled_here,
    sql::{Row, Statement, Transaction},
};

/// The agents that were made for this one.
const OWNED: &str = "SELECT m.agent_id FROM group_agents m JOIN agent_groups g ON g.id = m.group_id
    WHERE m.is_owned = 1 AND g.manager_agent_id = $1";

impl Store {
    /// The agents that were made to look after the memory of this one, which go with it.
    #[compiled_here]
    pub async fn sleeptime_agents_of(&self, agent: &AgentId) -> Result<Vec<AgentId>> {
        let query = Statement::new(OWNED).bind(agent.to_string());
        ids(&self.database().all(query).await?)
    }
}

fn ids(rows: &[Row]) -> Result<Vec<AgentId>> {
    rows.iter().map(|row| row.parsed(0, "agent id")).collect()
}

/// Locks an agent and those that were made for it until the end of the transaction; gives the latter.
/// [`StoreError::NotFound`] where it is not there.
pub(crate) async fn lock_with_owned(
    transaction: &mut Transaction,
    agent: &AgentId,
) -> Result<Vec<AgentId>> {
    let mut query = Statement::new("SELECT id FROM agents WHERE id = $1 OR id IN (");
    query.push(OWNED).push(") ORDER BY id");
    query.push(transaction.for_update());
    let query = query.bind(agent.to_string());
    let mut locked = ids(&transaction.all(query).await?)?;
    let count = locked.len();
    locked.retain(|id| id != agent);
    if locked.len() == count {
        return Err(missing("agent", agent));
    }
    Ok(locked)
}

/// Gives agents that were made for another one the blocks that it got, and takes those from them that
/// it lost. All agents and the new blocks are locked.
///
/// [`StoreError::NameTaken`] with the label where one of them has another block with it, and
/// [`StoreError::Quota`] where one would have too many.
pub(crate) async fn mirror(
    transaction: &mut Transaction,
    owned: &[AgentId],
    lost: &[BlockId],
    got: &[(BlockId, String)],
) -> Result<()> {
    for agent in owned {
        let agent = agent.to_string();
        for block in lost {
            let delete = "DELETE FROM agent_blocks WHERE agent_id = $1 AND block_id = $2";
            let delete = Statement::new(delete).bind(agent.as_str());
            transaction.defer(delete.bind(block.to_string())).await?;
        }
        if got.is_empty() {
            continue;
        }
        let query = "SELECT block_id, label FROM agent_blocks WHERE agent_id = $1";
        let rows = transaction.all(Statement::new(query).bind(agent.as_str()));
        let mut had = Vec::new();
        for row in &rows.await? {
            had.push((row.parsed::<BlockId>(0, "block id")?, row.text(1)?));
        }
        for (block, label) in got {
            if had.iter().any(|(id, _)| id == block) {
                continue;
            }
            if had.iter().any(|(_, known)| known == label) {
                return Err(label_taken(label));
            }
            if had.len() >= limits::BLOCKS_MAX {
                return Err(StoreError::Quota {
                    what: "the list of blocks of one of the agents",
                    limit: limits::BLOCKS_MAX as u64,
                });
            }
            had.push((*block, label.clone()));
            let insert = "INSERT INTO agent_blocks (agent_id, block_id, label) VALUES ($1, $2, $3)";
            let insert = Statement::new(insert).bind(agent.as_str());
            let insert = insert.bind(block.to_string()).bind(label.as_str());
            transaction.defer(insert).await?;
        }
    }
    Ok(())
}
