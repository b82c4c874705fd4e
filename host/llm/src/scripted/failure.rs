//! Failures in the form in which a provider's come.

use serde_json::json;

use crate::error::{ErrorKind, LlmError};

/// The provider's name in messages.
pub(super) const PROVIDER: &str = "Bulkhead";

/// The kind that a word of the grammar names.
pub(super) fn kind(word: &str) -> Option<ErrorKind> {
    Some(match word {
        "timeout" => ErrorKind::Timeout,
        "rate_limit" => ErrorKind::RateLimit,
        "authentication" => ErrorKind::Authentication,
        "server" => ErrorKind::Server,
        "overloaded" => ErrorKind::Overloaded,
        "bad_request" => ErrorKind::BadRequest,
        "unprocessable" => ErrorKind::Unprocessable,
        "credits" => ErrorKind::InsufficientCredits,
        "permission" => ErrorKind::PermissionDenied,
        "not_found" => ErrorKind::NotFound,
        "context_window" => ErrorKind::ContextWindowExceeded,
        "connection" => ErrorKind::Connection,
        "empty" => ErrorKind::EmptyResponse,
        "invalid" => ErrorKind::InvalidResponse,
        _ => return None,
    })
}

/// The failure that a script asked for.
pub(super) fn scripted(kind: ErrorKind, partial: bool) -> LlmError {
    let (status, code, text) = match kind {
        ErrorKind::BadRequest => (Some(400), "invalid_request_error", "The request is invalid"),
        ErrorKind::Authentication => (Some(401), "invalid_api_key", "The key is not valid"),
        ErrorKind::InsufficientCredits => (Some(402), "insufficient_quota", "No credits are left"),
        ErrorKind::PermissionDenied => (Some(403), "permission_error", "This is not permitted"),
        ErrorKind::NotFound => (Some(404), "not_found_error", "There is no such model"),
        ErrorKind::Unprocessable => (Some(422), "unprocessable", "The request makes no sense"),
        ErrorKind::RateLimit => (Some(429), "rate_limit_exceeded", "Too many requests"),
        ErrorKind::Server => (Some(500), "server_error", "The server failed"),
        ErrorKind::Overloaded => (Some(529), "overloaded_error", "The server is overloaded"),
        ErrorKind::ContextWindowExceeded => (
            Some(400),
            "context_length_exceeded",
            "The request is longer than the context window",
        ),
        ErrorKind::Timeout => (None, "timeout", "The request timed out"),
        ErrorKind::Connection => (None, "connection", "The connection failed"),
        ErrorKind::EmptyResponse => (None, "empty", "The answer is empty"),
        ErrorKind::InvalidResponse => (None, "invalid", "The answer is malformed"),
    };
    failure(
        kind,
        status,
        code,
        &format!("{text}, as the script says."),
        partial,
    )
}

/// A script that cannot be followed.
pub(super) fn refusal(reason: &str) -> LlmError {
    let text = format!("The script cannot be followed: {reason}");
    failure(
        ErrorKind::BadRequest,
        Some(400),
        "invalid_script",
        &text,
        false,
    )
}

/// More tokens than fit.
pub(super) fn too_long(tokens: usize) -> LlmError {
    let window = super::CONTEXT_WINDOW;
    failure(
        ErrorKind::ContextWindowExceeded,
        Some(400),
        "context_length_exceeded",
        &format!("The request has {tokens} tokens, more than the {window} that fit."),
        false,
    )
}

fn failure(
    kind: ErrorKind,
    status: Option<u16>,
    code: &str,
    text: &str,
    partial: bool,
) -> LlmError {
    let message = match status {
        Some(status) => {
            let body = json!({"error": {"code": code, "message": text}});
            format!("{PROVIDER}: Error code: {status} - {body}")
        }
        None => format!("{PROVIDER}: {text}"),
    };
    LlmError {
        kind,
        provider: PROVIDER.to_owned(),
        status,
        message,
        retry_after: None,
        partial,
    }
}
