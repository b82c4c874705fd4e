//! Folders of agents in a document: sources, their files with their texts, and which of them each
//! agent sees.

use std::collections::HashMap;

use bulkhead_domain::{
    Agent, AgentFile, EmbeddingConfig, Folder,
    id::{FileId, FolderId},
};
use bulkhead_store::{AgentFileFilter, FolderFileFilter, PAGE_MAX, Paging};
use serde::Serialize;
use serde_json::Value;

use super::{BYTES_MAX, ENTRIES_MAX, message::offset};
use crate::{
    app::App,
    contract::Refusal,
    http::{folders::view::FileFields, missing},
};

/// What is written of the folders of a document's agents, each once.
#[derive(Default)]
pub(super) struct Folders {
    pub(super) sources: Vec<WrittenSource>,
    pub(super) files: Vec<FileFields>,
    source_ids: HashMap<FolderId, String>,
    file_ids: HashMap<FileId, String>,
    attachments: usize,
    /// Bytes of texts.
    bytes: usize,
}

/// What is written of one agent's folders.
pub(super) struct OfAgent {
    pub(super) source_ids: Vec<String>,
    pub(super) attachments: Vec<WrittenAttachment>,
}

/// A folder with every field of the contract.
#[derive(Serialize)]
pub(super) struct WrittenSource {
    pub(super) id: String,
    name: String,
    description: Option<String>,
    instructions: Option<String>,
    metadata: Option<Value>,
    embedding: Option<String>,
    embedding_chunk_size: Option<i64>,
    embedding_config: EmbeddingConfig,
}

/// What the agent sees of a file.
#[derive(Serialize)]
pub(super) struct WrittenAttachment {
    id: String,
    agent_id: String,
    file_id: String,
    source_id: String,
    file_name: String,
    is_open: bool,
    visible_content: Option<String>,
    last_accessed_at: String,
    start_line: Option<u64>,
    end_line: Option<u64>,
}

impl Folders {
    /// The folders of an agent, with its local id; 400 where those of all agents hold more than a file
    /// may have.
    pub(super) async fn of(
        &mut self,
        app: &App,
        agent: &Agent,
        local: &str,
    ) -> Result<OfAgent, Refusal> {
        let folders = app.store.folders_of(&[agent.id]).await;
        let folders = folders.map_err(missing::stored)?.into_values().flatten();
        let mut source_ids = Vec::new();
        for folder in folders {
            source_ids.push(self.folder(app, folder).await?);
        }
        Ok(OfAgent {
            source_ids,
            attachments: self.attachments(app, agent, local).await?,
        })
    }

    /// The local id of a folder, which is taken in with its files where it is new.
    async fn folder(&mut self, app: &App, folder: Folder) -> Result<String, Refusal> {
        if let Some(known) = self.source_ids.get(&folder.id) {
            return Ok(known.clone());
        }
        let source_id = format!("source-{}", self.sources.len());
        let mut filter = FolderFileFilter {
            folder_id: folder.id,
            with_content: true,
            paging: oldest(),
        };
        self.source_ids.insert(folder.id, source_id.clone());
        self.sources.push(source(folder, source_id.clone()));
        loop {
            let page = app.store.folder_files(&filter).await;
            let page = page.map_err(missing::stored)?;
            let Some(last) = page.last() else { break };
            filter.paging.after = Some(last.id.to_string());
            for file in page {
                let bytes = file.content.as_ref().map_or(0, String::len);
                self.bytes = self.bytes.saturating_add(bytes);
                if self.bytes > BYTES_MAX || self.files.len() == ENTRIES_MAX {
                    return Err(too_large());
                }
                let id = format!("file-{}", self.files.len());
                self.file_ids.insert(file.id, id.clone());
                let source_id = source_id.clone();
                self.files.push(FileFields::of(file, id, source_id));
            }
        }
        Ok(source_id)
    }

    /// What an agent sees of the files that were taken in.
    async fn attachments(
        &mut self,
        app: &App,
        agent: &Agent,
        local: &str,
    ) -> Result<Vec<WrittenAttachment>, Refusal> {
        let mut written = Vec::new();
        let mut filter = AgentFileFilter {
            agent_id: agent.id,
            is_open: None,
            paging: oldest(),
        };
        loop {
            let page = app.store.agent_files(&filter).await;
            let page = page.map_err(missing::stored)?;
            let Some(last) = page.last() else { break };
            filter.paging.after = Some(last.id.to_string());
            for file in page {
                // What came meanwhile is not in the document.
                let file_id = self.file_ids.get(&file.file_id);
                let source_id = self.source_ids.get(&file.folder_id);
                if let (Some(file_id), Some(source_id)) = (file_id, source_id) {
                    let id = format!("file_agent-{}", self.attachments);
                    self.attachments += 1;
                    let named = (id, file_id.clone(), source_id.clone());
                    written.push(attachment(file, local, named));
                }
            }
        }
        Ok(written)
    }
}

fn oldest() -> Paging {
    Paging {
        ascending: true,
        limit: Some(PAGE_MAX),
        ..Paging::default()
    }
}

fn source(folder: Folder, id: String) -> WrittenSource {
    WrittenSource {
        id,
        name: folder.name,
        description: folder.description,
        instructions: folder.instructions,
        metadata: folder.metadata,
        embedding: folder.embedding_config.handle.clone(),
        embedding_chunk_size: folder.embedding_config.embedding_chunk_size,
        embedding_config: folder.embedding_config,
    }
}

fn attachment(
    file: AgentFile,
    agent: &str,
    (id, file_id, source_id): (String, String, String),
) -> WrittenAttachment {
    WrittenAttachment {
        id,
        agent_id: agent.to_owned(),
        file_id,
        source_id,
        file_name: file.path,
        is_open: file.is_open,
        visible_content: file.visible,
        last_accessed_at: offset(file.last_accessed_at),
        start_line: file.first_line,
        end_line: file.last_line,
    }
}

fn too_large() -> Refusal {
    Refusal::bad_request(format!(
        "INVALID_ARGUMENT: the agent's folders hold more than an agent file may have ({BYTES_MAX} \
         bytes of text, {ENTRIES_MAX} files); detach some of them before the export"
    ))
}
