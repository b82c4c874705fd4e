//! Why a provider gave no answer.

use std::time::Duration;

/// The kinds that callers tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// 400, 408 and what the provider calls invalid.
    BadRequest,
    /// 401.
    Authentication,
    /// 402, and quotas that are used up.
    InsufficientCredits,
    /// 403.
    PermissionDenied,
    /// 404: usually an unknown model.
    NotFound,
    /// 422.
    Unprocessable,
    /// 429.
    RateLimit,
    /// 5xx.
    Server,
    /// The provider says that it is overloaded (529, or an `overloaded_error`).
    Overloaded,
    /// No answer, or no further piece of one, in time.
    Timeout,
    /// No connection, or it broke.
    Connection,
    /// The request has more tokens than fit.
    ContextWindowExceeded,
    /// An answer without text and calls, where one was promised.
    EmptyResponse,
    /// An answer that is not in the provider's own format.
    InvalidResponse,
}

/// A provider gave no answer.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct LlmError {
    /// What kind of failure.
    pub kind: ErrorKind,
    /// The provider's name as people know it.
    pub provider: String,
    /// The HTTP status, where there was one.
    pub status: Option<u16>,
    /// For people: `OpenAI: Error code: 429 - {the provider's body}`, or what else went wrong.
    /// Never a key.
    pub message: String,
    /// How long the provider asked to wait.
    pub retry_after: Option<Duration>,
    /// Whether pieces of an answer had come by then; such a request is never repeated by itself.
    pub partial: bool,
}
