//! An agent with a history, for the tests of all that makes one.

use bulkhead_domain::{
    Agent, Message, Part, Role, Run, RunStatus, Step, StepStatus, Timestamp, ToolCall, ToolReturn,
    ToolStatus, Usage,
    id::{AgentId, MessageId, RunId, StepId},
};
use bulkhead_store::{ContextChange, NewAgent, StepCommit, Store};
use serde_json::json;

/// A new agent with a system message.
pub(crate) async fn new_agent(store: &Store) -> (AgentId, MessageId) {
    let id = AgentId::random();
    let system = Message::text(id, Role::System, "You are helpful.");
    let now = Timestamp::now();
    let agent: Agent = serde_json::from_value(json!({
        "id": id, "name": "Tester", "agent_type": "letta_v1_agent", "system": "You are helpful.",
        "message_ids": [system.id], "recompiled_at": now, "created_at": now, "updated_at": now,
        "llm_config": {
            "model": "scripted", "model_endpoint_type": "openai", "context_window": 8000,
        },
    }))
    .unwrap();
    let mut new = NewAgent::new(agent);
    new.messages.push(system.clone());
    store.create_agent(&new).await.unwrap();
    (id, system.id)
}

/// A run that was just made.
pub(crate) fn run(agent_id: AgentId) -> Run {
    Run {
        id: RunId::random(),
        agent_id,
        conversation_id: None,
        status: RunStatus::Created,
        stop_reason: None,
        background: false,
        metadata: Some(json!({"run_type": "send_message"})),
        request_config: None,
        callback_url: None,
        callback_sent_at: None,
        callback_status_code: None,
        callback_error: None,
        ttft_ns: None,
        total_duration_ns: None,
        created_at: Timestamp::now(),
        completed_at: None,
    }
}

/// A step that went well.
pub(crate) fn step(agent_id: AgentId, run_id: Option<RunId>) -> Step {
    let id = StepId::random();
    let usage = Usage {
        completion_tokens: 5,
        prompt_tokens: 20,
        total_tokens: 25,
        cached_input_tokens: Some(4),
        ..Usage::default()
    };
    serde_json::from_value(json!({
        "id": id, "agent_id": agent_id, "run_id": run_id, "status": StepStatus::Success,
        "model": "scripted", "usage": usage, "created_at": Timestamp::now(),
    }))
    .unwrap()
}

/// What a user says, the model's call of a tool, its result, and the model's answer.
pub(crate) fn exchange(agent_id: AgentId, tool: &str) -> Vec<Message> {
    let mut call = Message::new(agent_id, Role::Assistant);
    call.tool_calls = vec![ToolCall {
        id: format!("call_{}", call.id.uuid().simple()),
        name: tool.to_owned(),
        arguments: "{}".to_owned(),
        signature: None,
    }];
    let mut result = Message::new(agent_id, Role::Tool);
    result.tool_returns = vec![ToolReturn {
        tool_call_id: call.tool_calls[0].id.clone(),
        name: tool.to_owned(),
        status: ToolStatus::Success,
        text: "Sunny".to_owned(),
        packed: json!({"status": "OK", "message": "Sunny"}).to_string(),
        stdout: None,
        stderr: None,
        parts: None,
        receipt_id: None,
    }];
    let mut answer = Message::text(agent_id, Role::Assistant, "It is sunny.");
    answer.content.insert(
        0,
        Part::Reasoning {
            is_native: true,
            reasoning: "The tool says so.".to_owned(),
            signature: Some("signed".to_owned()),
        },
    );
    let question = Message::text(agent_id, Role::User, "How is the weather?");
    vec![question, call, result, answer]
}

/// A commit that adds these messages to the context.
pub(crate) fn adding(
    agent_id: AgentId,
    expected: &[MessageId],
    messages: Vec<Message>,
) -> StepCommit {
    let mut commit = StepCommit::new(agent_id, None);
    let new = messages.iter().map(|message| message.id);
    commit.context = Some(ContextChange {
        expected: expected.to_vec(),
        next: expected.iter().copied().chain(new).collect(),
    });
    commit.messages = messages;
    commit
}

/// What an agent's model sees.
pub(crate) async fn context(store: &Store, agent_id: &AgentId) -> Vec<MessageId> {
    store.agent(agent_id).await.unwrap().unwrap().message_ids
}
