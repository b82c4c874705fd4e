//! Refusals of the contract: a status and `{"detail": …}`.

use axum::response::{IntoResponse, Response};
use bulkhead_store::StoreError;
use http::StatusCode;
use serde_json::{Value, json};

use super::fault::Fault;
use crate::http::{
    error::{self, Rejection},
    json,
};

/// Why a request of the contract was refused.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// In the contract's own words.
    Contract(StatusCode, Box<Value>),
    /// As every other request of this server.
    Native(Rejection),
}

impl Refusal {
    /// A whole body of the contract.
    pub(crate) fn with(status: StatusCode, body: Value) -> Self {
        Self::Contract(status, Box::new(body))
    }

    fn detail(status: StatusCode, detail: impl Into<String>) -> Self {
        Self::Contract(status, Box::new(json!({ "detail": detail.into() })))
    }

    /// 400 with a text.
    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        Self::detail(StatusCode::BAD_REQUEST, detail)
    }

    /// 404 with a text.
    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::detail(StatusCode::NOT_FOUND, detail)
    }

    /// 405, where a path has no such method.
    pub(crate) fn method_not_allowed() -> Self {
        Self::detail(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed")
    }

    /// 409 with a text. Clients send it again by themselves unless they are told not to.
    pub(crate) fn conflict(detail: impl Into<String>) -> Self {
        Self::detail(StatusCode::CONFLICT, detail)
    }

    /// 422 with a text alone.
    pub(crate) fn unprocessable(detail: impl Into<String>) -> Self {
        Self::detail(StatusCode::UNPROCESSABLE_ENTITY, detail)
    }

    /// 422 with the faults of a body or a query as one text, and examples of ids where the fault is
    /// in one.
    pub(crate) fn invalid(faults: &[Fault], examples: &[&str]) -> Self {
        let faults: Vec<_> = faults.iter().map(Fault::repr).collect();
        let mut body = json!({ "trace_id": "", "detail": format!("[{}]", faults.join(", ")) });
        if !examples.is_empty() {
            body["examples"] = json!(examples);
        }
        Self::Contract(StatusCode::UNPROCESSABLE_ENTITY, Box::new(body))
    }
}

impl Refusal {
    /// Status and body, for an answer that is no HTTP response.
    pub(crate) fn parts(&self) -> (StatusCode, Value) {
        match self {
            Self::Contract(status, body) => (*status, (**body).clone()),
            Self::Native(rejection) => (rejection.kind().status, json!(rejection.body())),
        }
    }
}

impl Refusal {
    /// The same in the form of this server's own API.
    pub(crate) fn into_native(self) -> Rejection {
        let (status, body) = match self {
            Self::Native(rejection) => return rejection,
            Self::Contract(status, body) => (status, body),
        };
        let kind = match status {
            StatusCode::BAD_REQUEST => &error::INVALID_REQUEST,
            StatusCode::NOT_FOUND => &error::NOT_FOUND,
            StatusCode::CONFLICT => &error::CONFLICT,
            status if status.is_server_error() => &error::HOST_ERROR,
            _ => &error::INVALID_BODY,
        };
        match body["detail"].as_str() {
            Some(detail) => Rejection::with(kind, detail),
            None => Rejection::new(kind),
        }
    }
}

impl From<Rejection> for Refusal {
    fn from(rejection: Rejection) -> Self {
        Self::Native(rejection)
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::Native(error.into())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        match self {
            Self::Native(rejection) => rejection.into_response(),
            Self::Contract(status, body) => {
                let mut response = json::respond(status, &body);
                if status == StatusCode::CONFLICT {
                    let never = http::HeaderValue::from_static("false");
                    response.headers_mut().insert("x-should-retry", never);
                }
                response
            }
        }
    }
}
