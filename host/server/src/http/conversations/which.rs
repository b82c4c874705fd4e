//! The thread that a path names: a conversation by its id, an agent's own thread by the agent's id,
//! or by the word `default` beside an agent's id elsewhere in the request.

use bulkhead_agent::ThreadKey;
use bulkhead_domain::{
    Conversation,
    id::{AgentId, ConversationId},
};

use crate::{
    app::App,
    contract::{Refusal, id},
    http::{agents::find, messages::list::DEFAULT, missing},
};

/// The thread that `conversation_id` of the path names; `agent_id` is the one elsewhere in the
/// request. That the agent is there is not known by then.
pub(crate) async fn thread(
    app: &App,
    conversation_id: &str,
    agent_id: Option<&str>,
) -> Result<ThreadKey, Refusal> {
    if conversation_id == DEFAULT {
        let agent_id = agent_id.ok_or_else(|| {
            Refusal::bad_request(
                "INVALID_ARGUMENT: agent_id is required when conversation_id is 'default'",
            )
        })?;
        return Ok(ThreadKey::default_of(find::id(agent_id)?));
    }
    if let Ok(agent_id) = conversation_id.parse::<AgentId>() {
        return Ok(ThreadKey::default_of(agent_id));
    }
    let conversation = conversation(app, conversation_id).await?;
    Ok(ThreadKey {
        agent_id: conversation.agent_id,
        conversation_id: Some(conversation.id),
    })
}

/// The conversation with this id of the path.
pub(crate) async fn conversation(
    app: &App,
    conversation_id: &str,
) -> Result<Conversation, Refusal> {
    let id: ConversationId = id::parse("conversation_id", conversation_id)?;
    let found = app.store.conversation(&id).await?;
    found.ok_or_else(|| missing::object("Conversation", id))
}
