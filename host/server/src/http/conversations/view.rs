//! A conversation in an answer.

use bulkhead_domain::{Agent, Conversation, Timestamp};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// A conversation with every field of the contract.
#[derive(Serialize, ToSchema)]
#[schema(as = Conversation)]
pub(crate) struct ConversationView {
    id: String,
    agent_id: String,
    summary: Option<String>,
    in_context_message_ids: Vec<String>,
    isolated_block_ids: Vec<String>,
    model: Option<String>,
    #[schema(value_type = Option<Object>)]
    model_settings: Option<Value>,
    #[schema(value_type = Option<String>)]
    last_message_at: Option<Timestamp>,
    created_by_id: Option<String>,
    last_updated_by_id: Option<String>,
    #[schema(value_type = String)]
    created_at: Timestamp,
    #[schema(value_type = String)]
    updated_at: Timestamp,
}

impl From<Conversation> for ConversationView {
    fn from(conversation: Conversation) -> Self {
        let messages = conversation.in_context_message_ids.iter();
        let blocks = conversation.isolated_block_ids.iter();
        Self {
            id: conversation.id.to_string(),
            agent_id: conversation.agent_id.to_string(),
            summary: conversation.summary,
            in_context_message_ids: messages.map(ToString::to_string).collect(),
            isolated_block_ids: blocks.map(ToString::to_string).collect(),
            model: conversation.model,
            model_settings: conversation.model_settings,
            last_message_at: conversation.last_message_at,
            created_by_id: conversation.created_by_id,
            last_updated_by_id: conversation.last_updated_by_id,
            created_at: conversation.created_at,
            updated_at: conversation.updated_at,
        }
    }
}

impl ConversationView {
    /// An agent's own thread in the form of a conversation.
    pub(super) fn of_agent(agent: Agent) -> Self {
        let mut conversation = Conversation::new(agent.id);
        conversation.in_context_message_ids = agent.message_ids;
        conversation.created_at = agent.created_at;
        conversation.updated_at = agent.updated_at;
        Self {
            id: super::super::messages::list::DEFAULT.to_owned(),
            ..conversation.into()
        }
    }
}
