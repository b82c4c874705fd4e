//! The first messages of a thread.

use bulkhead_domain::{
    Agent, AgentType, Block, Message, Part, Role, Timestamp, ToolCall, ToolReturn, ToolStatus,
    id::ConversationId,
};
use serde_json::{Value, json};

use crate::{
    defaults::SEND_MESSAGE,
    input::Incoming,
    pack,
    prompt::{Parts, Sections},
};

/// The first messages of an agent: its system message, and the sequence that its owner wants or the
/// one that its type begins with.
pub fn first_messages(
    agent: &Agent,
    blocks: &[Block],
    sequence: Option<Vec<Incoming>>,
) -> Vec<Message> {
    let now = agent.recompiled_at;
    let mut messages = vec![system_message(agent, blocks, None, now)];
    match sequence {
        Some(sequence) => messages.extend(sequence.into_iter().map(|incoming| Message {
            created_at: now,
            ..incoming.into_message(agent.id)
        })),
        None => messages.extend(default_messages(agent, now)),
    }
    messages
}

/// The system message of a new thread.
pub fn system_message(
    agent: &Agent,
    blocks: &[Block],
    conversation: Option<ConversationId>,
    at: Timestamp,
) -> Message {
    let sections = Sections::of(&Parts {
        directories: &[],
        files_open: 0,
        agent,
        blocks,
        conversation,
        hidden_messages: 0,
        passages: 0,
        passage_tags: &[],
        at,
    });
    Message {
        conversation_id: conversation,
        created_at: at,
        ..Message::text(agent.id, Role::System, sections.text())
    }
}

/// What agents of the older types begin with: a first greeting, and the news that somebody came.
pub(crate) fn default_messages(agent: &Agent, now: Timestamp) -> Vec<Message> {
    if !matches!(
        agent.agent_type,
        AgentType::MemgptAgent | AgentType::MemgptV2Agent
    ) {
        return Vec::new();
    }
    let message = |role| Message {
        created_at: now,
        ..Message::new(agent.id, role)
    };
    let call = ToolCall {
        id: format!("call_{}", uuid::Uuid::new_v4()),
        name: SEND_MESSAGE.to_owned(),
        arguments: json!({"message": "Hello. What can I do for you?"}).to_string(),
        signature: None,
    };
    let text = "Sent message successfully.";
    let returned = ToolReturn {
        tool_call_id: call.id.clone(),
        name: call.name.clone(),
        status: ToolStatus::Success,
        text: text.to_owned(),
        packed: pack::tool_return(
            ToolStatus::Success,
            &Value::from(text),
            now,
            &agent.timezone,
        ),
        stdout: None,
        stderr: None,
        parts: None,
        receipt_id: None,
    };
    vec![
        Message {
            content: vec![Part::Reasoning {
                is_native: false,
                reasoning: "I am awake for the first time. I greet whoever is there.".to_owned(),
                signature: None,
            }],
            tool_calls: vec![call],
            model: Some(agent.llm_config.model.clone()),
            ..message(Role::Assistant)
        },
        Message {
            tool_returns: vec![returned],
            ..message(Role::Tool)
        },
        Message {
            content: vec![Part::text(pack::login(now, &agent.timezone))],
            ..message(Role::User)
        },
    ]
}
