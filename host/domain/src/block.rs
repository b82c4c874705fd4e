//! Memory blocks: labelled texts that stand in an agent's system prompt.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Timestamp, id::BlockId};

/// Characters of a block, unless another limit is set.
pub const LIMIT_DEFAULT: i64 = 100_000;

/// A memory block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// Its id.
    pub id: BlockId,
    /// The name of its section in the prompt; unique within an agent.
    pub label: String,
    /// Its text.
    pub value: String,
    /// The characters that its text should have at most. The API does not enforce it; the model
    /// is shown it.
    pub limit: i64,
    /// What it is for.
    #[serde(default)]
    pub description: Option<String>,
    /// Whether tools may not change it.
    #[serde(default)]
    pub read_only: bool,
    /// Whatever its owner noted.
    #[serde(default)]
    pub metadata: Option<Value>,
    /// Words to find it by.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Whether lists leave it out.
    #[serde(default)]
    pub hidden: Option<bool>,
    /// Whether it is a pattern for others.
    #[serde(default)]
    pub is_template: bool,
    /// The name of that pattern.
    #[serde(default)]
    pub template_name: Option<String>,
    /// The vendor's cloud: the template it was made from.
    #[serde(default)]
    pub template_id: Option<String>,
    /// The vendor's cloud.
    #[serde(default)]
    pub base_template_id: Option<String>,
    /// The vendor's cloud.
    #[serde(default)]
    pub deployment_id: Option<String>,
    /// The vendor's cloud.
    #[serde(default)]
    pub entity_id: Option<String>,
    /// The vendor's cloud.
    #[serde(default)]
    pub preserve_on_migration: Option<bool>,
    /// The project that it belongs to.
    #[serde(default)]
    pub project_id: Option<String>,
    /// Who made it.
    #[serde(default)]
    pub created_by_id: Option<String>,
    /// Who changed it last.
    #[serde(default)]
    pub last_updated_by_id: Option<String>,
    /// Changes with every write; never 0.
    pub version: i64,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
}

impl Block {
    /// A block of this label and text, made now by nobody in particular.
    pub fn new(label: impl Into<String>, value: impl Into<String>) -> Self {
        let now = Timestamp::now();
        Self {
            id: BlockId::random(),
            label: label.into(),
            value: value.into(),
            limit: LIMIT_DEFAULT,
            description: None,
            read_only: false,
            metadata: None,
            tags: Vec::new(),
            hidden: None,
            is_template: false,
            template_name: None,
            template_id: None,
            base_template_id: None,
            deployment_id: None,
            entity_id: None,
            preserve_on_migration: None,
            project_id: None,
            created_by_id: None,
            last_updated_by_id: None,
            version: 1,
            created_at: now,
            updated_at: now,
        }
    }
}

/// Why a block has the value that it has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BlockChange {
    /// The version that the change made.
    pub version: i64,
    /// The text from then on.
    pub value: String,
    /// Who changed it: a user, or an agent's tool.
    pub actor: String,
    /// When.
    pub at: Timestamp,
}

/// What the prompt says of blocks whose label everybody uses, where their owner said nothing.
pub fn default_description(label: &str) -> Option<&'static str> {
    match label {
        "human" => Some(
            "What is known about the person in this conversation: facts, wishes and habits that \
             help to answer them.",
        ),
        "persona" => Some(
            "Who the agent is: its name, character and manner. It shapes how the agent speaks and \
             acts.",
        ),
        _ => None,
    }
}
