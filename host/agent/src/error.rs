//! Why a request to an agent was refused, or its run failed.

use bulkhead_domain::{
    Agent, StopReason,
    id::{AgentId, ConversationId, MessageId, RunId},
    platform::Standing,
};
use bulkhead_llm::{ErrorKind, LlmError};
use bulkhead_store::StoreError;

/// A request that was refused, or a run that failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// There is no such agent.
    #[error("Agent with ID {0} not found")]
    NoAgent(AgentId),
    /// The agent has no such conversation.
    #[error("Conversation {0} not found")]
    NoConversation(ConversationId),
    /// Somebody must decide on the open request first.
    #[error(
        "CONFLICT: Cannot send a new message: The agent is waiting for approval on a tool call. \
         Please approve or deny the pending request before continuing."
    )]
    PendingApproval(MessageId),
    /// A decision, and nothing that waits for one.
    #[error(
        "Cannot process approval response: No tool call is currently awaiting approval. Please \
         send a regular message to interact with the agent."
    )]
    NothingToApprove,
    /// A decision on other calls than those that wait.
    #[error("Invalid tool call IDs. Expected '{expected}', but received '{received}'.")]
    WrongApprovals {
        /// As a list of Python.
        expected: String,
        /// As a list of Python.
        received: String,
    },
    /// The request is well-formed and wrong.
    #[error("INVALID_ARGUMENT: {0}")]
    Invalid(String),
    /// No provider knows the model.
    #[error("NOT_FOUND: {0}")]
    UnknownModel(String),
    /// The provider failed.
    #[error("{0}")]
    Llm(LlmError),
    /// A reply that the agent's type can't use.
    #[error("{0}")]
    UnusableReply(String),
    /// The context does not fit, and summarising did not help.
    #[error("CONTEXT_WINDOW_EXCEEDED: {0}")]
    ContextWindow(String),
    /// The system prompt alone does not fit.
    #[error(
        "CONTEXT_WINDOW_EXCEEDED: The system prompt tokens {tokens} exceeds the context window \
         {window}. Reduce system instructions, memory blocks, or tools, or use a model with a \
         larger context window."
    )]
    SystemPromptTooLarge {
        /// Estimated tokens of the system prompt.
        tokens: i64,
        /// Tokens that fit.
        window: i64,
    },
    /// Summarising would not make the context shorter.
    #[error(
        "Summarization failed to reduce the number of messages. You may not have enough messages \
         to compact or need to use a different CompactionSettings (e.g. using `all` mode)."
    )]
    NothingToCompact,
    /// The server that worked on the run ended before the run did.
    #[error(
        "The server that worked on this run ended before the run did. What its finished steps did \
         is in the messages; whether tools of the step that went on had an effect is not known. Where it finished \
         none, what it was sent is not stored either: send it again."
    )]
    Abandoned,
    /// Another server works on in the thread, in the place of this run's.
    #[error(
        "The server that worked on this run could not say so for a while, and another one went on \
         with other messages. What its finished steps did is in the messages; whether tools of the \
         step that went on had an effect is not known."
    )]
    TurnLost,
    /// Another request to the conversation goes on.
    #[error(
        "CONFLICT: Cannot send a new message: Another request (run_id={0}) is currently being \
         processed for this conversation. Please wait for it to complete."
    )]
    Busy(RunId),
    /// Too many requests wait already; they would fill the memory.
    #[error(
        "RATE_LIMIT_EXCEEDED: {limit} requests to {what} go on or wait for their turn already. \
         Please send this one again when some have ended."
    )]
    TooManyRuns {
        /// Whose they are: an agent's, a conversation's, or the server's.
        what: &'static str,
        /// How many go on or wait at once at most.
        limit: usize,
    },
    /// A person paused the agent.
    #[error("The agent is paused: resume it to send messages.")]
    Paused(AgentId),
    /// A person terminated the agent.
    #[error("The agent is terminated: it takes no messages.")]
    Terminated(AgentId),
    /// There is no run to cancel.
    #[error("CONFLICT: No active runs to cancel for {0}")]
    NothingToCancel(String),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Something inside failed; the text is for the log.
    #[error("{0}")]
    Internal(String),
}

/// Refuses an agent that a person paused or terminated: nothing is done with its model and its
/// tools.
///
/// # Errors
///
/// [`AgentError::Paused`] and [`AgentError::Terminated`].
pub fn expect_active(agent: &Agent) -> Result<(), AgentError> {
    match agent.standing {
        Standing::Active => Ok(()),
        Standing::Paused => Err(AgentError::Paused(agent.id)),
        Standing::Terminated => Err(AgentError::Terminated(agent.id)),
    }
}

/// What clients are told of a failure: in an error event, in a run's metadata, or as a status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The kind, a word of the contract.
    pub error_type: &'static str,
    /// The contract's sentence.
    pub message: String,
    /// What exactly happened.
    pub detail: String,
    /// Why the run ended.
    pub stop_reason: StopReason,
}

impl AgentError {
    /// What clients are told of it inside a run.
    pub fn fault(&self) -> Fault {
        let (error_type, message, stop_reason) = match self {
            Self::Llm(error) => llm_fault(error.kind),
            Self::UnusableReply(_) => (
                "llm_error",
                "An error occurred with the LLM request.",
                StopReason::InvalidLlmResponse,
            ),
            Self::ContextWindow(_) => (
                "llm_error",
                "An error occurred with the LLM request.",
                StopReason::LlmApiError,
            ),
            Self::SystemPromptTooLarge { .. } => (
                "context_window_overflow_in_system_prompt",
                "Compaction failed because the system prompt is too large for this model's context \
                 window. Reduce system instructions, memory blocks, or tools, or use a model with a \
                 larger context window.",
                StopReason::ContextWindowOverflowInSystemPrompt,
            ),
            Self::PendingApproval(_) | Self::Abandoned | Self::TurnLost => {
                let text = self.to_string();
                return Fault {
                    error_type: "internal_error",
                    message: text.clone(),
                    detail: text,
                    stop_reason: StopReason::Error,
                };
            }
            _ => (
                "internal_error",
                "An unknown error occurred with the LLM streaming request.",
                StopReason::Error,
            ),
        };
        Fault {
            error_type,
            message: message.to_owned(),
            detail: self.detail(),
            stop_reason,
        }
    }

    /// What exactly happened, with the code that clients look for.
    pub fn detail(&self) -> String {
        match self {
            Self::Llm(error) => format!("{}: {error}", code(error.kind)),
            // What the database says is for the log alone.
            Self::Store(_) | Self::Internal(_) => "An unknown error occurred".to_owned(),
            other => other.to_string(),
        }
    }
}

fn llm_fault(kind: ErrorKind) -> (&'static str, &'static str, StopReason) {
    let api = StopReason::LlmApiError;
    match kind {
        ErrorKind::Timeout => (
            "llm_timeout",
            "The LLM request timed out. Please try again.",
            api,
        ),
        ErrorKind::RateLimit => (
            "llm_rate_limit",
            "Rate limit exceeded for LLM model provider. Please wait before making another request.",
            api,
        ),
        ErrorKind::Authentication => (
            "llm_authentication",
            "Authentication failed with the LLM model provider.",
            api,
        ),
        ErrorKind::EmptyResponse => (
            "llm_empty_response",
            "LLM returned an empty response.",
            StopReason::InvalidLlmResponse,
        ),
        ErrorKind::InvalidResponse => (
            "llm_error",
            "An error occurred with the LLM request.",
            StopReason::InvalidLlmResponse,
        ),
        _ => ("llm_error", "An error occurred with the LLM request.", api),
    }
}

/// The code before the provider's text.
fn code(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::BadRequest | ErrorKind::Unprocessable => "INVALID_ARGUMENT",
        ErrorKind::Authentication => "UNAUTHENTICATED",
        ErrorKind::InsufficientCredits => "PAYMENT_REQUIRED",
        ErrorKind::PermissionDenied => "PERMISSION_DENIED",
        ErrorKind::NotFound => "NOT_FOUND",
        ErrorKind::RateLimit => "RATE_LIMIT_EXCEEDED",
        ErrorKind::Timeout => "TIMEOUT",
        ErrorKind::ContextWindowExceeded => "CONTEXT_WINDOW_EXCEEDED",
        ErrorKind::Server
        | ErrorKind::Overloaded
        | ErrorKind::Connection
        | ErrorKind::EmptyResponse
        | ErrorKind::InvalidResponse => "INTERNAL_SERVER_ERROR",
    }
}

impl Fault {
    /// The `error_message` event of a run that failed for it.
    pub fn event(&self, run_id: RunId) -> serde_json::Value {
        serde_json::json!({
            "message_type": "error_message",
            "run_id": run_id,
            "error_type": self.error_type,
            "message": self.message,
            "detail": self.detail,
            "seq_id": null,
        })
    }
}
