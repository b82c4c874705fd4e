//! A block as a row.

use std::collections::BTreeSet;

use bulkhead_domain::{Block, id::BlockId};

use super::{BLOCK_BYTES_MAX, BLOCK_TAGS_MAX, BLOCK_VALUE_MAX, BLOCKS_AT_ONCE_MAX};
use crate::{
    Result, StoreError, check,
    fold::folded,
    sql::{Argument, Row, Statement, Transaction},
};

/// The columns of [`record`], in its order.
pub(crate) const COLUMNS: &str = "value, document";

/// Blocks of one statement: their values stay far below the number that both databases take.
const INSERT_CHUNK: usize = 500;

/// Whether a block can be stored: [`StoreError::Quota`] or [`StoreError::Invalid`] where a part of it
/// is larger than [`BLOCK_VALUE_MAX`], [`BLOCK_BYTES_MAX`] or [`check::NAME_MAX`] allow, or can't be
/// read back. For whoever wants to refuse it before anything else is written.
pub fn expect_storable(block: &Block) -> Result<()> {
    document(block).map(drop)
}

/// The document of a block: all of it but its value, each part within its limits.
fn document(block: &Block) -> Result<String> {
    check::name("the block's label", &block.label)?;
    check::text("the block's value", &block.value, BLOCK_VALUE_MAX)?;
    for (what, value) in [
        ("the block's template name", &block.template_name),
        ("the block's project", &block.project_id),
        ("the block's creator", &block.created_by_id),
    ] {
        check::text(what, value.as_deref().unwrap_or_default(), check::NAME_MAX)?;
    }
    let description = block.description.as_deref().unwrap_or_default();
    check::text("the block's description", description, BLOCK_BYTES_MAX)?;
    if block.tags.len() > BLOCK_TAGS_MAX {
        return Err(StoreError::Quota {
            what: "the block's list of tags",
            limit: BLOCK_TAGS_MAX as u64,
        });
    }
    for tag in &block.tags {
        check::text("the block's tag", tag, check::NAME_MAX)?;
    }
    let what = "the block";
    if block.version < 1 {
        let reason = "has a version below 1";
        return Err(StoreError::Invalid { what, reason });
    }
    let bare = Block {
        value: String::new(),
        ..block.clone()
    };
    let document = serde_json::to_value(bare).map_err(|_| StoreError::Invalid {
        what,
        reason: "cannot be written as JSON",
    })?;
    let reason = "is larger than 256 KiB without its value";
    check::json(what, &document, BLOCK_BYTES_MAX, reason)
}

fn size(document: &str, value: &str) -> i64 {
    i64::try_from(document.len() + value.len()).unwrap_or(i64::MAX)
}

fn description_folded(block: &Block) -> Option<String> {
    block.description.as_deref().map(folded)
}

/// Writes blocks that are not there yet. They are whose they say, or else `owner`'s.
pub(crate) async fn insert(
    transaction: &mut Transaction,
    blocks: &[Block],
    owner: Option<&str>,
) -> Result<()> {
    if blocks.len() > BLOCKS_AT_ONCE_MAX {
        return Err(StoreError::Quota {
            what: "the list of new blocks",
            limit: BLOCKS_AT_ONCE_MAX as u64,
        });
    }
    for chunk in blocks.chunks(INSERT_CHUNK) {
        let mut insert = Statement::new(
            "INSERT INTO blocks (id, label, label_folded, description_folded, value_folded,
                is_template, template_name, hidden, project_id, version, created_at, updated_at,
                size, value, document, created_by_id) VALUES ",
        );
        for (index, block) in chunk.iter().enumerate() {
            insert.push_row(index == 0, new_row(block, owner)?);
        }
        insert.push(" ON CONFLICT (id) DO NOTHING");
        if transaction.execute(insert).await? < chunk.len() as u64 {
            let ids: Vec<_> = chunk.iter().map(|block| block.id.to_string()).collect();
            return Err(StoreError::NameTaken {
                what: "block",
                name: ids.join(", "),
            });
        }
    }
    for block in blocks {
        insert_tags(transaction, &block.id, &block.tags).await?;
    }
    Ok(())
}

fn new_row(block: &Block, owner: Option<&str>) -> Result<[Argument; 16]> {
    let document = document(block)?;
    Ok([
        block.id.to_string().into(),
        block.label.as_str().into(),
        folded(&block.label).into(),
        description_folded(block).into(),
        folded(&block.value).into(),
        block.is_template.into(),
        block.template_name.as_deref().into(),
        block.hidden.into(),
        block.project_id.as_deref().into(),
        block.version.into(),
        block.created_at.into(),
        block.updated_at.into(),
        size(&document, &block.value).into(),
        block.value.as_str().into(),
        document.into(),
        block.created_by_id.as_deref().or(owner).into(),
    ])
}

/// Writes a block in place of `former`, whose row is locked. The value can be long, so it is
/// written only where it changed.
pub(super) async fn replace(
    transaction: &mut Transaction,
    former: &Block,
    block: &Block,
) -> Result<()> {
    let document = document(block)?;
    let replace = "UPDATE blocks SET label = $2, label_folded = $3, description_folded = $4,
        is_template = $5, template_name = $6, hidden = $7, project_id = $8, version = $9,
        updated_at = $10, size = $11, document = $12";
    let mut replace = Statement::new(replace)
        .bind(block.id.to_string())
        .bind(block.label.as_str())
        .bind(folded(&block.label))
        .bind(description_folded(block))
        .bind(block.is_template)
        .bind(block.template_name.as_deref())
        .bind(block.hidden)
        .bind(block.project_id.as_deref())
        .bind(block.version)
        .bind(block.updated_at)
        .bind(size(&document, &block.value))
        .bind(document);
    if block.value != former.value {
        replace
            .push(", value = ")
            .push_value(block.value.as_str())
            .push(", value_folded = ")
            .push_value(folded(&block.value));
    }
    replace.push(" WHERE id = $1");
    transaction.defer(replace).await?;
    if block.tags != former.tags {
        let delete = Statement::new("DELETE FROM block_tags WHERE block_id = $1");
        let delete = delete.bind(block.id.to_string());
        transaction.defer(delete).await?;
        insert_tags(transaction, &block.id, &block.tags).await?;
    }
    Ok(())
}

async fn insert_tags(
    transaction: &mut Transaction,
    block: &BlockId,
    tags: &[String],
) -> Result<()> {
    if tags.is_empty() {
        return Ok(());
    }
    let tags: BTreeSet<&str> = tags.iter().map(String::as_str).collect();
    let mut insert = Statement::new("INSERT INTO block_tags (block_id, tag) VALUES ");
    for (index, tag) in tags.into_iter().enumerate() {
        insert.push_row(index == 0, [block.to_string().into(), tag.into()]);
    }
    transaction.defer(insert).await
}

/// A query for the block with this id.
pub(super) fn by_id(id: &BlockId) -> Statement {
    let mut query = Statement::new("SELECT ");
    query.push(COLUMNS).push(" FROM blocks WHERE id = ");
    query.push_value(id.to_string());
    query
}

/// The block whose columns begin at `first`.
pub(crate) fn record(row: &Row, first: usize) -> Result<Block> {
    let mut block: Block = row.json(first + 1, "block")?;
    block.value = row.text(first)?;
    Ok(block)
}
