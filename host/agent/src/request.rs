//! A request to an agent.

use std::sync::Arc;

use bulkhead_domain::{
    LlmConfig,
    id::{AgentId, ConversationId},
};
use bulkhead_llm::ToolSpec;
use serde_json::Value;

use crate::{active::ThreadKey, input::Input};

/// Calls of a model in one request, unless the client says otherwise.
pub const STEPS_DEFAULT: u32 = 50;

/// By which way a request came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunType {
    /// An answer as a whole.
    Message,
    /// An answer as a stream.
    Streaming,
    /// Nobody waits.
    Async,
    /// OpenAI's chat completions.
    ChatCompletions,
    /// An agent that looks after another one's memory.
    Sleeptime,
}

impl RunType {
    /// As it stands in a run's metadata.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Message => "send_message",
            Self::Streaming => "send_message_streaming",
            Self::Async => "send_message_async",
            Self::ChatCompletions => "openai_chat_completions",
            Self::Sleeptime => "sleeptime_agent_send_message_async",
        }
    }
}

/// What a client that listens wants to hear, and what happens when it leaves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Listening {
    /// Whether it hears pieces of answers.
    pub tokens: bool,
    /// Whether the run ends when nobody listens any more.
    pub ends_with_listener: bool,
}

/// A file of instructions that only the client can read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientSkill {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Where the client has it.
    pub location: String,
}

/// A request to an agent.
#[derive(Debug, Clone)]
pub struct RunRequest {
    /// The agent.
    pub agent_id: AgentId,
    /// None for its default thread.
    pub conversation_id: Option<ConversationId>,
    /// What the client brings.
    pub input: Input,
    /// Calls of the model at most.
    pub max_steps: u32,
    /// By which way it came.
    pub run_type: RunType,
    /// Who listens.
    pub listening: Listening,
    /// Whether the run goes on when its client leaves and its events are kept.
    pub background: bool,
    /// The client's ids of what it brings: by them a run in the background is found.
    pub otids: Vec<String>,
    /// A model for this request only.
    pub override_model: Option<LlmConfig>,
    /// A system prompt for this request only.
    pub override_system: Option<String>,
    /// Tools that the client runs.
    pub client_tools: Vec<ToolSpec>,
    /// Instructions that the client can read for the agent.
    pub client_skills: Vec<ClientSkill>,
    /// How the client wants assistant messages shown; kept with the run.
    pub request_config: Option<Value>,
    /// Where to report the end.
    pub callback_url: Option<String>,
    /// Who asks, for the provider.
    pub user: Option<String>,
    /// Agents that wait for this one, the newest last; ends with this agent.
    pub chain: Arc<[AgentId]>,
}

impl RunRequest {
    /// A request of this type in which nothing else is set.
    pub fn new(agent_id: AgentId, run_type: RunType) -> Self {
        Self {
            agent_id,
            conversation_id: None,
            input: Input::default(),
            max_steps: STEPS_DEFAULT,
            run_type,
            listening: Listening::default(),
            background: false,
            otids: Vec::new(),
            override_model: None,
            override_system: None,
            client_tools: Vec::new(),
            client_skills: Vec::new(),
            request_config: None,
            callback_url: None,
            user: None,
            chain: vec![agent_id].into(),
        }
    }

    /// The thread that it goes to.
    pub fn thread(&self) -> ThreadKey {
        ThreadKey {
            agent_id: self.agent_id,
            conversation_id: self.conversation_id,
        }
    }
}
