//! From the bytes of a file to text that can be searched. Whoever begins with a file says so in its
//! row, so that what is left undone by a server that ended is taken up by another one.

use bulkhead_domain::{
    FileStatus, Folder, FolderFile, Timestamp,
    folder::chunk::Chunk,
    id::{AgentId, FileId, FolderId, PassageId},
};

use super::files;
use crate::{
    Result, Store, StoreError, check, compiled_here,
    search::searchable,
    sql::{Durability, Row, Statement, Transaction},
};

/// Passages of one file. The largest that is taken has fewer at any chunk size.
pub const PASSAGES_MAX: usize = 300_000;
/// How often a file is begun with. One that ends the server each time is given up.
const ATTEMPTS_MAX: i64 = 3;
/// Passages in one statement.
const PASSAGES_AT_ONCE: usize = 100;
/// Bytes of a reason why a file has no text.
const ERROR_MAX: usize = 1_024;

/// A file to read.
#[derive(Clone)]
pub struct FileWork {
    /// The file.
    pub file: FolderFile,
    /// Its folder.
    pub folder: Folder,
    /// Its text, where that is what was uploaded.
    pub content: Option<String>,
    /// The bytes from which its text is to be read, where that is not so.
    pub upload: Option<Vec<u8>>,
}

/// Printed without what is in it.
impl std::fmt::Debug for FileWork {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FileWork")
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}

impl Store {
    /// The next file that waits to be read, or that somebody began with before `stale` and did not
    /// end. It is the caller's now: nobody else gets it until it is stale again.
    #[compiled_here]
    pub async fn next_file_work(&self, stale: Timestamp) -> Result<Option<FileWork>> {
        loop {
            let mut query = Statement::new("SELECT ");
            query.push(files::columns()).push(
                " FROM folder_files WHERE status IN ('pending', 'parsing', 'embedding')
                AND (status = 'pending' OR updated_at < ",
            );
            query.push_value(stale).push(") ORDER BY seq LIMIT 1");
            let row = self.database().optional(query).await?;
            let Some(file) = row.as_ref().map(files::record).transpose()? else {
                return Ok(None);
            };
            if !self.begin_file(&file).await? {
                continue;
            }
            // One that was deleted meanwhile is nobody's work.
            if let Some(work) = self.file_work(file.id).await? {
                return Ok(Some(work));
            }
        }
    }

    /// Whether the file is this caller's to read. One that was begun with too often fails instead.
    async fn begin_file(&self, file: &FolderFile) -> Result<bool> {
        let mut transaction = self.database().begin(Durability::Process).await?;
        let begin = "UPDATE folder_files SET status = 'parsing', attempts = attempts + 1,
            updated_at = $1 WHERE id = $2 AND status = $3 AND updated_at = $4 AND attempts < $5";
        // Never the time that another one read.
        let now = Timestamp::now().max(Timestamp::from_micros(file.updated_at.micros() + 1));
        let begin = Statement::new(begin)
            .bind(now)
            .bind(file.id.to_string())
            .bind(file.status.as_str())
            .bind(file.updated_at)
            .bind(ATTEMPTS_MAX);
        let is_begun = transaction.execute(begin).await? > 0;
        if !is_begun {
            let give_up = "UPDATE folder_files SET status = 'error', upload = NULL, error = $1
                WHERE id = $2 AND status = $3 AND updated_at = $4 AND attempts >= $5";
            let give_up = Statement::new(give_up)
                .bind("the server ended each time when it read this file")
                .bind(file.id.to_string())
                .bind(file.status.as_str())
                .bind(file.updated_at)
                .bind(ATTEMPTS_MAX);
            transaction.execute(give_up).await?;
        }
        transaction.commit().await?;
        Ok(is_begun)
    }

    async fn file_work(&self, id: FileId) -> Result<Option<FileWork>> {
        let query = "SELECT document, upload FROM folder_files f
            JOIN folders d ON d.id = f.folder_id WHERE f.id = $1";
        let upload = Statement::new(query).bind(id.to_string());
        let queries = vec![files::one(&id, true), upload];
        let mut answers = self.database().each(queries).await?.into_iter();
        let file = answers.next().unwrap_or_default();
        let rest = answers.next().unwrap_or_default();
        let (Some(file), Some(rest)) = (file.first(), rest.first()) else {
            return Ok(None);
        };
        let mut file = files::record(file)?;
        Ok(Some(FileWork {
            content: file.content.take(),
            file,
            folder: rest.json(0, "folder")?,
            upload: rest.optional_blob(1)?,
        }))
    }

    /// Stores the text of a file and its passages, in place of those that it had. Whether the file is
    /// still there.
    ///
    /// [`StoreError::Quota`] for more than [`PASSAGES_MAX`].
    pub async fn put_file_text(
        &self,
        file: &FileId,
        content: &str,
        chunks: impl Iterator<Item = Chunk<'_>> + Send,
    ) -> Result<bool> {
        check::text("the file's text", content, usize::MAX)?;
        let mut transaction = self.database().begin(Durability::Process).await?;
        let Some(folder) = lock(&mut transaction, file).await? else {
            return Ok(false);
        };
        let now = Timestamp::now();
        let clear = Statement::new("DELETE FROM file_passages WHERE file_id = $1");
        transaction.defer(clear.bind(file.to_string())).await?;
        let mut count = 0_usize;
        let mut waiting = Vec::with_capacity(PASSAGES_AT_ONCE);
        for chunk in chunks {
            count += 1;
            if count > PASSAGES_MAX {
                return Err(StoreError::Quota {
                    what: "the file's number of passages",
                    limit: PASSAGES_MAX as u64,
                });
            }
            waiting.push(chunk);
            if waiting.len() == PASSAGES_AT_ONCE {
                insert(&mut transaction, (&folder, file), &waiting, now).await?;
                waiting.clear();
            }
        }
        insert(&mut transaction, (&folder, file), &waiting, now).await?;
        let update = "UPDATE folder_files SET status = 'embedding', content = $1, upload = NULL,
            passages = $2, updated_at = $3 WHERE id = $4";
        let update = Statement::new(update)
            .bind(content)
            .bind(i64::try_from(count).unwrap_or(i64::MAX))
            .bind(now)
            .bind(file.to_string());
        transaction.defer(update).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Says how the reading of a file ended: with its text, or why not.
    #[compiled_here]
    pub async fn end_file_work(&self, file: &FileId, error: Option<&str>) -> Result<()> {
        let (status, error) = match error {
            None => (FileStatus::Completed, None),
            Some(error) => {
                let error = error.replace('\0', "\u{fffd}");
                let end = error.floor_char_boundary(ERROR_MAX);
                (FileStatus::Error, Some(error[..end].to_owned()))
            }
        };
        let mut transaction = self.database().begin(Durability::Power).await?;
        let update =
            "UPDATE folder_files SET status = $1, error = $2, upload = NULL, updated_at = $3
            WHERE id = $4";
        let update = Statement::new(update)
            .bind(status.as_str())
            .bind(error)
            .bind(Timestamp::now())
            .bind(file.to_string());
        transaction.defer(update).await?;
        transaction.commit().await
    }

    /// Lets go of a file that was begun with, so that it is read once more.
    #[compiled_here]
    pub async fn put_file_back(&self, file: &FileId) -> Result<()> {
        let mut transaction = self.database().begin(Durability::Process).await?;
        let update = "UPDATE folder_files SET status = 'pending', attempts = attempts - 1
            WHERE id = $1 AND status IN ('parsing', 'embedding')";
        transaction
            .defer(Statement::new(update).bind(file.to_string()))
            .await?;
        transaction.commit().await
    }

    /// The agents that have this folder.
    #[compiled_here]
    pub async fn all_agents_of_folder(&self, folder: &FolderId) -> Result<Vec<AgentId>> {
        let query = "SELECT agent_id FROM agent_folders WHERE folder_id = $1 ORDER BY seq";
        let query = Statement::new(query).bind(folder.to_string());
        let rows = self.database().all(query).await?;
        let agent = |row: &Row| row.parsed(0, "agent of a folder");
        rows.iter().map(agent).collect()
    }
}

/// The folder of a file, which nobody else changes until the end of the transaction.
async fn lock(transaction: &mut Transaction, file: &FileId) -> Result<Option<FolderId>> {
    let mut query = Statement::new("SELECT folder_id FROM folder_files WHERE id = ");
    query
        .push_value(file.to_string())
        .push(transaction.for_update());
    let row = transaction.optional(query).await?;
    row.map(|row| row.parsed(0, "folder id")).transpose()
}

async fn insert(
    transaction: &mut Transaction,
    (folder, file): (&FolderId, &FileId),
    chunks: &[Chunk<'_>],
    now: Timestamp,
) -> Result<()> {
    if chunks.is_empty() {
        return Ok(());
    }
    let mut insert = Statement::new(
        "INSERT INTO file_passages (id, folder_id, file_id, line, created_at, size, text, text_folded)
        VALUES ",
    );
    for (index, chunk) in chunks.iter().enumerate() {
        let row = [
            PassageId::random().to_string().into(),
            folder.to_string().into(),
            file.to_string().into(),
            i64::try_from(chunk.line).unwrap_or(i64::MAX).into(),
            now.into(),
            i64::try_from(chunk.text.len()).unwrap_or(i64::MAX).into(),
            chunk.text.into(),
            searchable(chunk.text).into(),
        ];
        insert.push_row(index == 0, row);
    }
    transaction.defer(insert).await
}
