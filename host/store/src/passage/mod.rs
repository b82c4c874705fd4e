//! Passages: the texts of archives.

mod filter;
mod row;
mod search;

use std::collections::HashSet;

use bulkhead_domain::{
    Passage,
    id::{ArchiveId, PassageId},
};

use crate::{
    PAGE_MAX, Result, Store, StoreError,
    archive::missing,
    compiled_here,
    sql::{Durability, Statement, Transaction},
};

pub use filter::PassageFilter;
pub use row::{TAGS_MAX, TEXT_MAX, VECTOR_MAX};
pub use search::PassageSearch;

/// Passages that are stored at once.
pub const BATCH_MAX: usize = 1000;

impl Store {
    /// Stores new passages: all of them or, on an error, none. [`StoreError::NotFound`] where an
    /// archive is not there.
    #[compiled_here]
    pub async fn insert_passages(&self, passages: &[Passage]) -> Result<()> {
        if passages.len() > BATCH_MAX {
            return Err(StoreError::Quota {
                what: "passages stored at once",
                limit: BATCH_MAX as u64,
            });
        }
        let archives: HashSet<_> = passages.iter().map(|passage| passage.archive_id).collect();
        let mut transaction = self.database().begin(Durability::Power).await?;
        for id in &archives {
            expect_archive(&mut transaction, id).await?;
        }
        for passage in passages {
            row::insert(&mut transaction, passage).await?;
        }
        transaction.commit().await
    }

    /// The passage with this id.
    #[compiled_here]
    pub async fn passage(&self, id: &PassageId) -> Result<Option<Passage>> {
        let mut query = Statement::new("SELECT ");
        query.push(row::COLUMNS).push(" FROM passages WHERE id = ");
        query.push_value(id.to_string());
        let row = self.database().optional(query).await?;
        row.map(|row| row::record_at(&row, 0)).transpose()
    }

    /// Deletes a passage of an archive. Whether it was there.
    #[compiled_here]
    pub async fn delete_passage(&self, archive: &ArchiveId, id: &PassageId) -> Result<bool> {
        let mut transaction = self.database().begin(Durability::Power).await?;
        let delete = "DELETE FROM passages WHERE id = $1 AND archive_id = $2";
        let delete = Statement::new(delete)
            .bind(id.to_string())
            .bind(archive.to_string());
        let deleted = transaction.execute(delete).await? > 0;
        transaction.commit().await?;
        Ok(deleted)
    }

    /// The tags of an archive's passages, each once, sorted; the first [`PAGE_MAX`].
    #[compiled_here]
    pub async fn passage_tags(&self, archive: &ArchiveId) -> Result<Vec<String>> {
        let query = "SELECT DISTINCT tag FROM passage_tags
            WHERE passage_id IN (SELECT id FROM passages WHERE archive_id = $1)
            ORDER BY tag LIMIT $2";
        let query = Statement::new(query)
            .bind(archive.to_string())
            .bind(i64::from(PAGE_MAX));
        let rows = self.database().all(query).await?;
        rows.iter().map(|row| row.text(0)).collect()
    }
}

async fn expect_archive(transaction: &mut Transaction, id: &ArchiveId) -> Result<()> {
    let mut query = Statement::new("SELECT 1 FROM archives WHERE id = ");
    query.push_value(id.to_string());
    query.push(transaction.for_reference());
    let found = transaction.optional(query).await?;
    found.map(drop).ok_or_else(|| missing(id))
}
