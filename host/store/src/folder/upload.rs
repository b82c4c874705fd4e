//! New files.

use std::collections::HashSet;

use bulkhead_domain::{
    FileStatus, FolderFile, Timestamp,
    id::{FileId, FolderId},
};

use super::{files, row};
use crate::{
    Result, Store, StoreError, check, compiled_here,
    sql::{Durability, Statement, Transaction},
};

/// Files of one folder. Attaching a folder writes a row for each.
pub const FILES_MAX: u64 = 10_000;
/// Bytes of all that was uploaded into one folder.
pub const FOLDER_BYTES_MAX: u64 = 1 << 30;
/// Bytes of a file's name: what file systems take.
const NAME_MAX: usize = 255;

/// A file to store.
#[derive(Clone)]
pub struct NewFile {
    /// The folder.
    pub folder_id: FolderId,
    /// Its name in the folder.
    pub name: String,
    /// What it was called when it was uploaded.
    pub original_name: String,
    /// For example `text/plain`.
    pub media_type: String,
    /// Bytes of what was uploaded.
    pub size: u64,
    /// Its text, where that is what was uploaded.
    pub content: Option<String>,
    /// The bytes from which its text is to be read, where that is not so.
    pub upload: Option<Vec<u8>>,
}

/// Printed without what is in it.
impl std::fmt::Debug for NewFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewFile")
            .field("folder_id", &self.folder_id)
            .field("name", &self.name)
            .field("size", &self.size)
            .finish_non_exhaustive()
    }
}

/// What happens where the folder has a file of the same name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DuplicateFile {
    /// The new one gets a number: `name_(1).txt`.
    #[default]
    Suffix,
    /// [`StoreError::NameTaken`].
    Error,
    /// The one that is there stays, and nothing is stored.
    Skip,
    /// The one that is there goes.
    Replace,
}

/// What came of a new file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Added {
    /// The file, or the one that was there.
    pub file: FolderFile,
    /// The folder's name.
    pub folder_name: String,
    /// Whether it was stored.
    pub is_new: bool,
}

impl Store {
    /// Stores a new file, which waits for somebody to read its text.
    ///
    /// [`StoreError::NotFound`] where the folder is not there, [`StoreError::Quota`] where it has
    /// [`FILES_MAX`] files or [`FOLDER_BYTES_MAX`].
    #[compiled_here]
    pub async fn add_file(&self, new: NewFile, duplicate: DuplicateFile) -> Result<Added> {
        check::name("the file's name", &new.name)?;
        check::text("the file's name", &new.name, NAME_MAX)?;
        check::text(
            "the file's original name",
            &new.original_name,
            check::NAME_MAX,
        )?;
        check::text("the file's media type", &new.media_type, check::NAME_MAX)?;
        let text = new.content.as_deref().unwrap_or_default();
        check::text("the file's text", text, usize::MAX)?;
        let mut transaction = self.database().begin(Durability::Power).await?;
        let folder = row::lock(&mut transaction, &new.folder_id).await?;
        let mut name = new.name.clone();
        if let Some(there) = named(&mut transaction, &new.folder_id, &name).await? {
            match duplicate {
                DuplicateFile::Skip => {
                    return Ok(Added {
                        file: there,
                        folder_name: folder.name,
                        is_new: false,
                    });
                }
                DuplicateFile::Error => {
                    return Err(StoreError::NameTaken { what: "file", name });
                }
                DuplicateFile::Replace => {
                    let delete = Statement::new("DELETE FROM folder_files WHERE id = $1");
                    let delete = delete.bind(there.id.to_string());
                    transaction.defer(delete).await?;
                }
                DuplicateFile::Suffix => {
                    name = free_name(&mut transaction, &new.folder_id, &name).await?;
                }
            }
        }
        expect_room(&mut transaction, &new).await?;
        let now = Timestamp::now();
        let file = FolderFile {
            id: FileId::random(),
            folder_id: new.folder_id,
            name,
            original_name: new.original_name,
            media_type: new.media_type,
            size: new.size,
            status: FileStatus::Pending,
            error: None,
            passages: None,
            created_at: now,
            updated_at: now,
            content: None,
        };
        let insert =
            "INSERT INTO folder_files (id, folder_id, name, original_name, media_type, size,
                status, attempts, created_at, updated_at, upload, content)
            VALUES ($1, $2, $3, $4, $5, $6, $7, 0, $8, $9, $10, $11)";
        let insert = Statement::new(insert)
            .bind(file.id.to_string())
            .bind(file.folder_id.to_string())
            .bind(file.name.as_str())
            .bind(file.original_name.as_str())
            .bind(file.media_type.as_str())
            .bind(i64::try_from(file.size).unwrap_or(i64::MAX))
            .bind(file.status.as_str())
            .bind(now)
            .bind(now)
            .bind(new.upload)
            .bind(new.content);
        transaction.defer(insert).await?;
        transaction.commit().await?;
        Ok(Added {
            file,
            folder_name: folder.name,
            is_new: true,
        })
    }
}

async fn named(
    transaction: &mut Transaction,
    folder: &FolderId,
    name: &str,
) -> Result<Option<FolderFile>> {
    let mut query = Statement::new("SELECT ");
    query.push(files::columns());
    query.push(" FROM folder_files WHERE folder_id = ");
    query.push_value(folder.to_string());
    query.push(" AND name = ").push_value(name);
    let row = transaction.optional(query).await?;
    row.as_ref().map(files::record).transpose()
}

/// The name with the first number that no file of the folder has.
async fn free_name(transaction: &mut Transaction, folder: &FolderId, name: &str) -> Result<String> {
    let query = "SELECT name FROM folder_files WHERE folder_id = $1";
    let query = Statement::new(query).bind(folder.to_string());
    let rows = transaction.all(query).await?;
    let names = rows.iter().map(|row| row.text(0));
    let names = names.collect::<Result<HashSet<_>>>()?;
    let (stem, ending) = match name.rfind('.') {
        Some(at) if at > 0 => name.split_at(at),
        _ => (name, ""),
    };
    let mut numbered = (1_u64..).map(|number| format!("{stem}_({number}){ending}"));
    let free = numbered.find(|name| !names.contains(name));
    let free = free.unwrap_or_default();
    check::name("the file's name", &free)?;
    Ok(free)
}

async fn expect_room(transaction: &mut Transaction, new: &NewFile) -> Result<()> {
    let query = "SELECT COUNT(*), CAST(COALESCE(SUM(size), 0) AS BIGINT)
        FROM folder_files WHERE folder_id = $1";
    let query = Statement::new(query).bind(new.folder_id.to_string());
    let row = transaction.optional(query).await?;
    let (files, bytes) = match row {
        None => (0, 0),
        Some(row) => (row.unsigned(0)?, row.unsigned(1)?),
    };
    if files >= FILES_MAX {
        return Err(StoreError::Quota {
            what: "the folder's number of files",
            limit: FILES_MAX,
        });
    }
    if bytes.saturating_add(new.size) > FOLDER_BYTES_MAX {
        return Err(StoreError::Quota {
            what: "the folder's number of bytes",
            limit: FOLDER_BYTES_MAX,
        });
    }
    Ok(())
}
