//! What fills a context window, part by part.

use bulkhead_domain::{
    Message, Role, ToolReturn,
    id::{AgentId, ConversationId},
};
use bulkhead_store::{MessageFilter, ThreadFilter};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    AgentError, Engine,
    active::ThreadKey,
    compact::{text_tokens, tokens},
    compiled_here,
    thread::{self, Thread},
    toolset::spec,
};

/// What fills a context window; the fields are those of the contract. Tokens are estimates.
#[derive(Debug, Clone, Serialize)]
#[expect(
    missing_docs,
    reason = "the names are the contract's and say what they are"
)]
pub struct ContextOverview {
    pub context_window_size_max: i64,
    pub context_window_size_current: i64,
    pub num_messages: i64,
    pub num_archival_memory: i64,
    pub num_recall_memory: i64,
    pub num_tokens_system: i64,
    pub system_prompt: String,
    pub num_tokens_core_memory: i64,
    pub core_memory: String,
    pub num_tokens_memory_filesystem: i64,
    pub memory_filesystem: Option<String>,
    pub num_tokens_tool_usage_rules: i64,
    pub tool_usage_rules: Option<String>,
    pub num_tokens_directories: i64,
    pub directories: Option<String>,
    pub num_tokens_external_memory_summary: i64,
    pub external_memory_summary: String,
    pub num_tokens_summary_memory: i64,
    pub summary_memory: Option<String>,
    pub num_tokens_functions_definitions: i64,
    pub functions_definitions: Vec<Value>,
    pub num_tokens_messages: i64,
    pub messages: Vec<Value>,
}

impl Engine {
    /// What fills the context window of a thread now, at any moment: also while a request for
    /// approval is open.
    ///
    /// # Errors
    ///
    /// For an agent or conversation that is not there, and failures of the database.
    #[compiled_here]
    pub async fn context(
        &self,
        agent_id: AgentId,
        conversation_id: Option<ConversationId>,
    ) -> Result<ContextOverview, AgentError> {
        let store = self.store();
        let key = ThreadKey {
            agent_id,
            conversation_id,
        };
        let thread = Thread::load(store, key).await?;
        let sections = thread.sections(store, thread.agent.recompiled_at).await?;
        let (passages, _) = thread::archive(store, &agent_id).await?;
        let filter = MessageFilter {
            agent_id: Some(agent_id),
            thread: ThreadFilter::of(conversation_id),
            ..MessageFilter::default()
        };
        let recall = store.count_messages(&filter).await?;
        let specs: Vec<_> = thread.tools.iter().map(|tool| spec(tool)).collect();
        let functions: Vec<Value> = specs.iter().map(function).collect();
        let (summaries, messages): (Vec<_>, Vec<_>) = thread
            .context
            .iter()
            .cloned()
            .partition(|message| message.role == Role::Summary);
        let summary = summaries.first().map(Message::plain_text);
        let rules = Some(sections.rules.clone()).filter(|rules| !rules.is_empty());
        let directories = Some(sections.directories).filter(|text| !text.is_empty());
        let mut overview = ContextOverview {
            context_window_size_max: thread.agent.llm_config.context_window,
            context_window_size_current: 0,
            num_messages: count(thread.context.len() + usize::from(thread.system.is_some())),
            num_archival_memory: i64::try_from(passages).unwrap_or(i64::MAX),
            num_recall_memory: i64::try_from(recall).unwrap_or(i64::MAX),
            num_tokens_system: text_tokens(&sections.instructions),
            system_prompt: sections.instructions,
            num_tokens_core_memory: text_tokens(&sections.memory),
            core_memory: sections.memory,
            num_tokens_memory_filesystem: 0,
            memory_filesystem: None,
            num_tokens_tool_usage_rules: rules.as_deref().map_or(0, text_tokens),
            tool_usage_rules: rules,
            num_tokens_directories: directories.as_deref().map_or(0, text_tokens),
            directories,
            num_tokens_external_memory_summary: text_tokens(&sections.metadata),
            external_memory_summary: sections.metadata,
            num_tokens_summary_memory: summary.as_deref().map_or(0, text_tokens),
            summary_memory: summary,
            num_tokens_functions_definitions: tokens("", &[], &specs),
            functions_definitions: functions,
            num_tokens_messages: tokens("", &messages, &[]),
            messages: messages.iter().map(internal).collect(),
        };
        overview.context_window_size_current = overview.num_tokens_system
            + overview.num_tokens_core_memory
            + overview.num_tokens_tool_usage_rules
            + overview.num_tokens_directories
            + overview.num_tokens_external_memory_summary
            + overview.num_tokens_summary_memory
            + overview.num_tokens_functions_definitions
            + overview.num_tokens_messages;
        Ok(overview)
    }
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn function(spec: &bulkhead_llm::ToolSpec) -> Value {
    json!({"type": "function", "function": {
        "name": spec.name, "description": spec.description,
        "parameters": spec.parameters, "strict": null,
    }})
}

/// A message in the form that the server it comes from keeps it in.
pub fn internal(message: &Message) -> Value {
    let calls = message.tool_calls.iter().map(|call| {
        json!({"id": call.id, "type": "function",
            "function": {"name": call.name, "arguments": call.arguments}})
    });
    let calls: Vec<Value> = calls.collect();
    let returns: Vec<Value> = message.tool_returns.iter().map(stored_return).collect();
    let first = message
        .approvals
        .iter()
        .find_map(|approval| match approval {
            bulkhead_domain::Approval::Approval {
                approve,
                reason,
                tool_call_id,
            } => Some((*approve, reason.clone(), tool_call_id.clone())),
            bulkhead_domain::Approval::Tool { .. } => None,
        });
    json!({
        "created_by_id": null,
        "last_updated_by_id": null,
        "created_at": message.created_at,
        "updated_at": message.created_at,
        "id": message.id,
        "agent_id": message.agent_id,
        "model": message.model,
        "role": message.role,
        "content": message.content,
        "name": message.name,
        "tool_calls": (!calls.is_empty()).then_some(calls),
        "tool_call_id": message.tool_returns.first().map(|first| &first.tool_call_id),
        "step_id": message.step_id,
        "run_id": message.run_id,
        "otid": message.otid,
        "tool_returns": returns,
        "group_id": message.group_id,
        "sender_id": message.sender_id,
        "batch_item_id": null,
        "conversation_id": message.conversation_id,
        "is_err": message.is_err,
        "approval_request_id": first.as_ref().map(|(_, _, id)| id),
        "approve": first.as_ref().map(|(approve, _, _)| approve),
        "denial_reason": first.as_ref().and_then(|(_, reason, _)| reason.as_ref()),
        "approvals": message.approvals,
    })
}

fn stored_return(returned: &ToolReturn) -> Value {
    json!({
        "tool_call_id": returned.tool_call_id,
        "status": returned.status,
        "stdout": returned.stdout,
        "stderr": returned.stderr,
        "func_response": returned.packed,
    })
}
