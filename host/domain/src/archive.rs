//! Archives and their passages: texts that agents look up.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    EmbeddingConfig, Timestamp,
    id::{ArchiveId, PassageId},
};

/// A collection of passages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Archive {
    /// Its id.
    pub id: ArchiveId,
    /// Its name; several may have the same.
    pub name: String,
    /// What it holds.
    #[serde(default)]
    pub description: Option<String>,
    /// The embedding model of its passages; without one, search is by text.
    #[serde(default)]
    pub embedding_config: Option<EmbeddingConfig>,
    /// Whatever its owner noted.
    #[serde(default)]
    pub metadata: Option<Value>,
    /// Who made it.
    #[serde(default)]
    pub created_by_id: Option<String>,
    /// Who changed it last.
    #[serde(default)]
    pub last_updated_by_id: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
}

impl Archive {
    /// An empty archive of this name, made now.
    pub fn new(name: impl Into<String>) -> Self {
        let now = Timestamp::now();
        Self {
            id: ArchiveId::random(),
            name: name.into(),
            description: None,
            embedding_config: None,
            metadata: None,
            created_by_id: None,
            last_updated_by_id: None,
            created_at: now,
            updated_at: now,
        }
    }
}

/// A text of an archive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Passage {
    /// Its id.
    pub id: PassageId,
    /// The archive.
    pub archive_id: ArchiveId,
    /// The text.
    pub text: String,
    /// Words to find it by, each once.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Whatever its author noted.
    #[serde(default)]
    pub metadata: Option<Value>,
    /// What the embedding model made of the text.
    #[serde(default)]
    pub embedding: Option<Vec<f32>>,
    /// That model.
    #[serde(default)]
    pub embedding_config: Option<EmbeddingConfig>,
    /// Who made it.
    #[serde(default)]
    pub created_by_id: Option<String>,
    /// Who changed it last.
    #[serde(default)]
    pub last_updated_by_id: Option<String>,
    /// When it was made, by its author's word.
    pub created_at: Timestamp,
    /// When it was stored.
    pub updated_at: Timestamp,
}

impl Passage {
    /// A passage of an archive, made now.
    pub fn new(archive_id: ArchiveId, text: impl Into<String>) -> Self {
        let now = Timestamp::now();
        Self {
            id: PassageId::random(),
            archive_id,
            text: text.into(),
            tags: Vec::new(),
            metadata: None,
            embedding: None,
            embedding_config: None,
            created_by_id: None,
            last_updated_by_id: None,
            created_at: now,
            updated_at: now,
        }
    }
}
