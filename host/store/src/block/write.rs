//! One block, by its id.

use bulkhead_domain::{Block, Timestamp, id::BlockId};

use super::{
    attach::relabel,
    history,
    row::{self, by_id, record},
};
use crate::{
    Result, Store, StoreError,
    agent::missing,
    compiled_here,
    sql::{Durability, Statement, Transaction},
};

impl Store {
    /// Stores a block.
    #[compiled_here]
    pub async fn create_block(&self, block: &Block) -> Result<()> {
        self.create_blocks(std::slice::from_ref(block)).await
    }

    /// Stores blocks, [`super::BLOCKS_AT_ONCE_MAX`] at most: all of them or none.
    #[compiled_here]
    pub async fn create_blocks(&self, blocks: &[Block]) -> Result<()> {
        let mut transaction = self.database().begin(Durability::Process).await?;
        row::insert(&mut transaction, blocks, None).await?;
        transaction.commit().await
    }

    /// The block with this id.
    #[compiled_here]
    pub async fn block(&self, id: &BlockId) -> Result<Option<Block>> {
        let row = self.database().optional(by_id(id)).await?;
        row.map(|row| record(&row, 0)).transpose()
    }

    /// Changes a block; gives it as it is then. Nobody else changes it from before `edit` sees it
    /// until it is stored. Its id and when it was made stay what they were; its version is the
    /// next one, and `actor` stands in its history where the value is new. Where `edit` changes
    /// nothing, nothing is written.
    ///
    /// [`StoreError::NotFound`] where it is not there, [`StoreError::NameTaken`] where an agent
    /// that has it has another block with the new label; where `edit` fails, nothing is stored.
    pub async fn update_block<E: From<StoreError>>(
        &self,
        id: &BlockId,
        edit: impl FnOnce(&mut Block) -> Result<(), E> + Send,
        actor: &str,
    ) -> Result<Block, E> {
        let mut transaction = self.database().begin(Durability::Process).await?;
        let former = lock(&mut transaction, id).await?;
        let former = former.ok_or_else(|| missing("block", id))?;
        let mut block = former.clone();
        edit(&mut block)?;
        let block = put(&mut transaction, &former, block, actor).await?;
        transaction.commit().await?;
        Ok(block)
    }

    /// Deletes a block with its history; no agent has it any more. Whether it was there.
    #[compiled_here]
    pub async fn delete_block(&self, id: &BlockId) -> Result<bool> {
        let mut transaction = self.database().begin(Durability::Power).await?;
        let delete = Statement::new("DELETE FROM blocks WHERE id = $1").bind(id.to_string());
        let deleted = transaction.execute(delete).await? > 0;
        transaction.commit().await?;
        Ok(deleted)
    }
}

/// The block, which from here to the end of the transaction nobody else changes or deletes.
pub(super) async fn lock(transaction: &mut Transaction, id: &BlockId) -> Result<Option<Block>> {
    let mut query = by_id(id);
    query.push(transaction.for_update());
    let row = transaction.optional(query).await?;
    row.map(|row| record(&row, 0)).transpose()
}

/// Writes a block in place of `former`, which is locked.
pub(super) async fn put(
    transaction: &mut Transaction,
    former: &Block,
    mut block: Block,
    actor: &str,
) -> Result<Block> {
    block.id = former.id;
    block.created_at = former.created_at;
    block.version = former.version;
    block.updated_at = former.updated_at;
    if block == *former {
        return Ok(block);
    }
    block.version = former.version.saturating_add(1);
    block.updated_at = Timestamp::now();
    row::replace(transaction, former, &block).await?;
    if block.label != former.label {
        relabel(transaction, &block).await?;
    }
    if block.value != former.value {
        history::write_down(transaction, former, &block, actor).await?;
    }
    Ok(block)
}
