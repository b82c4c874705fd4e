//! An agent of a file, and what hangs on it.

use serde::Deserialize;
use serde_json::Value;

use super::message::FileMessage;
use crate::{agents::body::CreateAgent, contract::body::Schema, http::blocks::create::CreateBlock};

/// Fields that name other things of the file by their local ids. Those of a new agent with the
/// same names take ids of the database.
const REFERENCES: [&str; 5] = [
    "tool_ids",
    "block_ids",
    "source_ids",
    "folder_ids",
    "identity_ids",
];

/// An agent of a file.
pub(crate) struct FileAgent {
    /// What it names.
    pub(super) names: Names,
    /// All else that is said of it, as of a new agent.
    pub(super) body: CreateAgent,
    pub(super) messages: Vec<FileMessage>,
    pub(super) attachments: Vec<Attachment>,
}

/// Its name in the contract's schemas.
pub(super) const SCHEMA: &str = "AgentFileAgent";

/// Its own id, and the ids of what it names.
#[derive(Debug, Deserialize)]
pub(super) struct Names {
    pub(super) id: String,
    tool_ids: Option<Vec<String>>,
    block_ids: Option<Vec<String>>,
    source_ids: Option<Vec<String>>,
    folder_ids: Option<Vec<String>>,
    /// Of this server's own database: a file has no identities.
    identity_ids: Option<Vec<String>>,
    #[serde(default)]
    pub(super) in_context_message_ids: Vec<String>,
    #[serde(default)]
    pub(super) group_ids: Vec<String>,
}

impl Names {
    pub(super) fn tools(&self) -> &[String] {
        self.tool_ids.as_deref().unwrap_or_default()
    }

    pub(super) fn blocks(&self) -> &[String] {
        self.block_ids.as_deref().unwrap_or_default()
    }

    /// Folders, by either name.
    pub(super) fn sources(&self) -> impl Iterator<Item = &String> {
        self.source_ids.iter().chain(&self.folder_ids).flatten()
    }

    pub(super) fn identities(&self) -> &[String] {
        self.identity_ids.as_deref().unwrap_or_default()
    }
}

impl FileAgent {
    /// From a value that has the schema.
    pub(super) fn read(
        mut value: Value,
        messages: Vec<FileMessage>,
        attachments: Vec<Attachment>,
    ) -> Result<Self, serde_json::Error> {
        let names = Names::deserialize(&value)?;
        if let Some(fields) = value.as_object_mut() {
            fields.retain(|name, _| !REFERENCES.contains(&name.as_str()));
        }
        Ok(Self {
            names,
            body: serde_json::from_value(value)?,
            messages,
            attachments,
        })
    }
}

/// A block of a file.
#[derive(Deserialize)]
pub(crate) struct FileBlock {
    pub(super) id: String,
    #[serde(flatten)]
    pub(super) block: CreateBlock,
}

impl Schema for FileBlock {
    const NAME: &str = "AgentFileBlock";
}

/// A file that an agent has open, or could open.
#[derive(Debug, Deserialize)]
pub(crate) struct Attachment {
    pub(super) id: String,
    pub(super) agent_id: String,
    pub(super) file_id: String,
    pub(super) source_id: String,
    #[serde(default = "is_open")]
    pub(super) is_open: bool,
    pub(super) start_line: Option<i64>,
    pub(super) end_line: Option<i64>,
}

/// Whether a file is open of which nothing else is said.
fn is_open() -> bool {
    true
}

impl Schema for Attachment {
    const NAME: &str = "AgentFileAttachment";
}
