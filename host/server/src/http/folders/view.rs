//! Folders and files in answers.

use bulkhead_domain::{AgentFile, EmbeddingConfig, Folder, FolderFile, Timestamp};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::contract::id::DEFAULT_ORGANIZATION;

/// A folder with every field of the contract.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Folder)]
pub(crate) struct FolderView {
    id: String,
    name: String,
    description: Option<String>,
    instructions: Option<String>,
    #[schema(value_type = Option<Object>)]
    metadata: Option<Value>,
    #[schema(value_type = Object)]
    embedding_config: EmbeddingConfig,
    organization_id: &'static str,
    created_by_id: Option<String>,
    last_updated_by_id: Option<String>,
    #[schema(value_type = String)]
    created_at: Timestamp,
    #[schema(value_type = String)]
    updated_at: Timestamp,
}

impl From<Folder> for FolderView {
    fn from(folder: Folder) -> Self {
        Self {
            id: folder.id.to_string(),
            name: folder.name,
            description: folder.description,
            instructions: folder.instructions,
            metadata: folder.metadata,
            embedding_config: folder.embedding_config,
            organization_id: DEFAULT_ORGANIZATION,
            created_by_id: folder.created_by_id,
            last_updated_by_id: folder.last_updated_by_id,
            created_at: folder.created_at,
            updated_at: folder.updated_at,
        }
    }
}

/// A folder under its older name.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Source)]
pub(crate) struct SourceView {
    #[serde(flatten)]
    folder: FolderView,
    /// always native
    vector_db_provider: &'static str,
}

impl From<Folder> for SourceView {
    fn from(folder: Folder) -> Self {
        Self {
            folder: folder.into(),
            vector_db_provider: "native",
        }
    }
}

/// What is said of a file, in answers and in agent files.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FileFields)]
pub(crate) struct FileFields {
    id: String,
    /// the folder's id
    source_id: String,
    file_name: String,
    original_file_name: String,
    /// always null: files are in the database
    file_path: Option<String>,
    /// its media type
    file_type: String,
    /// bytes of what was uploaded
    file_size: u64,
    /// always null
    file_creation_date: Option<String>,
    /// always null
    file_last_modified_date: Option<String>,
    /// pending, parsing, embedding, completed or error
    processing_status: &'static str,
    /// why it has no text, where that is so
    error_message: Option<String>,
    total_chunks: Option<u64>,
    /// the chunks that can be searched
    chunks_embedded: Option<u64>,
    /// its text, where that was asked for and is there
    content: Option<String>,
}

impl FileFields {
    /// The fields of a file that has these ids where it is told of.
    pub(crate) fn of(file: FolderFile, id: String, source_id: String) -> Self {
        Self {
            id,
            source_id,
            file_name: file.name,
            original_file_name: file.original_name,
            file_path: None,
            file_type: file.media_type,
            file_size: file.size,
            file_creation_date: None,
            file_last_modified_date: None,
            processing_status: file.status.as_str(),
            error_message: file.error,
            total_chunks: file.passages,
            chunks_embedded: file.passages,
            content: file.content,
        }
    }
}

/// A file with every field of the contract.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FileMetadata)]
pub(crate) struct FileView {
    #[serde(flatten)]
    fields: FileFields,
    organization_id: &'static str,
    #[schema(value_type = String)]
    created_at: Timestamp,
    #[schema(value_type = String)]
    updated_at: Timestamp,
}

impl From<FolderFile> for FileView {
    fn from(file: FolderFile) -> Self {
        let (id, folder_id) = (file.id.to_string(), file.folder_id.to_string());
        Self {
            organization_id: DEFAULT_ORGANIZATION,
            created_at: file.created_at,
            updated_at: file.updated_at,
            fields: FileFields::of(file, id, folder_id),
        }
    }
}

impl FileView {
    /// A file that was just uploaded: its name has the folder's before it.
    pub(super) fn uploaded(file: FolderFile, folder_name: &str) -> Self {
        let mut view = Self::from(file);
        view.fields.file_name = format!("{folder_name}/{}", view.fields.file_name);
        view
    }
}

/// A file as an agent has it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AgentFileAttachment)]
pub(crate) struct AgentFileView {
    id: String,
    file_id: String,
    /// the folder's name, a slash, the file's name
    file_name: String,
    folder_id: String,
    folder_name: String,
    is_open: bool,
    #[schema(value_type = Option<String>)]
    last_accessed_at: Option<Timestamp>,
    /// what the agent sees of it while it is open
    visible_content: Option<String>,
    /// where that begins, from 1, where somebody said so
    start_line: Option<u64>,
    /// where it ends, where somebody said so
    end_line: Option<u64>,
}

impl From<AgentFile> for AgentFileView {
    fn from(file: AgentFile) -> Self {
        Self {
            id: file.id.to_string(),
            file_id: file.file_id.to_string(),
            file_name: file.path,
            folder_id: file.folder_id.to_string(),
            folder_name: file.folder_name,
            is_open: file.is_open,
            last_accessed_at: Some(file.last_accessed_at),
            visible_content: file.visible,
            start_line: file.first_line,
            end_line: file.last_line,
        }
    }
}
