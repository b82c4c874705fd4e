//! What kind of error a body of the vendor means.

use serde_json::Value;

use crate::error::ErrorKind;

/// Words in which a request that is too long is refused, as an invalid one.
const TOO_LONG: [&str; 4] = [
    "prompt is too long",
    "exceed context limit",
    "exceeds the context window",
    "maximum context length",
];
/// Words in which an account without money is refused, as an invalid request.
const NO_CREDITS: [&str; 2] = ["credit balance", "api usage limits"];

/// The kind, beyond what the status says.
pub(crate) fn classify(_status: u16, body: &Value) -> Option<ErrorKind> {
    of_body(body)
}

/// Reads `{"type":"error","error":{"type","message"}}`.
pub(crate) fn of_body(body: &Value) -> Option<ErrorKind> {
    let error = body.get("error")?;
    let message = error["message"].as_str().unwrap_or_default();
    let message = message.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|words| message.contains(words));
    Some(match error["type"].as_str()? {
        "invalid_request_error" if says(&TOO_LONG) => ErrorKind::ContextWindowExceeded,
        "invalid_request_error" if says(&NO_CREDITS) => ErrorKind::InsufficientCredits,
        "invalid_request_error" => ErrorKind::BadRequest,
        // Megabytes of conversation: the remedy is that of too many tokens.
        "request_too_large" => ErrorKind::ContextWindowExceeded,
        "authentication_error" => ErrorKind::Authentication,
        "billing_error" => ErrorKind::InsufficientCredits,
        "permission_error" => ErrorKind::PermissionDenied,
        "not_found_error" => ErrorKind::NotFound,
        "rate_limit_error" => ErrorKind::RateLimit,
        "timeout_error" => ErrorKind::Timeout,
        "overloaded_error" => ErrorKind::Overloaded,
        "api_error" => ErrorKind::Server,
        _ => return None,
    })
}
