//! Errors, as callers get them: named, cut, and without keys.

use std::{error::Error, fmt::Write as _, time::Duration};

use crate::{
    chat::Endpoint,
    error::{ErrorKind, LlmError},
};

/// Characters of a provider's body that a message quotes.
pub(crate) const MAX_QUOTED: usize = 4_000;
/// Characters of a secret at least. Shorter keys are the placeholders of local servers (`none`,
/// `EMPTY`, `ollama`), and taking those out would garble messages.
const MIN_SECRET: usize = 8;
/// What stands for a secret.
const SCRUBBED: &str = "[key]";

/// What went wrong, in words: `OpenAI: {text}`.
pub(crate) fn failure(endpoint: &Endpoint, kind: ErrorKind, text: &str) -> LlmError {
    LlmError {
        kind,
        provider: endpoint.provider.clone(),
        status: None,
        message: format!("{}: {}", endpoint.provider, scrub(endpoint, text)),
        retry_after: None,
        partial: false,
    }
}

/// What a provider refused, in its own words: `OpenAI: Error code: 429 - {body}`.
pub(crate) fn refusal(endpoint: &Endpoint, kind: ErrorKind, status: u16, body: &str) -> LlmError {
    let text = format!("Error code: {status} - {}", quoted(body));
    LlmError {
        status: Some(status),
        ..failure(endpoint, kind, &text)
    }
}

/// What kind a status is where the provider says nothing more.
pub(crate) fn kind_of_status(status: u16) -> ErrorKind {
    match status {
        401 => ErrorKind::Authentication,
        402 => ErrorKind::InsufficientCredits,
        403 => ErrorKind::PermissionDenied,
        404 => ErrorKind::NotFound,
        422 => ErrorKind::Unprocessable,
        429 => ErrorKind::RateLimit,
        400..=499 => ErrorKind::BadRequest,
        529 => ErrorKind::Overloaded,
        500.. => ErrorKind::Server,
        // A redirect, or a success that is none.
        _ => ErrorKind::InvalidResponse,
    }
}

/// The text without the endpoint's key and without what its further headers carry.
pub(crate) fn scrub(endpoint: &Endpoint, text: &str) -> String {
    let key = endpoint.api_key.iter().map(|key| key.as_str());
    let headers = endpoint
        .headers
        .iter()
        // `Bearer KEY`: the key alone is a secret too.
        .flat_map(|(_, value)| [Some(value.as_str()), value.split(' ').nth(1)])
        .flatten();
    key.chain(headers)
        .map(str::trim)
        .filter(|secret| secret.len() >= MIN_SECRET)
        .fold(text.to_owned(), |text, secret| {
            text.replace(secret, SCRUBBED)
        })
}

/// The beginning of a text that a provider sent.
pub(crate) fn quoted(text: &str) -> &str {
    let text = text.trim();
    match text.char_indices().nth(MAX_QUOTED) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// What the HTTP client says, with its causes; without the URL, which may hold a password.
pub(crate) fn describe(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let words = inner.to_string();
        if !text.ends_with(&words) {
            let _ = write!(text, ": {words}");
        }
        cause = inner.source();
    }
    text
}

/// `600 s`, `250 ms`.
pub(crate) fn in_words(duration: Duration) -> String {
    if duration.subsec_millis() == 0 && duration.as_secs() > 0 {
        format!("{} s", duration.as_secs())
    } else {
        format!("{} ms", duration.as_millis())
    }
}

#[cfg(test)]
mod tests {
    use zeroize::Zeroizing;

    use super::*;

    fn endpoint(key: &str) -> Endpoint {
        Endpoint {
            name: "openai".to_owned(),
            provider: "OpenAI".to_owned(),
            provider_id: None,
            base_url: "http://127.0.0.1".to_owned(),
            api_key: Some(Zeroizing::new(key.to_owned())),
            headers: vec![("x-gateway".to_owned(), "Bearer gateway-secret".to_owned())],
        }
    }

    #[test]
    fn a_key_that_a_provider_repeats_is_taken_out() {
        let body = r#"{"error":"no such key sk-abcdef123456 (gateway-secret)"}"#;
        let error = refusal(
            &endpoint("sk-abcdef123456"),
            ErrorKind::Authentication,
            401,
            body,
        );
        assert_eq!(
            error.message,
            r#"OpenAI: Error code: 401 - {"error":"no such key [key] ([key])"}"#
        );
    }

    #[test]
    fn placeholders_of_local_servers_are_no_secrets() {
        assert_eq!(
            scrub(&endpoint("ollama"), "ollama runs no such model"),
            "ollama runs no such model"
        );
    }

    #[test]
    fn long_bodies_are_cut_between_characters() {
        let body = "ü".repeat(MAX_QUOTED + 1);
        assert_eq!(quoted(&body).chars().count(), MAX_QUOTED);
    }
}
