//! Receipts: one for every call, columns to filter by and the whole document.

use bulkhead_domain::{Digest, Outcome, Receipt, Timestamp, id::ReceiptId};

use crate::{
    Result, Store, StoreError, check, compiled_here,
    sql::{Durability, Row, Statement, Transaction},
};

/// Rows of one INSERT, largest first: few texts to prepare, few statements a batch. Every
/// batch is cut into these.
const CHUNKS: [usize; 3] = [64, 8, 1];
/// Rows that one transaction of a prune deletes: other writers wait some milliseconds.
const PRUNE_CHUNK: i64 = 2000;

/// Which receipts to list. What is none does not matter.
#[derive(Debug, Clone, Default)]
pub struct ReceiptFilter {
    /// Of this component.
    pub digest: Option<Digest>,
    /// Of this tool.
    pub tool: Option<String>,
    /// On behalf of this agent.
    pub agent_id: Option<String>,
    /// That ended so.
    pub outcome: Option<Outcome>,
    /// Of calls that arrived at this time or later.
    pub since: Option<Timestamp>,
    /// Of calls that arrived before this time.
    pub until: Option<Timestamp>,
    /// How many at most; [`crate::PAGE_DEFAULT`] where not said, never over [`crate::PAGE_MAX`].
    pub limit: Option<u32>,
    /// Those that follow this one in the list.
    pub after: Option<ReceiptId>,
}

/// A receipt as its row, made before the transaction begins.
struct Prepared {
    id: String,
    started_at: Timestamp,
    digest: String,
    tool: String,
    agent_id: Option<String>,
    outcome: &'static str,
    document: String,
}

impl Store {
    /// Stores receipts: all of them or, on an error, none. One that is already stored is left
    /// as it is, so that a batch whose commit was not acknowledged can be sent again.
    #[compiled_here]
    pub async fn put_receipts(&self, receipts: &[Receipt]) -> Result<()> {
        if receipts.is_empty() {
            return Ok(());
        }
        let rows = receipts.iter().map(prepare).collect::<Result<Vec<_>>>()?;
        let mut rows = rows.into_iter();
        let mut transaction = self.database().begin(Durability::Process).await?;
        for size in CHUNKS {
            while rows.len() >= size {
                transaction
                    .execute(insert(rows.by_ref().take(size)))
                    .await?;
            }
        }
        transaction.commit().await
    }

    /// The receipt with this id.
    #[compiled_here]
    pub async fn receipt(&self, id: &ReceiptId) -> Result<Option<Receipt>> {
        let query = Statement::new("SELECT document FROM receipts WHERE id = $1");
        let row = self.database().optional(query.bind(id.to_string())).await?;
        row.as_ref().map(record).transpose()
    }

    /// Receipts, the newest call first.
    #[compiled_here]
    pub async fn receipts(&self, filter: &ReceiptFilter) -> Result<Vec<Receipt>> {
        let mut query = Statement::new("SELECT document FROM receipts WHERE 1 = 1");
        query.push_if(
            " AND digest = ",
            filter.digest.map(|digest| digest.to_string()),
        );
        query.push_if(" AND tool = ", filter.tool.as_deref().map(column));
        query.push_if(" AND agent_id = ", filter.agent_id.as_deref().map(column));
        query.push_if(" AND outcome = ", filter.outcome.map(Outcome::as_str));
        query.push_if(" AND started_at >= ", filter.since);
        query.push_if(" AND started_at < ", filter.until);
        if let Some(after) = &filter.after {
            let at = Statement::new("SELECT started_at FROM receipts WHERE id = $1");
            let at = self.database().optional(at.bind(after.to_string())).await?;
            let missing = || StoreError::NotFound {
                what: "receipt",
                id: after.to_string(),
            };
            let at = at.ok_or_else(missing)?.int(0)?;
            query.push(" AND (started_at, id) < (").push_value(at);
            query.push(", ").push_value(after.to_string()).push(")");
        }
        query.push(" ORDER BY started_at DESC, id DESC LIMIT ");
        query.push_value(check::page(filter.limit));
        self.database()
            .all(query)
            .await?
            .iter()
            .map(record)
            .collect()
    }

    /// Deletes the receipts of calls that arrived before `older_than`, and the oldest ones
    /// beyond `keep_max`; gives how many. Deletes in short transactions, the oldest first, so
    /// it may be dropped at any time and called again.
    #[compiled_here]
    pub async fn prune_receipts(
        &self,
        older_than: Option<Timestamp>,
        keep_max: Option<u64>,
    ) -> Result<u64> {
        let mut deleted = 0;
        if let Some(before) = older_than {
            deleted += self.prune_until(before.micros(), "").await?;
        }
        if let Some(keep) = keep_max {
            let newest = "SELECT started_at, id FROM receipts
                ORDER BY started_at DESC, id DESC LIMIT 1 OFFSET $1";
            let newest = Statement::new(newest).bind(i64::try_from(keep).unwrap_or(i64::MAX));
            if let Some(row) = self.database().optional(newest).await? {
                // Below the first that goes, which the second call then deletes too.
                let (at, id) = (row.int(0)?, row.text(1)?);
                deleted += self.prune_until(at, &(id + "~")).await?;
            }
        }
        Ok(deleted)
    }

    /// Deletes all that sort before this place.
    async fn prune_until(&self, at: i64, id: &str) -> Result<u64> {
        let mut total = 0;
        loop {
            let delete = "DELETE FROM receipts WHERE id IN (
                SELECT id FROM receipts WHERE (started_at, id) < ($1, $2)
                ORDER BY started_at, id LIMIT $3)";
            let delete = Statement::new(delete).bind(at).bind(id).bind(PRUNE_CHUNK);
            let mut transaction = self.database().begin(Durability::Process).await?;
            let deleted = transaction.execute(delete).await?;
            transaction.commit().await?;
            total += deleted;
            if deleted < PRUNE_CHUNK.unsigned_abs() {
                return Ok(total);
            }
        }
    }
}

/// Stores a receipt as a part of something larger. One that is already stored is left as it is.
pub(crate) async fn insert_receipt(transaction: &mut Transaction, receipt: &Receipt) -> Result<()> {
    let insert = insert(std::iter::once(prepare(receipt)?));
    transaction.defer(insert).await
}

fn prepare(receipt: &Receipt) -> Result<Prepared> {
    Ok(Prepared {
        id: receipt.id.to_string(),
        started_at: receipt.started_at,
        digest: receipt.digest.to_string(),
        tool: column(&receipt.tool),
        agent_id: receipt.agent_id.as_deref().map(column),
        outcome: receipt.outcome.as_str(),
        document: check::document("the receipt", receipt)?,
    })
}

fn insert(rows: impl Iterator<Item = Prepared>) -> Statement {
    let mut insert = Statement::new(
        "INSERT INTO receipts (id, started_at, digest, tool, agent_id, outcome, document) VALUES ",
    );
    for (index, row) in rows.enumerate() {
        insert
            .push(if index == 0 { "(" } else { ", (" })
            .push_value(row.id);
        insert.push(", ").push_value(row.started_at);
        insert.push(", ").push_value(row.digest);
        insert.push(", ").push_value(row.tool);
        insert.push(", ").push_value(row.agent_id);
        insert.push(", ").push_value(row.outcome);
        insert.push(", ").push_value(row.document).push(")");
    }
    insert.push(" ON CONFLICT (id) DO NOTHING");
    insert
}

/// A caller may ask for a tool of any name. What a column cannot hold must not cost the
/// receipt: the document has the name as it was, the column what of it can be searched.
pub(crate) fn column(text: &str) -> String {
    let end = text.floor_char_boundary(check::NAME_MAX);
    text[..end].replace('\0', "\u{fffd}")
}

fn record(row: &Row) -> Result<Receipt> {
    row.json(0, "receipt")
}
