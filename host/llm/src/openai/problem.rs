//! What a refusal means, in the forms of OpenAI and of those that speak like it.

use serde_json::Value;

use crate::{
    chat::Endpoint,
    error::{ErrorKind, LlmError},
    transport::failure::{failure, kind_of_status, quoted, refusal},
};

/// What endpoints write, in lower case, when a request has more tokens than fit. Codes are looked
/// at first; most servers beside OpenAI have none for this.
const TOO_LONG: &[&str] = &[
    // OpenAI, vLLM, Mistral, DeepSeek, Together
    "maximum context length",
    // OpenAI, Groq
    "reduce the length of the messages",
    // llama.cpp
    "exceeds the available context size",
    // vLLM
    "longer than the maximum model length",
    // xAI
    "maximum prompt length",
    // LM Studio
    "context the overflows",
    "greater than the context length",
    // Ollama, OpenRouter and others
    "context length exceeded",
    "exceeds the context window",
    "exceeds the context length",
    "exceeds context length",
    "prompt is too long",
    "input is too long",
    // Text Generation Inference
    "`max_new_tokens` must be <=",
];

/// A refusal inside of an answer that began as a success.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reported {
    pub(crate) kind: ErrorKind,
    pub(crate) status: Option<u16>,
}

impl Reported {
    /// As an error.
    pub(crate) fn refusal(self, endpoint: &Endpoint, body: &Value) -> LlmError {
        let body = body.to_string();
        match self.status {
            Some(status) => refusal(endpoint, self.kind, status, &body),
            None => failure(endpoint, self.kind, quoted(&body)),
        }
    }
}

/// What kind a refusal is, beyond its status.
pub(crate) fn kind(status: u16, body: &Value) -> Option<ErrorKind> {
    let error = error_of(body).unwrap_or(body);
    if let Some(kind) = names(error).find_map(by_name) {
        return Some(kind);
    }
    // A rate limit is told in words that speak of tokens too.
    let may_be_long = matches!(status, 400 | 413 | 422 | 500);
    (may_be_long && is_too_long(error)).then_some(ErrorKind::ContextWindowExceeded)
}

/// The refusal that a document of a successful answer, or an event of a stream, holds.
pub(crate) fn in_answer(body: &Value) -> Option<Reported> {
    let error = error_of(body)?;
    let status = ["code", "status", "status_code"]
        .iter()
        .find_map(|field| {
            let value = &error[*field];
            value.as_u64().or_else(|| value.as_str()?.parse().ok())
        })
        .and_then(|code| u16::try_from(code).ok())
        .filter(|code| (400..600).contains(code));
    let kind = kind(status.unwrap_or(400), body)
        .or_else(|| status.map(kind_of_status))
        .or_else(|| names(error).find_map(by_type))
        .unwrap_or(ErrorKind::Server);
    Some(Reported { kind, status })
}

/// `{"error": …}`, or vLLM's and Mistral's `{"object": "error", …}`.
fn error_of(body: &Value) -> Option<&Value> {
    match &body["error"] {
        Value::Null => body["object"]
            .as_str()
            .is_some_and(|object| object.eq_ignore_ascii_case("error"))
            .then_some(body),
        error => Some(error),
    }
}

fn names(error: &Value) -> impl Iterator<Item = &str> {
    [&error["code"], &error["type"]]
        .into_iter()
        .filter_map(Value::as_str)
}

/// Codes that say more than the status does.
fn by_name(name: &str) -> Option<ErrorKind> {
    Some(match name {
        "context_length_exceeded" | "exceed_context_size_error" => ErrorKind::ContextWindowExceeded,
        "insufficient_quota"
        | "billing_hard_limit_reached"
        | "billing_not_active"
        | "insufficient_balance" => ErrorKind::InsufficientCredits,
        "invalid_api_key" => ErrorKind::Authentication,
        "model_not_found" => ErrorKind::NotFound,
        "rate_limit_exceeded" => ErrorKind::RateLimit,
        "engine_overloaded" | "server_overloaded" | "overloaded_error" => ErrorKind::Overloaded,
        _ => return None,
    })
}

/// Types that stand for a status, where there is none.
fn by_type(name: &str) -> Option<ErrorKind> {
    Some(match name {
        "invalid_request_error" | "invalid_prompt" | "BadRequestError" => ErrorKind::BadRequest,
        "authentication_error" => ErrorKind::Authentication,
        "permission_error" => ErrorKind::PermissionDenied,
        "not_found_error" => ErrorKind::NotFound,
        "rate_limit_error" | "requests" | "tokens" => ErrorKind::RateLimit,
        "timeout" | "timeout_error" => ErrorKind::Timeout,
        _ => return None,
    })
}

fn is_too_long(error: &Value) -> bool {
    let text = match error {
        Value::String(text) => text.to_lowercase(),
        error => match (&error["message"], &error["detail"]) {
            (Value::String(text), _) | (Value::Null, Value::String(text)) => text.to_lowercase(),
            (message, detail) => format!("{message} {detail}").to_lowercase(),
        },
    };
    TOO_LONG.iter().any(|words| text.contains(words))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn too_many_tokens_are_known_in_the_words_of_each_server() {
        let words = [
            json!({"error": {"code": "context_length_exceeded", "message": "…"}}),
            json!({"error": {"message": "This model's maximum context length is 128000 tokens."}}),
            json!({"object": "error", "message": "This model's maximum context length is 4096 tokens. However, you requested 5000", "type": "BadRequestError", "code": 400}),
            json!({"error": {"code": 400, "message": "the request exceeds the available context size. try increasing the context size or enable context shift", "type": "exceed_context_size_error"}}),
            json!({"error": "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"}),
            json!({"error": {"message": "Please reduce the length of the messages or completion.", "type": "invalid_request_error"}}),
        ];
        for body in words {
            assert_eq!(
                kind(400, &body),
                Some(ErrorKind::ContextWindowExceeded),
                "{body}"
            );
        }
        let rate =
            json!({"error": {"message": "maximum context length per minute", "type": "tokens"}});
        assert_eq!(kind(429, &rate), None);
        let range = json!({"error": {"message": "temperature must be <= 2"}});
        assert_eq!(kind(400, &range), None);
    }

    #[test]
    fn an_empty_account_is_no_rate_limit() {
        let body = json!({"error": {"code": "insufficient_quota", "type": "insufficient_quota"}});
        assert_eq!(kind(429, &body), Some(ErrorKind::InsufficientCredits));
    }

    #[test]
    fn an_error_inside_an_answer_has_its_own_status_or_type() {
        let kind = |body| in_answer(&body).map(|reported| (reported.kind, reported.status));
        assert_eq!(
            kind(json!({"error": {"code": 502, "message": "upstream"}})),
            Some((ErrorKind::Server, Some(502)))
        );
        assert_eq!(
            kind(json!({"error": {"type": "rate_limit_error", "code": null}})),
            Some((ErrorKind::RateLimit, None))
        );
        assert_eq!(
            kind(json!({"error": {"message": "?"}})),
            Some((ErrorKind::Server, None))
        );
        assert_eq!(kind(json!({"error": null, "choices": []})), None);
    }
}
