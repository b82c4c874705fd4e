//! Whether a thread is whole: what its model sees against what is stored.

use std::collections::{HashMap, HashSet, VecDeque};

use bulkhead_domain::{
    Message,
    id::{AgentId, ConversationId, MessageId},
};

use super::ids;
use crate::{
    Result, Store, compiled_here,
    message::{lists, record, select},
    sql::Statement,
};

/// Something in a thread that must not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Disagreement {
    /// A message is in context and not stored.
    Missing(MessageId),
    /// A message is in context and another agent's.
    OtherAgent(MessageId),
    /// A message is in context twice.
    Twice(MessageId),
    /// A tool call has no result after it, and does not wait for an approval at the end.
    Unanswered {
        /// The message with the call.
        message_id: MessageId,
        /// The call.
        tool_call_id: String,
    },
    /// A result has no call before it.
    Unasked {
        /// The message with the result.
        message_id: MessageId,
        /// The call that it names.
        tool_call_id: String,
    },
}

impl Store {
    /// What disagrees in a thread: of the agent's own one, or of a conversation. Empty where it
    /// is whole, as every commit leaves it.
    #[compiled_here]
    pub async fn verify_thread(
        &self,
        agent_id: &AgentId,
        conversation_id: Option<&ConversationId>,
    ) -> Result<Vec<Disagreement>> {
        let context = self.context_of(agent_id, conversation_id).await?;
        let mut stored = HashMap::new();
        for list in lists(&context) {
            let mut query = select();
            query.push(" WHERE id IN (").push_list(list);
            for row in &self.database().all(query).await? {
                let message = record(row)?;
                stored.insert(message.id, message);
            }
        }
        let mut disagreements = Vec::new();
        let mut messages = Vec::new();
        let mut seen = HashSet::new();
        for id in context {
            match stored.get(&id) {
                _ if !seen.insert(id) => disagreements.push(Disagreement::Twice(id)),
                None => disagreements.push(Disagreement::Missing(id)),
                Some(message) if message.agent_id != *agent_id => {
                    disagreements.push(Disagreement::OtherAgent(id));
                }
                Some(message) => messages.push(message),
            }
        }
        disagreements.extend(check_calls(&messages));
        Ok(disagreements)
    }

    async fn context_of(
        &self,
        agent_id: &AgentId,
        conversation_id: Option<&ConversationId>,
    ) -> Result<Vec<MessageId>> {
        let Some(conversation_id) = conversation_id else {
            let query = "SELECT message_ids FROM agents WHERE id = $1";
            let query = Statement::new(query).bind(agent_id.to_string());
            return ids(self.database().optional(query).await?, "agent", agent_id);
        };
        let query = "SELECT message_ids FROM conversations WHERE id = $1 AND agent_id = $2";
        let query = Statement::new(query)
            .bind(conversation_id.to_string())
            .bind(agent_id.to_string());
        let row = self.database().optional(query).await?;
        ids(row, "conversation", conversation_id)
    }
}

/// What disagrees among the calls and results of a context, whose messages stand in their order. Every
/// call has its result after it; those of a request for approval that nobody has answered yet have
/// none, and neither have the calls of the same step that wait with them.
pub fn check_calls(messages: &[&Message]) -> Vec<Disagreement> {
    let pending = messages.last().filter(|last| last.is_approval_request());
    let waits = |message: &Message| {
        pending.is_some_and(|pending| {
            message.id == pending.id
                || (message.step_id.is_some() && message.step_id == pending.step_id)
        })
    };
    let mut disagreements = Vec::new();
    // Calls in their order; none where the result was found.
    let mut open: Vec<Option<(MessageId, &str)>> = Vec::new();
    // Where those of an id stand: of two with the same one the first is answered first.
    let mut places: HashMap<&str, VecDeque<usize>> = HashMap::new();
    for message in messages {
        for result in &message.tool_returns {
            let id = result.tool_call_id.as_str();
            let asked = places.get_mut(id).and_then(VecDeque::pop_front);
            match asked.and_then(|asked| open.get_mut(asked)) {
                Some(asked) => *asked = None,
                None => disagreements.push(Disagreement::Unasked {
                    message_id: message.id,
                    tool_call_id: id.to_owned(),
                }),
            }
        }
        if !waits(message) {
            for call in &message.tool_calls {
                let id = call.id.as_str();
                places.entry(id).or_default().push_back(open.len());
                open.push(Some((message.id, id)));
            }
        }
    }
    let unanswered = open.into_iter().flatten();
    disagreements.extend(unanswered.map(|(message_id, id)| Disagreement::Unanswered {
        message_id,
        tool_call_id: id.to_owned(),
    }));
    disagreements
}
