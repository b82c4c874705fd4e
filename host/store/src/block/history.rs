//! The values that a block had.

use bulkhead_domain::{Block, BlockChange, id::BlockId};

use super::row::{by_id, record};
use crate::{
    Result, Store, check, compiled_here,
    sql::{Statement, Transaction},
};

/// Values of one block that are kept, the newest. With the largest value, 100 MiB.
pub const HISTORY_MAX: u32 = 100;

impl Store {
    /// The values that a block had and has, the newest first, [`HISTORY_MAX`] at most. Empty
    /// where there is no such block.
    #[compiled_here]
    pub async fn block_history(
        &self,
        id: &BlockId,
        limit: Option<u32>,
    ) -> Result<Vec<BlockChange>> {
        let query = "SELECT version, value, actor, at FROM block_changes WHERE block_id = $1
            ORDER BY version DESC LIMIT $2";
        let query = Statement::new(query)
            .bind(id.to_string())
            .bind(check::page(limit));
        let rows = self.database().all(query).await?;
        if rows.is_empty() && limit != Some(0) {
            let row = self.database().optional(by_id(id)).await?;
            let block = row.map(|row| record(&row, 0)).transpose()?;
            return Ok(block.iter().map(first).collect());
        }
        let change = |row: &crate::sql::Row| {
            Ok(BlockChange {
                version: row.int(0)?,
                value: row.text(1)?,
                actor: row.text(2)?,
                at: row.timestamp(3)?,
            })
        };
        rows.iter().map(change).collect()
    }
}

/// The value with which a block was made; that is the one that it has for as long as nothing of
/// it was written down.
fn first(block: &Block) -> BlockChange {
    BlockChange {
        version: FIRST_VERSION.min(block.version),
        value: block.value.clone(),
        actor: block.created_by_id.clone().unwrap_or_default(),
        at: block.created_at,
    }
}

/// The version of a new block.
const FIRST_VERSION: i64 = 1;

/// Writes down that a block has a new value, and before the first time the one that it had. The
/// block is locked.
pub(super) async fn write_down(
    transaction: &mut Transaction,
    former: &Block,
    block: &Block,
    actor: &str,
) -> Result<()> {
    check::text("the actor", actor, check::NAME_MAX)?;
    let id = block.id.to_string();
    let first = first(former);
    let insert = "INSERT INTO block_changes (block_id, version, value, actor, at)
        SELECT id, $2, $3, $4, $5 FROM blocks WHERE id = $1
            AND NOT EXISTS (SELECT 1 FROM block_changes WHERE block_id = $1)";
    let insert = Statement::new(insert)
        .bind(id.as_str())
        .bind(first.version)
        .bind(first.value)
        .bind(first.actor)
        .bind(first.at);
    transaction.defer(insert).await?;
    let insert = "INSERT INTO block_changes (block_id, version, value, actor, at)
        VALUES ($1, $2, $3, $4, $5)";
    let insert = Statement::new(insert)
        .bind(id.as_str())
        .bind(block.version)
        .bind(block.value.as_str())
        .bind(actor)
        .bind(block.updated_at);
    transaction.defer(insert).await?;
    let prune = "DELETE FROM block_changes WHERE block_id = $1 AND version <= (
        SELECT version FROM block_changes WHERE block_id = $1
        ORDER BY version DESC LIMIT 1 OFFSET $2)";
    let prune = Statement::new(prune).bind(id).bind(i64::from(HISTORY_MAX));
    transaction.defer(prune).await
}
