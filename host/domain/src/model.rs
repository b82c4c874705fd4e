//! How an agent's model is configured. The JSON forms are those of the wire.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The model of an agent and how it is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LlmConfig {
    /// What the provider calls the model.
    pub model: String,
    /// A name for people.
    #[serde(default)]
    pub display_name: Option<String>,
    /// Whose wire format the endpoint speaks: `openai`, `anthropic`, `google_ai`, ….
    pub model_endpoint_type: String,
    /// The base URL.
    #[serde(default)]
    pub model_endpoint: Option<String>,
    /// The provider's name in this installation.
    #[serde(default)]
    pub provider_name: Option<String>,
    /// `base` (the server's environment) or `byok` (made through the API).
    #[serde(default)]
    pub provider_category: Option<String>,
    /// Older servers.
    #[serde(default)]
    pub model_wrapper: Option<String>,
    /// Tokens that fit.
    pub context_window: i64,
    /// Older loops.
    #[serde(default)]
    pub put_inner_thoughts_in_kwargs: Option<bool>,
    /// `provider/model`.
    #[serde(default)]
    pub handle: Option<String>,
    /// How freely the model chooses, 0 to 2.
    #[serde(default = "one")]
    pub temperature: f64,
    /// Tokens of an answer at most.
    #[serde(default)]
    pub max_tokens: Option<i64>,
    /// Whether a model that can reason does.
    #[serde(default = "yes")]
    pub enable_reasoner: bool,
    /// `none`, `minimal`, `low`, `medium`, `high`, `xhigh`.
    #[serde(default)]
    pub reasoning_effort: Option<String>,
    /// Tokens of reasoning at most; 0 for the provider's default.
    #[serde(default)]
    pub max_reasoning_tokens: i64,
    /// `low`, `medium`, `high`, `max` (Anthropic).
    #[serde(default)]
    pub effort: Option<String>,
    /// OpenAI.
    #[serde(default)]
    pub frequency_penalty: Option<f64>,
    /// LM Studio: `gguf` or `mlx`.
    #[serde(default)]
    pub compatibility_type: Option<String>,
    /// `low`, `medium`, `high`.
    #[serde(default)]
    pub verbosity: Option<String>,
    /// The vendor's cloud.
    #[serde(default)]
    pub tier: Option<String>,
    /// Whether the model may call several tools at once.
    #[serde(default = "some_no")]
    pub parallel_tool_calls: Option<bool>,
    /// `{"type": "text" | "json_object" | "json_schema", …}`.
    #[serde(default)]
    pub response_format: Option<Value>,
    /// Whether schemas are enforced by the provider.
    #[serde(default)]
    pub strict: bool,
    /// Whether the client wants the logarithms of probabilities.
    #[serde(default)]
    pub return_logprobs: bool,
    /// How many alternatives.
    #[serde(default)]
    pub top_logprobs: Option<i64>,
    /// Whether the client wants the ids of tokens.
    #[serde(default)]
    pub return_token_ids: bool,
    /// SGLang.
    #[serde(default)]
    pub tool_call_parser: Option<String>,
}

fn one() -> f64 {
    1.0
}

fn yes() -> bool {
    true
}

#[expect(clippy::unnecessary_wraps, reason = "the default of an optional field")]
fn some_no() -> Option<bool> {
    Some(false)
}

impl LlmConfig {
    /// A model with nothing but defaults.
    pub fn new(provider: &str, endpoint_type: &str, model: &str, context_window: i64) -> Self {
        Self {
            model: model.to_owned(),
            display_name: Some(model.to_owned()),
            model_endpoint_type: endpoint_type.to_owned(),
            model_endpoint: None,
            provider_name: Some(provider.to_owned()),
            provider_category: Some("base".to_owned()),
            model_wrapper: None,
            context_window,
            put_inner_thoughts_in_kwargs: Some(false),
            handle: Some(format!("{provider}/{model}")),
            temperature: 1.0,
            max_tokens: None,
            enable_reasoner: true,
            reasoning_effort: None,
            max_reasoning_tokens: 0,
            effort: None,
            frequency_penalty: None,
            compatibility_type: None,
            verbosity: None,
            tier: None,
            parallel_tool_calls: Some(false),
            response_format: None,
            strict: false,
            return_logprobs: false,
            top_logprobs: None,
            return_token_ids: false,
            tool_call_parser: None,
        }
    }

    /// `provider/model`, made of its parts where it was not given.
    pub fn handle(&self) -> String {
        match (&self.handle, &self.provider_name) {
            (Some(handle), _) => handle.clone(),
            (None, Some(provider)) => format!("{provider}/{}", self.model),
            (None, None) => format!("{}/{}", self.model_endpoint_type, self.model),
        }
    }
}

/// The embedding model of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EmbeddingConfig {
    /// Whose wire format the endpoint speaks.
    pub embedding_endpoint_type: String,
    /// The base URL.
    #[serde(default)]
    pub embedding_endpoint: Option<String>,
    /// What the provider calls the model.
    pub embedding_model: String,
    /// Numbers in a vector.
    pub embedding_dim: i64,
    /// Characters of a chunk.
    #[serde(default = "chunk_size")]
    pub embedding_chunk_size: Option<i64>,
    /// `provider/model`.
    #[serde(default)]
    pub handle: Option<String>,
    /// Texts in one request.
    #[serde(default = "batch_size")]
    pub batch_size: i64,
    /// Azure.
    #[serde(default)]
    pub azure_endpoint: Option<String>,
    /// Azure.
    #[serde(default)]
    pub azure_version: Option<String>,
    /// Azure.
    #[serde(default)]
    pub azure_deployment: Option<String>,
}

#[expect(clippy::unnecessary_wraps, reason = "the default of an optional field")]
fn chunk_size() -> Option<i64> {
    Some(300)
}

fn batch_size() -> i64 {
    32
}

/// How an agent's context is kept within its window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompactionSettings {
    /// The model that writes summaries, as a handle.
    #[serde(default)]
    pub model: Option<String>,
    /// How it is asked.
    #[serde(default)]
    pub model_settings: Option<Value>,
    /// What it is told; none for the mode's own prompt.
    #[serde(default)]
    pub prompt: Option<String>,
    /// Whether a scripted acknowledgement follows the prompt.
    #[serde(default)]
    pub prompt_acknowledgement: bool,
    /// Characters of a summary at most; none for no limit.
    #[serde(default = "clip_chars")]
    pub clip_chars: Option<i64>,
    /// What is summarised, and by whom.
    #[serde(default)]
    pub mode: CompactionMode,
    /// The share of messages that a sliding window evicts, 0 to 1.
    #[serde(default = "sliding_window")]
    pub sliding_window_percentage: f64,
}

#[expect(clippy::unnecessary_wraps, reason = "the default of an optional field")]
fn clip_chars() -> Option<i64> {
    Some(50_000)
}

fn sliding_window() -> f64 {
    0.3
}

impl CompactionSettings {
    /// These with the fields of `over` in the place of their own; null stands for no value where a
    /// field may have none, and counts as left out elsewhere.
    ///
    /// # Errors
    ///
    /// For a value that its field cannot have.
    pub fn overridden(&self, over: Map<String, Value>) -> Result<Self, serde_json::Error> {
        let mut merged = serde_json::to_value(self)?;
        if let Value::Object(merged) = &mut merged {
            let over = over.into_iter().filter(|(key, value)| {
                let needs_value = matches!(
                    key.as_str(),
                    "mode" | "prompt_acknowledgement" | "sliding_window_percentage"
                );
                !(needs_value && value.is_null())
            });
            merged.extend(over);
        }
        serde_json::from_value(merged)
    }
}

impl Default for CompactionSettings {
    fn default() -> Self {
        Self {
            model: None,
            model_settings: None,
            prompt: None,
            prompt_acknowledgement: false,
            clip_chars: clip_chars(),
            mode: CompactionMode::default(),
            sliding_window_percentage: sliding_window(),
        }
    }
}

/// What a compaction summarises, and by whom.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompactionMode {
    /// Everything but the system message.
    All,
    /// The oldest part.
    #[default]
    SlidingWindow,
    /// Everything, by the agent's own model inside the conversation.
    SelfCompactAll,
    /// The oldest part, by the agent's own model inside the conversation.
    SelfCompactSlidingWindow,
}

impl CompactionMode {
    /// The mode that summarises everything, by the same model.
    pub fn of_everything(self) -> Self {
        match self {
            Self::All | Self::SlidingWindow => Self::All,
            Self::SelfCompactAll | Self::SelfCompactSlidingWindow => Self::SelfCompactAll,
        }
    }
}
