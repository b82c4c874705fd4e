//! Conversations: threads of messages of an agent beside its default one.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Timestamp,
    id::{AgentId, BlockId, ConversationId, MessageId},
};

/// A second history of an agent: its own messages and its own context, the agent's memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Conversation {
    /// Its id.
    pub id: ConversationId,
    /// The agent.
    pub agent_id: AgentId,
    /// What it is about.
    #[serde(default)]
    pub summary: Option<String>,
    /// The messages that the model sees, in order; the system message is the first.
    #[serde(default)]
    pub in_context_message_ids: Vec<MessageId>,
    /// Blocks that stand in place of the agent's blocks of the same labels.
    #[serde(default)]
    pub isolated_block_ids: Vec<BlockId>,
    /// A model in place of the agent's, `provider/model`.
    #[serde(default)]
    pub model: Option<String>,
    /// Settings of that model, as the client wrote them.
    #[serde(default)]
    pub model_settings: Option<Value>,
    /// When a message was added last.
    #[serde(default)]
    pub last_message_at: Option<Timestamp>,
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

impl Conversation {
    /// An empty conversation of this agent, made now.
    pub fn new(agent_id: AgentId) -> Self {
        let now = Timestamp::now();
        Self {
            id: ConversationId::random(),
            agent_id,
            summary: None,
            in_context_message_ids: Vec::new(),
            isolated_block_ids: Vec::new(),
            model: None,
            model_settings: None,
            last_message_at: None,
            created_by_id: None,
            last_updated_by_id: None,
            created_at: now,
            updated_at: now,
        }
    }
}
