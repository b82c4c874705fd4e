//! What the loop needs from outside: models to ask, tools to run, and who drives what nobody waits for.

use std::sync::Arc;

use bulkhead_domain::{
    Agent, LlmConfig, Receipt, ToolReturn,
    id::{ConversationId, RunId, StepId},
};
use bulkhead_llm::{ChatReply, ChatRequest, Endpoint, LlmError, chat::Deltas};
use bulkhead_sandbox::services::{AgentsService, FilesService, MemoryService, RecallService};
use bulkhead_store::ToolRecord;
use futures::future::BoxFuture;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::{
    AgentError,
    engine::{Begun, Outcome},
};

/// Chat models of all providers.
pub trait Models: Send + Sync {
    /// The configuration of a model by its handle, `provider/model`.
    fn resolve<'a>(&'a self, handle: &'a str) -> BoxFuture<'a, Result<LlmConfig, AgentError>>;
    /// Where a configured model is reached.
    fn endpoint<'a>(&'a self, config: &'a LlmConfig)
    -> BoxFuture<'a, Result<Endpoint, AgentError>>;
    /// Asks a model. Dropping the future ends the request.
    fn chat<'a>(
        &'a self,
        request: &'a ChatRequest,
        deltas: Option<Deltas>,
    ) -> BoxFuture<'a, Result<ChatReply, LlmError>>;
}

/// What runs tools.
pub trait Tools: Send + Sync {
    /// Runs a tool and says how it ended, in the words for clients and models. A call that was
    /// cancelled ends soon, and says so.
    fn call(&self, call: Invocation) -> BoxFuture<'_, Executed>;
}

/// What drives runs for which nobody waits.
pub trait Background: Send + Sync {
    /// Drives a run to its end, and keeps what it tells for whoever looks for it. Returns at once.
    fn drive(&self, begun: Begun);
    /// What clients find of a run's outcome in its metadata.
    fn result(&self, outcome: &Outcome) -> Value;
}

/// One call of a tool on behalf of an agent.
#[derive(Clone)]
pub struct Invocation {
    /// The agent, as it is now.
    pub agent: Arc<Agent>,
    /// The thread.
    pub conversation_id: Option<ConversationId>,
    /// The tool.
    pub tool: Arc<ToolRecord>,
    /// Its arguments.
    pub arguments: Map<String, Value>,
    /// The model's id of the call; empty for a call that no model made.
    pub tool_call_id: String,
    /// Equal for every try of the same call.
    pub idempotency_key: String,
    /// The run, where there is one.
    pub run_id: Option<RunId>,
    /// The step, where there is one.
    pub step_id: Option<StepId>,
    /// Ends the call.
    pub cancel: CancellationToken,
    /// The agent's memory blocks.
    pub memory: Arc<dyn MemoryService>,
    /// Its archive and conversation.
    pub recall: Arc<dyn RecallService>,
    /// The files of its folders.
    pub files: Arc<dyn FilesService>,
    /// Other agents.
    pub agents: Arc<dyn AgentsService>,
}

/// How a call ended.
#[derive(Debug, Clone)]
pub struct Executed {
    /// For clients and the model.
    pub returned: ToolReturn,
    /// The value, where the tool gave one.
    pub value: Option<Value>,
    /// What it consumed and touched; none for a call that could not begin.
    pub receipt: Option<Receipt>,
}
