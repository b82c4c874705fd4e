//! What the engine refused, and how a run failed, as answers of requests that wait for them.

use bulkhead_agent::AgentError;
use bulkhead_llm::{ErrorKind, LlmError};
use bulkhead_store::StoreError;
use http::StatusCode;
use serde_json::json;

use crate::{
    contract::Refusal,
    http::{error::Rejection, missing},
};

impl From<AgentError> for Refusal {
    fn from(error: AgentError) -> Self {
        let text = error.to_string();
        match &error {
            AgentError::NoAgent(id) => missing::agent(id),
            AgentError::NoConversation(id) => missing::object("Conversation", id),
            AgentError::PendingApproval(message) => Self::with(
                StatusCode::CONFLICT,
                json!({ "detail": {
                    "code": "PENDING_APPROVAL",
                    "message": text,
                    "pending_request_id": message.to_string(),
                } }),
            ),
            AgentError::Busy(run_id) => Self::with(
                StatusCode::CONFLICT,
                json!({ "detail": text, "run_id": run_id.to_string() }),
            ),
            AgentError::TooManyRuns { .. } => {
                Self::with(StatusCode::TOO_MANY_REQUESTS, json!({ "detail": text }))
            }
            AgentError::UnknownModel(_) => Self::not_found(text),
            AgentError::Paused(_)
            | AgentError::Terminated(_)
            | AgentError::NothingToCancel(_)
            | AgentError::TurnLost => Self::conflict(text),
            AgentError::NothingToApprove
            | AgentError::WrongApprovals { .. }
            | AgentError::Invalid(_)
            | AgentError::ContextWindow(_)
            | AgentError::SystemPromptTooLarge { .. }
            | AgentError::NothingToCompact => Self::bad_request(text),
            AgentError::Llm(llm) => of_provider(llm, &error),
            AgentError::UnusableReply(_) => failure(StatusCode::INTERNAL_SERVER_ERROR, &error),
            AgentError::Store(_) => match error {
                AgentError::Store(StoreError::ThreadChanged { .. }) => Self::conflict(
                    "CONFLICT: the messages were changed by another request meanwhile; send the \
                     request again",
                ),
                AgentError::Store(store) => missing::stored(store),
                other => Rejection::host(&other).into(),
            },
            _ => Rejection::host(&error).into(),
        }
    }
}

/// The provider's failure: its own status where clients know that, and what it said.
fn of_provider(llm: &LlmError, error: &AgentError) -> Refusal {
    let status = match llm.kind {
        ErrorKind::BadRequest => StatusCode::BAD_REQUEST,
        ErrorKind::Authentication => StatusCode::UNAUTHORIZED,
        ErrorKind::InsufficientCredits => StatusCode::PAYMENT_REQUIRED,
        ErrorKind::RateLimit => StatusCode::TOO_MANY_REQUESTS,
        ErrorKind::Timeout => StatusCode::GATEWAY_TIMEOUT,
        ErrorKind::Overloaded => {
            let body = json!({ "detail": error.detail() });
            return Refusal::with(StatusCode::SERVICE_UNAVAILABLE, body);
        }
        ErrorKind::ContextWindowExceeded => return Refusal::bad_request(error.detail()),
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    failure(status, error)
}

/// A failure that clients parse by its type.
fn failure(status: StatusCode, error: &AgentError) -> Refusal {
    let fault = error.fault();
    let (kind, message) = match status {
        StatusCode::BAD_REQUEST => (
            "llm_bad_request",
            "The request to the LLM model provider was invalid.",
        ),
        StatusCode::PAYMENT_REQUIRED => (
            "llm_insufficient_credits",
            "Insufficient credits with the LLM model provider.",
        ),
        StatusCode::INTERNAL_SERVER_ERROR => {
            ("llm_error", "An error occurred with the LLM request.")
        }
        _ => (fault.error_type, fault.message.as_str()),
    };
    let body = json!({ "type": kind, "message": message, "detail": fault.detail });
    Refusal::with(status, json!({ "error": body }))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn answer(error: AgentError) -> (u16, Value) {
        match Refusal::from(error) {
            Refusal::Contract(status, body) => (status.as_u16(), *body),
            Refusal::Native(rejection) => panic!("{rejection:?}"),
        }
    }

    fn of_kind(kind: ErrorKind) -> (u16, Value) {
        answer(AgentError::Llm(LlmError {
            kind,
            provider: "OpenAI".to_owned(),
            status: None,
            message: "OpenAI: it failed".to_owned(),
            retry_after: None,
            partial: false,
        }))
    }

    #[test]
    fn failures_of_a_provider_have_the_status_and_the_type_that_clients_know() {
        for (kind, status, name, detail) in [
            (
                ErrorKind::BadRequest,
                400,
                "llm_bad_request",
                "INVALID_ARGUMENT: ",
            ),
            (
                ErrorKind::Authentication,
                401,
                "llm_authentication",
                "UNAUTHENTICATED: ",
            ),
            (
                ErrorKind::InsufficientCredits,
                402,
                "llm_insufficient_credits",
                "PAYMENT_REQUIRED: ",
            ),
            (
                ErrorKind::PermissionDenied,
                500,
                "llm_error",
                "PERMISSION_DENIED: ",
            ),
            (ErrorKind::NotFound, 500, "llm_error", "NOT_FOUND: "),
            (
                ErrorKind::Unprocessable,
                500,
                "llm_error",
                "INVALID_ARGUMENT: ",
            ),
            (
                ErrorKind::RateLimit,
                429,
                "llm_rate_limit",
                "RATE_LIMIT_EXCEEDED: ",
            ),
            (
                ErrorKind::Server,
                500,
                "llm_error",
                "INTERNAL_SERVER_ERROR: ",
            ),
            (ErrorKind::Timeout, 504, "llm_timeout", "TIMEOUT: "),
        ] {
            let (found, body) = of_kind(kind);
            assert_eq!(
                (found, body["error"]["type"].as_str()),
                (status, Some(name))
            );
            let text = body["error"]["detail"].as_str().unwrap_or_default();
            assert!(
                text.starts_with(detail) && text.contains("it failed"),
                "{text}"
            );
        }
        let (status, body) = of_kind(ErrorKind::Overloaded);
        assert!(status == 503 && body["detail"].is_string(), "{body}");
        let (status, body) = of_kind(ErrorKind::ContextWindowExceeded);
        let text = body["detail"].as_str().unwrap_or_default();
        assert!(
            status == 400 && text.starts_with("CONTEXT_WINDOW_EXCEEDED: "),
            "{text}"
        );
    }

    #[test]
    fn an_open_request_for_approval_is_named() {
        let message = bulkhead_domain::id::MessageId::random();
        let (status, body) = answer(AgentError::PendingApproval(message));
        assert_eq!(status, 409);
        assert_eq!(body["detail"]["code"], "PENDING_APPROVAL");
        assert_eq!(body["detail"]["pending_request_id"], message.to_string());
        let text = body["detail"]["message"].as_str().unwrap_or_default();
        assert!(
            text.starts_with("CONFLICT: Cannot send a new message: "),
            "{text}"
        );
    }
}
