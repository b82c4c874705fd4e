//! Folders, their files, and which agents read them.
//!
//! - `row`: a folder as a row. `files`: what is in a folder; `upload`: new files. `work`: from bytes
//!   to text that can be searched. `passages`: that text.
//! - `agents`: which agent has which folders. `open`: the files of an agent, and which it sees.
//!
//! Whoever writes an agent's folders or files locks the agent first, and then refers to folders;
//! whoever adds a file to a folder locks the folder, and no agent.

mod agents;
mod files;
pub(crate) mod open;
mod passages;
mod row;
mod upload;
mod work;

use bulkhead_domain::{Folder, Timestamp, id::FolderId, platform::UserId};

use crate::{
    Paging, Result, Store, StoreError, check, compiled_here,
    owner::push_created_by,
    paging::Listing,
    sql::{Durability, Row, Statement},
};

pub(crate) use agents::put_folders;
pub use agents::{FOLDERS_MAX, FolderAgentsFilter};
pub use files::FolderFileFilter;
pub use open::{AgentFileFilter, Directory, Opened, SHOWN_MAX};
pub use passages::{FilePassageFilter, FilePassageSearch};
pub use upload::{Added, DuplicateFile, FILES_MAX, FOLDER_BYTES_MAX, NewFile};
pub use work::{FileWork, PASSAGES_MAX};

const LISTING: Listing = Listing {
    what: "folder",
    table: "folders",
    columns: "document",
    key: "created_at",
    bytes: "size",
};

/// Which folders to list. What is none does not matter.
#[derive(Debug, Clone, Default)]
pub struct FolderFilter {
    /// With this name.
    pub name: Option<String>,
    /// That this agent has.
    pub agent_id: Option<bulkhead_domain::id::AgentId>,
    /// Made by this user of the platform.
    pub created_by: Option<UserId>,
    /// Which part of the list; ordered by the time when folders were made.
    pub paging: Paging,
}

/// How much is in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderSize {
    /// The folder.
    pub id: FolderId,
    /// Its files.
    pub files: u64,
    /// Bytes of what was uploaded.
    pub bytes: u64,
}

impl Store {
    /// Stores a new folder; [`StoreError::NameTaken`] where its creator has one of this name.
    #[compiled_here]
    pub async fn create_folder(&self, folder: &Folder) -> Result<()> {
        let mut transaction = self.database().begin(Durability::Power).await?;
        row::put(&mut transaction, folder).await?;
        transaction.commit().await
    }

    /// The folder with this id.
    #[compiled_here]
    pub async fn folder(&self, id: &FolderId) -> Result<Option<Folder>> {
        let query = Statement::new("SELECT document FROM folders WHERE id = $1");
        let row = self.database().optional(query.bind(id.to_string())).await?;
        row.as_ref().map(record).transpose()
    }

    /// Folders, the newest first unless the paging says otherwise.
    #[compiled_here]
    pub async fn folders(&self, filter: &FolderFilter) -> Result<Vec<Folder>> {
        filter.check()?;
        let conditions = |query: &mut Statement| filter.push_conditions(query);
        let rows = LISTING.page(self, &filter.paging, conditions).await?;
        rows.iter().map(record).collect()
    }

    /// How many folders there are, whatever the filter's page.
    #[compiled_here]
    pub async fn count_folders(&self, filter: &FolderFilter) -> Result<u64> {
        filter.check()?;
        let conditions = |query: &mut Statement| filter.push_conditions(query);
        LISTING.count(self, conditions).await
    }

    /// How much is in each of these folders, in their order; those that are not there are left out.
    #[compiled_here]
    pub async fn folder_sizes(&self, folders: &[FolderId]) -> Result<Vec<FolderSize>> {
        let mut query = Statement::new(
            "SELECT d.id, COUNT(f.id), CAST(COALESCE(SUM(f.size), 0) AS BIGINT) FROM folders d
            LEFT JOIN folder_files f ON f.folder_id = d.id WHERE d.id IN (",
        );
        query.push_list(folders.iter().map(ToString::to_string));
        query.push(" GROUP BY d.id, d.created_at, d.seq ORDER BY d.created_at, d.seq");
        let rows = self.database().all(query).await?;
        let size = |row: &Row| {
            Ok(FolderSize {
                id: row.parsed(0, "folder id")?,
                files: row.unsigned(1)?,
                bytes: row.unsigned(2)?,
            })
        };
        rows.iter().map(size).collect()
    }

    /// Changes a folder; nobody else changes it from before `change` sees it until it is stored. Its
    /// id, its creator and when it was made stay what they were. [`StoreError::NotFound`] where it is
    /// not there, [`StoreError::NameTaken`] where another one has its name.
    pub async fn update_folder(
        &self,
        id: &FolderId,
        change: impl FnOnce(&mut Folder) + Send,
    ) -> Result<Folder> {
        let mut transaction = self.database().begin(Durability::Power).await?;
        let former = row::lock(&mut transaction, id).await?;
        let mut folder = former.clone();
        change(&mut folder);
        folder.id = former.id;
        folder.created_by_id = former.created_by_id;
        folder.created_at = former.created_at;
        folder.updated_at = Timestamp::now();
        row::put(&mut transaction, &folder).await?;
        transaction.commit().await?;
        Ok(folder)
    }

    /// Deletes a folder with its files, also from the agents that have it. Whether it was there.
    #[compiled_here]
    pub async fn delete_folder(&self, id: &FolderId) -> Result<bool> {
        let mut transaction = self.database().begin(Durability::Power).await?;
        let delete = Statement::new("DELETE FROM folders WHERE id = $1");
        let deleted = transaction.execute(delete.bind(id.to_string())).await? > 0;
        transaction.commit().await?;
        Ok(deleted)
    }
}

impl FolderFilter {
    fn check(&self) -> Result<()> {
        let name = self.name.as_deref().unwrap_or_default();
        check::text("the folder's name", name, check::NAME_MAX)
    }

    fn push_conditions(&self, query: &mut Statement) {
        query.push_if(" AND name = ", self.name.as_deref());
        push_created_by(query, self.created_by);
        if let Some(agent_id) = self.agent_id {
            query.push(" AND id IN (SELECT folder_id FROM agent_folders WHERE agent_id = ");
            query.push_value(agent_id.to_string()).push(")");
        }
    }
}

fn missing(id: &FolderId) -> StoreError {
    StoreError::NotFound {
        what: "folder",
        id: id.to_string(),
    }
}

fn record(row: &Row) -> Result<Folder> {
    row.json(0, "folder")
}
