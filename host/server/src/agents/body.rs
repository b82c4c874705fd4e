//! The body of a new agent.

use bulkhead_agent::Incoming;
use bulkhead_domain::{
    AgentType, CompactionSettings, Part, Role, ToolRule,
    id::{BlockId, IdentityId},
};
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::choice::ModelChoice;
use crate::{contract::body::Schema, http::blocks::create::CreateBlock};

/// The body of a new agent.
#[derive(Deserialize, ToSchema)]
pub(crate) struct CreateAgent {
    pub(crate) name: Option<String>,
    /// the current type unless told otherwise
    #[schema(value_type = Option<String>)]
    pub(crate) agent_type: Option<AgentType>,
    pub(crate) system: Option<String>,
    pub(crate) description: Option<String>,
    #[schema(value_type = Option<Object>)]
    pub(crate) metadata: Option<Value>,
    #[serde(flatten)]
    pub(crate) models: ModelChoice,
    #[schema(value_type = Option<Object>)]
    pub(crate) compaction_settings: Option<CompactionSettings>,
    /// blocks to make
    pub(crate) memory_blocks: Option<Vec<CreateBlock>>,
    /// blocks that are there
    #[schema(value_type = Option<Vec<String>>)]
    pub(crate) block_ids: Option<Vec<BlockId>>,
    /// tools by name
    pub(crate) tools: Option<Vec<String>>,
    pub(crate) tool_ids: Option<Vec<String>>,
    #[schema(value_type = Option<Vec<Object>>)]
    pub(crate) tool_rules: Option<Vec<ToolRule>>,
    pub(crate) include_base_tools: Option<bool>,
    pub(crate) include_base_tool_rules: Option<bool>,
    pub(crate) include_multi_agent_tools: Option<bool>,
    pub(crate) tags: Option<Vec<String>>,
    #[schema(value_type = Option<Object>)]
    pub(crate) secrets: Option<Map<String, Value>>,
    /// the older name of secrets
    #[schema(value_type = Option<Object>)]
    pub(crate) tool_exec_environment_variables: Option<Map<String, Value>>,
    #[schema(value_type = Option<Vec<String>>)]
    pub(crate) identity_ids: Option<Vec<IdentityId>>,
    pub(crate) folder_ids: Option<Vec<String>>,
    pub(crate) source_ids: Option<Vec<String>>,
    pub(crate) initial_message_sequence: Option<Vec<FirstMessage>>,
    pub(crate) message_buffer_autoclear: Option<bool>,
    pub(crate) enable_sleeptime: Option<bool>,
    /// an IANA name
    pub(crate) timezone: Option<String>,
    pub(crate) max_files_open: Option<i64>,
    pub(crate) per_file_view_window_char_limit: Option<i64>,
    pub(crate) hidden: Option<bool>,
    pub(crate) project_id: Option<String>,
    pub(crate) template_id: Option<String>,
    pub(crate) base_template_id: Option<String>,
}

impl Schema for CreateAgent {
    const NAME: &str = "CreateAgent";
}

/// A message that a new agent begins with.
#[derive(Deserialize, ToSchema)]
pub(crate) struct FirstMessage {
    /// user, system or assistant
    #[schema(value_type = String)]
    role: Role,
    #[schema(value_type = Object)]
    content: Content,
    otid: Option<String>,
    name: Option<String>,
    sender_id: Option<String>,
    group_id: Option<String>,
}

/// A text, or pieces of content.
#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

impl From<FirstMessage> for Incoming {
    fn from(message: FirstMessage) -> Self {
        Self {
            role: message.role,
            content: match message.content {
                Content::Text(text) => vec![Part::text(text)],
                Content::Parts(parts) => parts,
            },
            otid: message.otid,
            name: message.name,
            sender_id: message.sender_id,
            group_id: message.group_id,
        }
    }
}

/// What a map of secrets says, by key. The contract allows nothing but texts in it.
pub(crate) fn secrets(
    secrets: Option<Map<String, Value>>,
    older: Option<Map<String, Value>>,
) -> Option<Vec<(String, String)>> {
    let secrets = secrets.or(older)?.into_iter();
    let texts = secrets.filter_map(|(key, value)| match value {
        Value::String(text) => Some((key, text)),
        _ => None,
    });
    Some(texts.collect())
}
