//! Which agents have which folders.

use std::collections::HashMap;

use bulkhead_domain::{
    Folder,
    id::{AgentId, FolderId},
    platform::UserId,
};

use super::open;
use crate::{
    Paging, Result, Store, StoreError,
    agent::{expect_known, lock, put_file_tools, texts},
    compiled_here,
    owner::push_agent_created_by,
    paging::Listing,
    sql::{Durability, Statement, Transaction},
};

/// Folders of one agent. All of them stand in its system prompt.
pub const FOLDERS_MAX: usize = 64;

/// Cursors are ids of agents: the rows are seen as if they had the agent's.
const LISTING: Listing = Listing {
    what: "agent",
    table: "(SELECT seq, agent_id AS id, agent_id, folder_id FROM agent_folders) AS attached",
    columns: "id",
    key: "seq",
    bytes: "1",
};

/// Which agents of a folder to list.
#[derive(Debug, Clone)]
pub struct FolderAgentsFilter {
    /// The folder.
    pub folder_id: FolderId,
    /// Of this user of the platform alone.
    pub created_by: Option<UserId>,
    /// Which part of the list; ordered by the time when the folder was attached.
    pub paging: Paging,
}

impl Store {
    /// Gives an agent a folder and, with it, the tools that read files. As many of its files are
    /// opened as may be open. The same one again attaches what is missing.
    ///
    /// [`StoreError::NotFound`] where the agent or the folder is not there, [`StoreError::Quota`]
    /// where the agent has [`FOLDERS_MAX`] folders.
    #[compiled_here]
    pub async fn attach_folder(
        &self,
        agent: &AgentId,
        folder: &FolderId,
        tool_ids: &[String],
    ) -> Result<()> {
        let mut transaction = self.database().begin(Durability::Power).await?;
        lock(&mut transaction, agent).await?;
        let ids = [folder.to_string()];
        let known = expect_known(&mut transaction, "folder", "folders", &ids).await;
        known.map_err(|error| match error {
            StoreError::UnknownReferences { .. } => super::missing(folder),
            error => error,
        })?;
        link(&mut transaction, agent, &[*folder]).await?;
        put_file_tools(&mut transaction, agent, tool_ids, true).await?;
        open::sync(&mut transaction, agent).await?;
        transaction.commit().await
    }

    /// Takes a folder from an agent; with the last one the tools that read files. Whether it had it.
    /// [`StoreError::NotFound`] where there is no such agent.
    #[compiled_here]
    pub async fn detach_folder(
        &self,
        agent: &AgentId,
        folder: &FolderId,
        tool_ids: &[String],
    ) -> Result<bool> {
        let mut transaction = self.database().begin(Durability::Power).await?;
        lock(&mut transaction, agent).await?;
        let delete = "DELETE FROM agent_folders WHERE agent_id = $1 AND folder_id = $2";
        let delete = Statement::new(delete)
            .bind(agent.to_string())
            .bind(folder.to_string());
        let detached = transaction.execute(delete).await? > 0;
        if detached && count(&mut transaction, agent).await? == 0 {
            put_file_tools(&mut transaction, agent, tool_ids, false).await?;
        }
        transaction.commit().await?;
        Ok(detached)
    }

    /// The folders of each of these agents, in the order in which they were attached. Every agent
    /// that is asked for has a list.
    #[compiled_here]
    pub async fn folders_of(&self, agents: &[AgentId]) -> Result<HashMap<AgentId, Vec<Folder>>> {
        let mut query = Statement::new(
            "SELECT agent_id, document FROM agent_folders l JOIN folders d ON d.id = l.folder_id
            WHERE agent_id IN (",
        );
        query.push_list(texts(agents)).push(" ORDER BY l.seq");
        let rows = self.database().all(query).await?;
        let mut lists: HashMap<_, _> = agents.iter().map(|id| (*id, Vec::new())).collect();
        for row in &rows {
            let list: &mut Vec<Folder> = lists.entry(row.parsed(0, "agent id")?).or_default();
            list.push(row.json(1, "folder")?);
        }
        Ok(lists)
    }

    /// The agents that have a folder, the last that it was attached to first unless the paging says
    /// otherwise; its cursors are ids of agents.
    #[compiled_here]
    pub async fn agents_of_folder(&self, filter: &FolderAgentsFilter) -> Result<Vec<AgentId>> {
        let conditions = |query: &mut Statement| {
            query.push(" AND folder_id = ");
            query.push_value(filter.folder_id.to_string());
            push_agent_created_by(query, filter.created_by);
        };
        let rows = LISTING.page(self, &filter.paging, conditions).await?;
        rows.iter()
            .map(|row| row.parsed(0, "agent of a folder"))
            .collect()
    }

    /// Gives an agent every file of its folders that it does not have, and opens as many of them as
    /// may be open.
    #[compiled_here]
    pub async fn sync_agent_files(&self, agent: &AgentId) -> Result<()> {
        let mut transaction = self.database().begin(Durability::Process).await?;
        open::sync(&mut transaction, agent).await?;
        transaction.commit().await
    }
}

/// Makes exactly these the folders of an agent, whose row is locked or new, and gives it the tools
/// that read files, or takes them. The files are to be synchronised afterwards.
pub(crate) async fn put_folders(
    transaction: &mut Transaction,
    agent: &AgentId,
    folders: &[FolderId],
    tool_ids: &[String],
) -> Result<()> {
    let known = texts(folders);
    expect_known(transaction, "folder", "folders", &known).await?;
    let had = count(transaction, agent).await?;
    let mut delete = Statement::new("DELETE FROM agent_folders WHERE agent_id = $1");
    delete = delete.bind(agent.to_string());
    delete.push(" AND (folder_id IN (");
    delete.push_list(known);
    // The list has a NULL: what equals none of it is neither in it nor not.
    delete.push(") IS NOT TRUE");
    transaction.defer(delete).await?;
    link(transaction, agent, folders).await?;
    if !folders.is_empty() || had > 0 {
        put_file_tools(transaction, agent, tool_ids, !folders.is_empty()).await?;
    }
    Ok(())
}

async fn link(transaction: &mut Transaction, agent: &AgentId, folders: &[FolderId]) -> Result<()> {
    for folder in folders {
        let insert = "INSERT INTO agent_folders (agent_id, folder_id) VALUES ($1, $2)
            ON CONFLICT (agent_id, folder_id) DO NOTHING";
        let insert = Statement::new(insert)
            .bind(agent.to_string())
            .bind(folder.to_string());
        transaction.defer(insert).await?;
    }
    if count(transaction, agent).await? > FOLDERS_MAX as u64 {
        return Err(StoreError::Quota {
            what: "the agent's list of folders",
            limit: FOLDERS_MAX as u64,
        });
    }
    Ok(())
}

async fn count(transaction: &mut Transaction, agent: &AgentId) -> Result<u64> {
    let count = Statement::new("SELECT COUNT(*) FROM agent_folders WHERE agent_id = $1");
    let count = transaction.optional(count.bind(agent.to_string())).await?;
    count.map_or(Ok(0), |row| row.unsigned(0))
}
