//! A conversation as a row.

use bulkhead_domain::Conversation;

use crate::{
    Result, StoreError, check,
    fold::folded,
    sql::{Row, Statement, Transaction},
    thread,
};

/// Bytes of a summary.
pub const SUMMARY_MAX: usize = 64 << 10;
/// Blocks that a conversation has for itself.
pub const ISOLATED_BLOCKS_MAX: usize = 256;
/// Bytes of all that the document has.
const DOCUMENT_MAX: usize = 1 << 20;

/// The columns of [`record`], in its order.
pub(super) const COLUMNS: &str = "document, message_ids, last_message_at, updated_at";

/// Writes a conversation, in place of the one with its id, whose context stays.
pub(super) async fn put(transaction: &mut Transaction, conversation: &Conversation) -> Result<()> {
    let document = document(conversation)?;
    let put = "INSERT INTO conversations (id, agent_id, message_ids, summary_folded, is_deleted,
            last_message_at, created_at, updated_at, size, document)
        VALUES ($1, $2, $3, $4, 0, $5, $6, $7, $8, $9)
        ON CONFLICT (id) DO UPDATE SET
            summary_folded = excluded.summary_folded,
            last_message_at = excluded.last_message_at, updated_at = excluded.updated_at,
            size = excluded.size, document = excluded.document";
    let put = Statement::new(put)
        .bind(conversation.id.to_string())
        .bind(conversation.agent_id.to_string())
        .bind(thread::document(&conversation.in_context_message_ids)?)
        .bind(conversation.summary.as_deref().map(folded))
        .bind(conversation.last_message_at)
        .bind(conversation.created_at)
        .bind(conversation.updated_at)
        .bind(i64::try_from(document.len()).unwrap_or(i64::MAX))
        .bind(document);
    transaction.defer(put).await
}

fn document(conversation: &Conversation) -> Result<String> {
    let summary = conversation.summary.as_deref().unwrap_or_default();
    check::text("the conversation's summary", summary, SUMMARY_MAX)?;
    if conversation.isolated_block_ids.len() > ISOLATED_BLOCKS_MAX {
        return Err(StoreError::Quota {
            what: "blocks that a conversation has for itself",
            limit: ISOLATED_BLOCKS_MAX as u64,
        });
    }
    let mut conversation = conversation.clone();
    conversation.in_context_message_ids.clear();
    let what = "the conversation";
    let unwritable = |_| StoreError::Invalid {
        what,
        reason: "cannot be written as JSON",
    };
    let value = serde_json::to_value(&conversation).map_err(unwritable)?;
    check::json(what, &value, DOCUMENT_MAX, "is larger than 1 MiB")
}

pub(super) fn record(row: &Row) -> Result<Conversation> {
    let conversation: Conversation = row.json(0, "conversation")?;
    let last = row.optional_int(2)?;
    Ok(Conversation {
        in_context_message_ids: row.json(1, "messages of a conversation")?,
        last_message_at: last.map(bulkhead_domain::Timestamp::from_micros),
        updated_at: row.timestamp(3)?,
        ..conversation
    })
}
