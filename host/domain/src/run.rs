//! Runs and steps: what one request to an agent did, and what each call of a model cost.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Timestamp,
    id::{AgentId, ConversationId, RunId, StepId},
};

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// It has not begun.
    Created,
    /// It is going on.
    Running,
    /// It ended as it should; it may wait for an approval.
    Completed,
    /// It ended with an error.
    Failed,
    /// It was cancelled.
    Cancelled,
}

impl RunStatus {
    /// As it is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether it has ended.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

/// Why an agent stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// An answer without a tool call.
    EndTurn,
    /// As many steps as were allowed.
    MaxSteps,
    /// A tool ran whose rule ends the turn.
    ToolRule,
    /// A call waits for a person or for the client.
    RequiresApproval,
    /// Somebody cancelled it.
    Cancelled,
    /// Something inside failed.
    Error,
    /// The provider failed.
    LlmApiError,
    /// The provider's answer can't be used.
    InvalidLlmResponse,
    /// Older loops.
    InvalidToolCall,
    /// The provider stopped for length.
    MaxTokensExceeded,
    /// Older loops.
    NoToolCall,
    /// Billing.
    InsufficientCredits,
    /// The system prompt alone is too large for the model.
    ContextWindowOverflowInSystemPrompt,
}

impl StopReason {
    /// As it is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::EndTurn => "end_turn",
            Self::MaxSteps => "max_steps",
            Self::ToolRule => "tool_rule",
            Self::RequiresApproval => "requires_approval",
            Self::Cancelled => "cancelled",
            Self::Error => "error",
            Self::LlmApiError => "llm_api_error",
            Self::InvalidLlmResponse => "invalid_llm_response",
            Self::InvalidToolCall => "invalid_tool_call",
            Self::MaxTokensExceeded => "max_tokens_exceeded",
            Self::NoToolCall => "no_tool_call",
            Self::InsufficientCredits => "insufficient_credits",
            Self::ContextWindowOverflowInSystemPrompt => "context_window_overflow_in_system_prompt",
        }
    }

    /// The status of a run that ended for this reason.
    pub fn run_status(self) -> RunStatus {
        match self {
            Self::EndTurn | Self::MaxSteps | Self::ToolRule | Self::RequiresApproval => {
                RunStatus::Completed
            }
            Self::Cancelled => RunStatus::Cancelled,
            _ => RunStatus::Failed,
        }
    }
}

macro_rules! spelled {
    ($($type:ident, $what:literal;)*) => {$(
        impl std::str::FromStr for $type {
            type Err = UnknownWord;

            fn from_str(text: &str) -> Result<Self, UnknownWord> {
                serde_json::from_value(serde_json::Value::from(text))
                    .map_err(|_| UnknownWord::new($what, text))
            }
        }
    )*};
}
pub(crate) use spelled;

/// A text that is none of the words that were expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' is no {what}")]
pub struct UnknownWord {
    what: &'static str,
    text: String,
}

impl UnknownWord {
    pub(crate) fn new(what: &'static str, text: &str) -> Self {
        let text = text.to_owned();
        Self { what, text }
    }
}

spelled! {
    RunStatus, "run status";
    StopReason, "stop reason";
    StepStatus, "step status";
}

/// What one request to an agent does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Its id.
    pub id: RunId,
    /// The agent.
    pub agent_id: AgentId,
    /// The thread, where it is not the default one.
    #[serde(default)]
    pub conversation_id: Option<ConversationId>,
    /// How far it is.
    pub status: RunStatus,
    /// Why it ended.
    #[serde(default)]
    pub stop_reason: Option<StopReason>,
    /// Whether it goes on when its client leaves.
    #[serde(default)]
    pub background: bool,
    /// `run_type`, and `error` of a failed one.
    #[serde(default)]
    pub metadata: Option<Value>,
    /// How the client wants assistant messages shown.
    #[serde(default)]
    pub request_config: Option<Value>,
    /// Where to report the end.
    #[serde(default)]
    pub callback_url: Option<String>,
    /// When it was reported.
    #[serde(default)]
    pub callback_sent_at: Option<Timestamp>,
    /// What the receiver answered.
    #[serde(default)]
    pub callback_status_code: Option<i64>,
    /// Why it could not be reported.
    #[serde(default)]
    pub callback_error: Option<String>,
    /// Nanoseconds to the first token of the first step.
    #[serde(default)]
    pub ttft_ns: Option<i64>,
    /// Nanoseconds from beginning to end.
    #[serde(default)]
    pub total_duration_ns: Option<i64>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ended.
    #[serde(default)]
    pub completed_at: Option<Timestamp>,
}

/// How far a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    /// The model was called.
    Pending,
    /// It and its tools are done.
    Success,
    /// It failed.
    Failed,
    /// It was cancelled.
    Cancelled,
}

impl StepStatus {
    /// As it is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Success => "success",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Tokens of one call of a model, or of several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the answer, reasoning included.
    pub completion_tokens: i64,
    /// Tokens of the request, cached ones included.
    pub prompt_tokens: i64,
    /// Both.
    pub total_tokens: i64,
    /// Part of the prompt that came from the provider's cache.
    #[serde(default)]
    pub cached_input_tokens: Option<i64>,
    /// Part of the prompt that was written to the provider's cache.
    #[serde(default)]
    pub cache_write_tokens: Option<i64>,
    /// Part of the answer that is reasoning.
    #[serde(default)]
    pub reasoning_tokens: Option<i64>,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        let sum = |a: Option<i64>, b: Option<i64>| match (a, b) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
        };
        self.completion_tokens = self
            .completion_tokens
            .saturating_add(other.completion_tokens);
        self.prompt_tokens = self.prompt_tokens.saturating_add(other.prompt_tokens);
        self.total_tokens = self.total_tokens.saturating_add(other.total_tokens);
        self.cached_input_tokens = sum(self.cached_input_tokens, other.cached_input_tokens);
        self.cache_write_tokens = sum(self.cache_write_tokens, other.cache_write_tokens);
        self.reasoning_tokens = sum(self.reasoning_tokens, other.reasoning_tokens);
    }
}

/// One call of a model and the tools that it called.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Its id.
    pub id: StepId,
    /// The agent.
    pub agent_id: AgentId,
    /// The request.
    #[serde(default)]
    pub run_id: Option<RunId>,
    /// How far it is.
    pub status: StepStatus,
    /// Why the run ended here; none where it went on.
    #[serde(default)]
    pub stop_reason: Option<StopReason>,
    /// The provider's name.
    #[serde(default)]
    pub provider_name: Option<String>,
    /// `base` or `byok`.
    #[serde(default)]
    pub provider_category: Option<String>,
    /// The provider's id, where it was configured through the API.
    #[serde(default)]
    pub provider_id: Option<String>,
    /// The model.
    #[serde(default)]
    pub model: Option<String>,
    /// `provider/model`.
    #[serde(default)]
    pub model_handle: Option<String>,
    /// Where the model was called.
    #[serde(default)]
    pub model_endpoint: Option<String>,
    /// Tokens that fit the agent's context.
    #[serde(default)]
    pub context_window_limit: Option<i64>,
    /// What it cost.
    #[serde(default)]
    pub usage: Usage,
    /// `positive` or `negative`.
    #[serde(default)]
    pub feedback: Option<String>,
    /// Words to find it by.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Set by a client.
    #[serde(default)]
    pub tid: Option<String>,
    /// The agent's project.
    #[serde(default)]
    pub project_id: Option<String>,
    /// The kind of its error.
    #[serde(default)]
    pub error_type: Option<String>,
    /// What is known of its error.
    #[serde(default)]
    pub error_data: Option<Value>,
    /// The ids of its calls that were approved and have begun to run, until their results are
    /// stored: what is left here when a server ends is not run again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub begun_calls: Vec<String>,
    /// How long its parts took.
    #[serde(default)]
    pub metrics: StepMetrics,
    /// When it began.
    pub created_at: Timestamp,
}

/// How long the parts of a step took, in nanoseconds; starts are since the epoch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepMetrics {
    /// When it began.
    pub step_start_ns: Option<i64>,
    /// When the model was called.
    pub llm_request_start_ns: Option<i64>,
    /// How long the model took.
    pub llm_request_ns: Option<i64>,
    /// How long its tools took.
    pub tool_execution_ns: Option<i64>,
    /// All of it.
    pub step_ns: Option<i64>,
}

/// What a provider was sent and answered in one step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// Its id.
    pub id: crate::id::TraceId,
    /// The step.
    pub step_id: StepId,
    /// The agent.
    pub agent_id: AgentId,
    /// The request.
    #[serde(default)]
    pub run_id: Option<RunId>,
    /// `agent_step` or `summarization`.
    pub call_type: String,
    /// The request's body, without secrets.
    pub request_json: Value,
    /// The answer's body.
    pub response_json: Value,
    /// When it was made.
    pub created_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_and_states_are_spelled_as_they_are_serialized() {
        for reason in [
            StopReason::EndTurn,
            StopReason::ContextWindowOverflowInSystemPrompt,
            StopReason::LlmApiError,
        ] {
            assert_eq!(
                serde_json::to_value(reason).ok(),
                Some(reason.as_str().into())
            );
            assert_eq!(reason.as_str().parse(), Ok(reason));
        }
        assert_eq!("running".parse(), Ok(RunStatus::Running));
        assert!("foo".parse::<RunStatus>().is_err());
    }

    #[test]
    fn usage_adds_up_and_keeps_the_unknown_unknown() {
        let mut sum = Usage::default();
        sum += Usage {
            prompt_tokens: 3,
            total_tokens: 3,
            reasoning_tokens: Some(2),
            ..Usage::default()
        };
        sum += Usage {
            prompt_tokens: 4,
            total_tokens: 4,
            ..Usage::default()
        };
        assert_eq!((sum.prompt_tokens, sum.total_tokens), (7, 7));
        assert_eq!(
            (sum.reasoning_tokens, sum.cached_input_tokens),
            (Some(2), None)
        );
    }
}
