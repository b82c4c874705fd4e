//! What instances are made from.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::AgentTypeId;
use crate::Timestamp;

/// A kind of agent that instances are made from. A superuser defines it; an instance is a copy of
/// what it says at that moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentType {
    /// Its id.
    pub id: AgentTypeId,
    /// Its name for people.
    pub name: String,
    /// Its name in URLs, see [`super::slug`]. No other type has it.
    pub slug: String,
    /// What it is for.
    #[serde(default)]
    pub description: Option<String>,
    /// What it is good at, in words.
    #[serde(default)]
    pub expertise: Vec<String>,
    /// The instructions that its instances follow.
    pub personality_prompt: String,
    /// The model that its instances use.
    pub primary_model: String,
    /// The models that are tried where that one fails, in order.
    #[serde(default)]
    pub fallback_models: Vec<String>,
    /// Settings of the model, by name.
    #[serde(default)]
    pub model_params: Map<String, Value>,
    /// Names of the MCP servers whose tools its instances have.
    #[serde(default)]
    pub mcp_servers: Vec<String>,
    /// Whether instances can be made from it.
    pub is_active: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
}
