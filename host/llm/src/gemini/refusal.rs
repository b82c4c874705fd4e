//! What kind of error a body of the vendor means.

use serde_json::Value;

use crate::error::ErrorKind;

/// The kind, beyond what the status says.
pub(crate) fn classify(_status: u16, body: &Value) -> Option<ErrorKind> {
    of_body(body)
}

/// Reads `{"error":{"code","status","message"}}`, also in a list.
pub(crate) fn of_body(body: &Value) -> Option<ErrorKind> {
    let body = match body {
        Value::Array(bodies) => bodies.first()?,
        body => body,
    };
    let error = body.get("error")?;
    let message = error["message"].as_str().unwrap_or_default();
    let message = message.to_ascii_lowercase();
    Some(match error["status"].as_str()? {
        // A key that does not exist is an invalid argument to this vendor.
        "INVALID_ARGUMENT" | "FAILED_PRECONDITION" if is_about_key(error, &message) => {
            ErrorKind::Authentication
        }
        "INVALID_ARGUMENT" if is_too_long(&message) => ErrorKind::ContextWindowExceeded,
        "FAILED_PRECONDITION" if message.contains("billing") => ErrorKind::InsufficientCredits,
        "INVALID_ARGUMENT" | "FAILED_PRECONDITION" | "OUT_OF_RANGE" => ErrorKind::BadRequest,
        "UNAUTHENTICATED" => ErrorKind::Authentication,
        "PERMISSION_DENIED" => ErrorKind::PermissionDenied,
        "NOT_FOUND" => ErrorKind::NotFound,
        "RESOURCE_EXHAUSTED" if message.contains("credits") => ErrorKind::InsufficientCredits,
        "RESOURCE_EXHAUSTED" => ErrorKind::RateLimit,
        "DEADLINE_EXCEEDED" => ErrorKind::Timeout,
        "UNAVAILABLE" if message.contains("overloaded") => ErrorKind::Overloaded,
        "UNAVAILABLE" | "INTERNAL" | "UNKNOWN" | "ABORTED" => ErrorKind::Server,
        _ => return None,
    })
}

fn is_about_key(error: &Value, message: &str) -> bool {
    let details = error["details"].as_array().into_iter().flatten();
    let mut reasons = details.filter_map(|detail| detail["reason"].as_str());
    reasons.any(|reason| reason == "API_KEY_INVALID")
        || message.contains("api key not valid")
        || message.contains("api key expired")
}

fn is_too_long(message: &str) -> bool {
    message.contains("token count") && message.contains("exceeds")
}
