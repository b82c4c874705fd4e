//! What a model is asked and what it answers, whatever the provider.

use std::{fmt, time::Duration};

use bulkhead_domain::{LlmConfig, Part, ToolCall, Usage};
use serde_json::Value;
use tokio::sync::mpsc;
use zeroize::Zeroizing;

/// Where a provider is reached and how it knows the caller.
#[derive(Clone)]
pub struct Endpoint {
    /// The provider's name in this installation: the first half of its models' handles.
    pub name: String,
    /// The provider's name as people know it, for messages: `OpenAI`, `Anthropic`, `Google AI`, ….
    pub provider: String,
    /// `provider-<uuid>` of a provider that was made through the API; none for others.
    pub provider_id: Option<String>,
    /// Without a trailing slash, up to and with the version where the vendor's SDK wants it there
    /// (`https://api.openai.com/v1`, `https://api.anthropic.com`,
    /// `https://generativelanguage.googleapis.com`).
    pub base_url: String,
    /// The key; none for local servers.
    pub api_key: Option<Zeroizing<String>>,
    /// Further headers.
    pub headers: Vec<(String, String)>,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("provider", &self.provider)
            .field("base_url", &self.base_url)
            .finish_non_exhaustive()
    }
}

/// A question to a model.
#[derive(Debug, Clone)]
pub struct ChatRequest {
    /// The model and how it is asked. `model_endpoint_type` chooses the wire format.
    pub config: LlmConfig,
    /// Where.
    pub endpoint: Endpoint,
    /// The system prompt.
    pub system: String,
    /// The conversation, oldest first.
    pub messages: Vec<ChatMessage>,
    /// Functions that the model may call.
    pub tools: Vec<ToolSpec>,
    /// Whether it must call one. Of no effect without tools.
    pub tool_choice: ToolChoice,
    /// Whether it may call several at once.
    pub parallel_tool_calls: bool,
    /// Who asks, for the provider's own limits and logs.
    pub user: Option<String>,
    /// Replies for the offline model, see `scripted`; other models don't see it.
    pub script: Option<Value>,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum ChatMessage {
    /// A notice of the system in the middle of the conversation.
    System(String),
    /// A person: texts and images (`Base64`, `Url`, or `Letta` with its data).
    User(Vec<Part>),
    /// The model.
    Assistant {
        /// Reasoning and text, in order.
        content: Vec<Part>,
        /// Calls, in order.
        tool_calls: Vec<ToolCall>,
        /// The model that wrote it, where known: signatures are good for that one only.
        model: Option<String>,
    },
    /// The result of one call.
    Tool {
        /// The call.
        tool_call_id: String,
        /// The tool.
        name: String,
        /// What the model reads.
        text: String,
        /// Images beside the text.
        images: Vec<Part>,
        /// Whether it failed.
        is_error: bool,
    },
}

/// A function that a model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of an object.
    pub parameters: Value,
}

/// Whether a model must call a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// As it likes.
    #[default]
    Auto,
    /// One of them.
    Required,
    /// This one.
    Tool(String),
}

/// A piece of an answer, as it comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delta {
    /// A piece of reasoning.
    Reasoning(String),
    /// A piece of text.
    Text(String),
    /// A call begins.
    ToolCall {
        /// Its place among the calls of this answer, from 0.
        index: usize,
        /// The provider's id of it.
        id: String,
        /// The tool.
        name: String,
    },
    /// A piece of a call's arguments, raw JSON text.
    Arguments {
        /// Its place among the calls of this answer.
        index: usize,
        /// The piece.
        json: String,
    },
}

/// Where pieces go. Bounded: a reader that does not keep up slows the provider's stream down.
/// That nobody reads any more is no error.
pub type Deltas = mpsc::Sender<Delta>;

/// Why an answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finish {
    /// The model was done, or wants its calls run.
    Stop,
    /// It had no more tokens.
    Length,
    /// The provider held it back.
    Filtered,
    /// Something else, in the provider's word.
    Other(String),
}

/// A whole answer.
#[derive(Debug, Clone)]
pub struct ChatReply {
    /// Reasoning and text, in order; empty texts are left out.
    pub content: Vec<Part>,
    /// Calls, in order. Never two with the same id.
    pub tool_calls: Vec<ToolCall>,
    /// Why it ended.
    pub finish: Finish,
    /// What it cost.
    pub usage: Usage,
    /// The model that answered, in the provider's word.
    pub model: String,
    /// The body that was sent; holds no key.
    pub request_json: Value,
    /// The body that came back; of a stream, its events folded into the form of a whole answer.
    pub response_json: Value,
    /// Logarithms of probabilities in OpenAI's form, where they were asked for and given.
    pub logprobs: Option<Value>,
    /// From the request to the first piece; none for answers that came whole.
    pub first_delta: Option<Duration>,
}
