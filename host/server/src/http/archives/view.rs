//! Archives and passages in answers.

use bulkhead_domain::{Archive, EmbeddingConfig, FilePassage, Folder, Passage, Timestamp};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::contract::id;

/// Numbers of a vector in an answer. Clients get shorter ones with zeros behind them, as they know
/// it.
const EMBEDDING_LENGTH: usize = 4096;

/// An archive with every field of the contract.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Archive)]
pub(crate) struct ArchiveView {
    id: String,
    name: String,
    description: Option<String>,
    organization_id: &'static str,
    /// always native
    vector_db_provider: &'static str,
    #[schema(value_type = Option<Object>)]
    embedding_config: Option<EmbeddingConfig>,
    #[schema(value_type = Option<Object>)]
    metadata: Option<Value>,
    created_by_id: Option<String>,
    last_updated_by_id: Option<String>,
    #[schema(value_type = String)]
    created_at: Timestamp,
    #[schema(value_type = String)]
    updated_at: Timestamp,
}

impl From<Archive> for ArchiveView {
    fn from(archive: Archive) -> Self {
        Self {
            id: archive.id.to_string(),
            name: archive.name,
            description: archive.description,
            organization_id: id::DEFAULT_ORGANIZATION,
            vector_db_provider: "native",
            embedding_config: archive.embedding_config,
            metadata: archive.metadata,
            created_by_id: archive.created_by_id,
            last_updated_by_id: archive.last_updated_by_id,
            created_at: archive.created_at,
            updated_at: archive.updated_at,
        }
    }
}

/// A passage with every field of the contract.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Passage)]
pub(crate) struct PassageView {
    id: String,
    text: String,
    tags: Vec<String>,
    #[schema(value_type = Object)]
    metadata: Value,
    embedding: Option<Vec<f32>>,
    #[schema(value_type = Option<Object>)]
    embedding_config: Option<EmbeddingConfig>,
    archive_id: Option<String>,
    source_id: Option<String>,
    file_id: Option<String>,
    file_name: Option<String>,
    organization_id: &'static str,
    is_deleted: bool,
    created_by_id: Option<String>,
    last_updated_by_id: Option<String>,
    #[schema(value_type = String)]
    created_at: Timestamp,
    #[schema(value_type = String)]
    updated_at: Timestamp,
}

impl From<Passage> for PassageView {
    fn from(passage: Passage) -> Self {
        let padded = |mut vector: Vec<f32>| {
            vector.resize(EMBEDDING_LENGTH.max(vector.len()), 0.0);
            vector
        };
        Self {
            id: passage.id.to_string(),
            text: passage.text,
            tags: passage.tags,
            metadata: passage.metadata.unwrap_or_else(|| json!({})),
            embedding: passage.embedding.map(padded),
            embedding_config: passage.embedding_config,
            archive_id: Some(passage.archive_id.to_string()),
            // Those of files are in folders.
            source_id: None,
            file_id: None,
            file_name: None,
            organization_id: id::DEFAULT_ORGANIZATION,
            is_deleted: false,
            created_by_id: passage.created_by_id,
            last_updated_by_id: passage.last_updated_by_id,
            created_at: passage.created_at,
            updated_at: passage.updated_at,
        }
    }
}

impl PassageView {
    /// A piece of a file of this folder. It has no vector: files are searched by words.
    pub(crate) fn of_file(passage: FilePassage, folder: &Folder) -> Self {
        Self {
            id: passage.id.to_string(),
            text: passage.text,
            tags: Vec::new(),
            metadata: json!({}),
            embedding: None,
            embedding_config: Some(folder.embedding_config.clone()),
            archive_id: None,
            source_id: Some(passage.folder_id.to_string()),
            file_id: Some(passage.file_id.to_string()),
            file_name: Some(passage.path),
            organization_id: id::DEFAULT_ORGANIZATION,
            is_deleted: false,
            created_by_id: folder.created_by_id.clone(),
            last_updated_by_id: folder.last_updated_by_id.clone(),
            created_at: passage.created_at,
            updated_at: passage.created_at,
        }
    }
}
