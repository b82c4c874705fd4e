//! Folders: collections of files that agents read.
//!
//! - [`Folder`], [`FolderFile`], [`FilePassage`]: what there is. [`AgentFile`]: a file as an agent has
//!   it.
//! - [`view`]: what an agent sees of an open file. [`chunk`]: the pieces by which a file is searched.

pub mod chunk;
mod file;
pub mod view;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{EmbeddingConfig, Timestamp, id::FolderId};

pub use file::{AgentFile, FilePassage, FileStatus, FolderFile, ParseFileStatusError};

/// A collection of files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Folder {
    /// Its id.
    pub id: FolderId,
    /// Its name. No other folder of the same creator has it.
    pub name: String,
    /// What it holds.
    #[serde(default)]
    pub description: Option<String>,
    /// How agents are to use it.
    #[serde(default)]
    pub instructions: Option<String>,
    /// Whatever its owner noted.
    #[serde(default)]
    pub metadata: Option<Value>,
    /// The embedding model that its owner chose; its chunk size is that of the passages.
    pub embedding_config: EmbeddingConfig,
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

impl Folder {
    /// An empty folder of this name, made now.
    pub fn new(name: impl Into<String>, embedding_config: EmbeddingConfig) -> Self {
        let now = Timestamp::now();
        Self {
            id: FolderId::random(),
            name: name.into(),
            description: None,
            instructions: None,
            metadata: None,
            embedding_config,
            created_by_id: None,
            last_updated_by_id: None,
            created_at: now,
            updated_at: now,
        }
    }

    /// What agents call a file of it.
    pub fn path(&self, file_name: &str) -> String {
        format!("{}/{file_name}", self.name)
    }
}
