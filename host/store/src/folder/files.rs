//! The files of a folder.

use bulkhead_domain::{
    FolderFile,
    id::{FileId, FolderId},
};

use crate::{
    Paging, Result, Store, compiled_here,
    paging::Listing,
    sql::{Durability, Row, Statement},
};

/// The columns of [`record`], in its order, without the text.
const COLUMNS: &str =
    "id, folder_id, name, original_name, media_type, size, status, error, passages,
    created_at, updated_at, NULL";
/// And with it.
const COLUMNS_AND_TEXT: &str =
    "id, folder_id, name, original_name, media_type, size, status, error,
    passages, created_at, updated_at, content";

const LISTING: Listing = Listing {
    what: "file",
    table: "folder_files",
    columns: COLUMNS,
    key: "created_at",
    // Names and an error.
    bytes: "2048",
};

const LISTING_WITH_TEXT: Listing = Listing {
    columns: COLUMNS_AND_TEXT,
    bytes: "(size + 2048)",
    ..LISTING
};

/// Which files to list.
#[derive(Debug, Clone)]
pub struct FolderFileFilter {
    /// Of this folder.
    pub folder_id: FolderId,
    /// With their texts.
    pub with_content: bool,
    /// Which part of the list; ordered by the time when files were uploaded.
    pub paging: Paging,
}

impl Store {
    /// Files of a folder, the newest first unless the paging says otherwise.
    #[compiled_here]
    pub async fn folder_files(&self, filter: &FolderFileFilter) -> Result<Vec<FolderFile>> {
        let listing = match filter.with_content {
            true => &LISTING_WITH_TEXT,
            false => &LISTING,
        };
        let conditions = |query: &mut Statement| {
            query.push(" AND folder_id = ");
            query.push_value(filter.folder_id.to_string());
        };
        let rows = listing.page(self, &filter.paging, conditions).await?;
        rows.iter().map(record).collect()
    }

    /// A file of a folder; with its text where that is asked for.
    #[compiled_here]
    pub async fn folder_file(
        &self,
        folder: &FolderId,
        file: &FileId,
        with_content: bool,
    ) -> Result<Option<FolderFile>> {
        let mut query = one(file, with_content);
        query
            .push(" AND folder_id = ")
            .push_value(folder.to_string());
        let row = self.database().optional(query).await?;
        row.as_ref().map(record).transpose()
    }

    /// Deletes a file of a folder, also from the agents that have it. Whether it was there.
    #[compiled_here]
    pub async fn delete_folder_file(&self, folder: &FolderId, file: &FileId) -> Result<bool> {
        let mut transaction = self.database().begin(Durability::Power).await?;
        let delete = "DELETE FROM folder_files WHERE id = $1 AND folder_id = $2";
        let delete = Statement::new(delete)
            .bind(file.to_string())
            .bind(folder.to_string());
        let deleted = transaction.execute(delete).await? > 0;
        transaction.commit().await?;
        Ok(deleted)
    }
}

/// A query for the file with this id; conditions may follow.
pub(super) fn one(file: &FileId, with_content: bool) -> Statement {
    let columns = match with_content {
        true => COLUMNS_AND_TEXT,
        false => COLUMNS,
    };
    let mut query = Statement::new("SELECT ");
    query.push(columns).push(" FROM folder_files WHERE id = ");
    query.push_value(file.to_string());
    query
}

/// The columns of a file without its text, for a query of its own.
pub(super) const fn columns() -> &'static str {
    COLUMNS
}

pub(super) fn record(row: &Row) -> Result<FolderFile> {
    Ok(FolderFile {
        id: row.parsed(0, "file id")?,
        folder_id: row.parsed(1, "folder id")?,
        name: row.text(2)?,
        original_name: row.text(3)?,
        media_type: row.text(4)?,
        size: row.unsigned(5)?,
        status: row.parsed(6, "status of a file")?,
        error: row.optional_text(7)?,
        passages: row
            .optional_int(8)?
            .and_then(|count| u64::try_from(count).ok()),
        created_at: row.timestamp(9)?,
        updated_at: row.timestamp(10)?,
        content: row.optional_text(11)?,
    })
}
