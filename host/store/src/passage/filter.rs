//! Lists of passages, and how many there are.

use bulkhead_domain::{
    Passage,
    id::{AgentId, ArchiveId},
};

use super::row::{COLUMNS, TEXT_MAX, record_at};
use crate::{
    Paging, Result, Store, check, compiled_here, fold::pattern, paging::Listing, sql::Statement,
};

pub(super) const LISTING: Listing = Listing {
    what: "passage",
    table: "passages",
    columns: COLUMNS,
    key: "created_at",
    bytes: "size",
};

/// Which passages to list. What is none does not matter.
#[derive(Debug, Clone, Default)]
pub struct PassageFilter {
    /// Of the archive that this agent looks up.
    pub agent_id: Option<AgentId>,
    /// Of this archive.
    pub archive_id: Option<ArchiveId>,
    /// With this somewhere in the first 32 KiB of the text, in upper or lower case.
    pub search: Option<String>,
    /// Which part of the list; ordered by the time when passages were made, by their authors'
    /// word.
    pub paging: Paging,
}

impl Store {
    /// Passages, the newest first unless the paging says otherwise.
    #[compiled_here]
    pub async fn passages(&self, filter: &PassageFilter) -> Result<Vec<Passage>> {
        filter.check()?;
        let conditions = |query: &mut Statement| filter.push_conditions(query);
        let rows = LISTING.page(self, &filter.paging, conditions).await?;
        rows.iter().map(|row| record_at(row, 0)).collect()
    }

    /// Bytes that the vectors of all passages take.
    #[compiled_here]
    pub async fn embedding_bytes(&self) -> Result<u64> {
        let query = "SELECT COALESCE(SUM(LENGTH(embedding)), 0) FROM passages";
        let row = self.database().optional(Statement::new(query)).await?;
        row.map_or(Ok(0), |row| row.unsigned(0))
    }

    /// How many passages there are, whatever the filter's page.
    #[compiled_here]
    pub async fn count_passages(&self, filter: &PassageFilter) -> Result<u64> {
        filter.check()?;
        let conditions = |query: &mut Statement| filter.push_conditions(query);
        LISTING.count(self, conditions).await
    }
}

impl PassageFilter {
    fn check(&self) -> Result<()> {
        let search = self.search.as_deref().unwrap_or_default();
        check::text("the search", search, TEXT_MAX)
    }

    fn push_conditions(&self, query: &mut Statement) {
        if let Some(agent_id) = self.agent_id {
            query.push(
                " AND archive_id IN
                (SELECT archive_id FROM agent_archives WHERE agent_id = ",
            );
            query.push_value(agent_id.to_string()).push(")");
        }
        let archive_id = self.archive_id.map(|id| id.to_string());
        query.push_if(" AND archive_id = ", archive_id);
        if let Some(search) = &self.search {
            query.push(" AND text_folded LIKE ");
            query.push_value(pattern(search)).push(" ESCAPE '\\'");
        }
    }
}
