//! What an agent's tools write: values of the blocks that the agent has.

use bulkhead_domain::{
    Block,
    id::{AgentId, BlockId},
};

use super::write::{lock, put};
use crate::{
    Result, Store, StoreError,
    agent::missing,
    check, compiled_here,
    sql::{Durability, Statement},
};

impl Store {
    /// Writes the value of an agent's block if it has the version `expected`, or any version
    /// where that is none; gives the block as it is then. `actor` stands in its history.
    ///
    /// [`StoreError::NotFound`] with the label where the agent has no such block,
    /// [`StoreError::ReadOnly`] where tools may not change it, [`StoreError::Conflict`] where it
    /// has another version.
    #[compiled_here]
    pub async fn set_block_value(
        &self,
        agent: &AgentId,
        label: &str,
        value: &str,
        expected: Option<i64>,
        actor: &str,
    ) -> Result<Block> {
        check::text("the block's label", label, check::NAME_MAX)?;
        let mut transaction = self.database().begin(Durability::Process).await?;
        let find = "SELECT block_id FROM agent_blocks WHERE agent_id = $1 AND label = $2";
        let find = || Statement::new(find).bind(agent.to_string()).bind(label);
        let none = || missing("block", label);
        let row = transaction.optional(find()).await?.ok_or_else(none)?;
        let id: BlockId = row.parsed(0, "block id")?;
        let former = lock(&mut transaction, &id).await?.ok_or_else(none)?;
        // While the lock was waited for, the agent may have lost it, or it may have been named
        // otherwise.
        let row = transaction.optional(find()).await?.ok_or_else(none)?;
        if row.parsed::<BlockId>(0, "block id")? != id {
            return Err(none());
        }
        if former.read_only {
            let id = label.to_owned();
            return Err(StoreError::ReadOnly { what: "block", id });
        }
        if expected.is_some_and(|expected| expected != former.version) {
            return Err(StoreError::Conflict {
                current: former.version.unsigned_abs(),
            });
        }
        let block = Block {
            value: value.to_owned(),
            ..former.clone()
        };
        let block = put(&mut transaction, &former, block, actor).await?;
        transaction.commit().await?;
        Ok(block)
    }
}
