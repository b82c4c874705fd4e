//! The texts of files in pieces, as they are searched.

use bulkhead_domain::{
    FilePassage,
    id::{AgentId, FileId, FolderId},
};

use crate::{
    Paging, Result, Store, compiled_here,
    paging::Listing,
    search::Words,
    sql::{Row, Statement},
};

const LISTING: Listing = Listing {
    what: "passage",
    table: "file_passages",
    columns: "id, folder_id, file_id, (SELECT f.name FROM folder_files f WHERE f.id = file_id),
        (SELECT d.name FROM folders d WHERE d.id = folder_id), line, text, created_at",
    key: "created_at",
    bytes: "size",
};

/// Which passages to list.
#[derive(Debug, Clone)]
pub struct FilePassageFilter {
    /// Of the files of this folder.
    pub folder_id: FolderId,
    /// Of this file alone.
    pub file_id: Option<FileId>,
    /// Which part of the list; ordered by the time when passages were made.
    pub paging: Paging,
}

/// Which passages to search for.
#[derive(Debug, Clone)]
pub struct FilePassageSearch {
    /// Of the folders of this agent.
    pub agent_id: AgentId,
    /// With one of these words at least, in upper or lower case; 16 KiB at most.
    pub query: String,
    /// How many at most; [`crate::PAGE_DEFAULT`] where not said, never over [`crate::PAGE_MAX`].
    pub limit: Option<u32>,
}

impl Store {
    /// Passages of files, the newest first unless the paging says otherwise.
    #[compiled_here]
    pub async fn file_passages(&self, filter: &FilePassageFilter) -> Result<Vec<FilePassage>> {
        let conditions = |query: &mut Statement| {
            query.push(" AND folder_id = ");
            query.push_value(filter.folder_id.to_string());
            query.push_if(" AND file_id = ", filter.file_id.map(|id| id.to_string()));
        };
        let rows = LISTING.page(self, &filter.paging, conditions).await?;
        rows.iter().map(|row| record_at(row, 0)).collect()
    }

    /// Passages of an agent's files in which words of the query stand, with the share of the words
    /// that each has; ordered and bounded as [`Store::search_passages`].
    #[compiled_here]
    pub async fn search_file_passages(
        &self,
        search: &FilePassageSearch,
    ) -> Result<Vec<(FilePassage, f64)>> {
        let words = Words::of(Some(&search.query))?;
        let conditions = |query: &mut Statement| {
            query.push(" AND folder_id IN (SELECT folder_id FROM agent_folders WHERE agent_id = ");
            query.push_value(search.agent_id.to_string()).push(")");
        };
        let rows = self.search(&LISTING, &words, search.limit, conditions);
        let rows = rows.await?.into_iter();
        rows.map(|(row, share)| Ok((record_at(&row, 1)?, share)))
            .collect()
    }
}

fn record_at(row: &Row, first: usize) -> Result<FilePassage> {
    let file_name = row.optional_text(first + 3)?.unwrap_or_default();
    let folder_name = row.optional_text(first + 4)?.unwrap_or_default();
    Ok(FilePassage {
        id: row.parsed(first, "passage id")?,
        folder_id: row.parsed(first + 1, "folder id")?,
        file_id: row.parsed(first + 2, "file id")?,
        path: format!("{folder_name}/{file_name}"),
        file_name,
        line: row.unsigned(first + 5)?,
        text: row.text(first + 6)?,
        created_at: row.timestamp(first + 7)?,
    })
}
