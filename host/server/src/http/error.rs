//! Every refusal of the API as data: its status, its stable code and what it means.
//!
//! A [`Rejection`] carries a row of the table and what to tell the client. The cause inside
//! the host is another thing: it goes to the log where it is known and never into an answer.

mod table;

use axum::response::{IntoResponse, Response};
use bulkhead_domain::{Problem, Receipt};
use bulkhead_sandbox::InstallError;
use bulkhead_store::StoreError;
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;
use utoipa::ToSchema;

pub(crate) use self::table::*;
use super::{json, schema};

/// Seconds after which a client should try again, where waiting helps.
const RETRY_AFTER_S: u64 = 1;

/// Why a request was refused.
#[derive(Debug)]
pub(crate) struct Rejection(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: &'static Kind,
    message: String,
    problems: Vec<Problem>,
    receipt: Option<Receipt>,
    state: Option<&'static str>,
    retry_after_s: Option<u64>,
}

/// The body of every answer other than success.
#[derive(Serialize, ToSchema)]
#[schema(as = Error)]
pub(crate) struct ErrorBody<'a> {
    error: ErrorView<'a>,
    /// The message once more, where other clients look for it.
    detail: &'a str,
    /// The receipt, where the refusal was a call's end.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<schema::Receipt>)]
    receipt: Option<&'a Receipt>,
}

/// What was wrong.
#[derive(Serialize, ToSchema)]
#[schema(as = ErrorInfo)]
pub(crate) struct ErrorView<'a> {
    /// Stable, for programs.
    code: &'a str,
    /// What was wrong and what to do, for people and models.
    message: &'a str,
    /// Each thing that is wrong, with its place.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schema(value_type = Vec<schema::Problem>, required = false)]
    problems: &'a [Problem],
    /// The state that the thing is in, where it is why the request was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'a str>,
}

impl Rejection {
    pub(crate) fn new(kind: &'static Kind) -> Self {
        Self::with(kind, kind.text)
    }

    pub(crate) fn with(kind: &'static Kind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            problems: Vec::new(),
            receipt: None,
            state: None,
            retry_after_s: (kind.status == StatusCode::SERVICE_UNAVAILABLE)
                .then_some(RETRY_AFTER_S),
        }))
    }

    #[must_use]
    pub(crate) fn problems(mut self, problems: Vec<Problem>) -> Self {
        self.0.problems = problems;
        self
    }

    /// One thing wrong at `at`.
    #[must_use]
    pub(crate) fn at(self, at: impl Into<String>, message: impl Into<String>) -> Self {
        self.problems(vec![Problem {
            at: at.into(),
            message: message.into(),
        }])
    }

    /// When to try again, in seconds.
    #[must_use]
    pub(crate) fn retry_after(mut self, seconds: u64) -> Self {
        self.0.retry_after_s = Some(seconds);
        self
    }

    /// The state that is the reason, for programs.
    #[must_use]
    pub(crate) fn state(mut self, state: &'static str) -> Self {
        self.0.state = Some(state);
        self
    }

    #[must_use]
    pub(crate) fn receipt(mut self, receipt: Receipt) -> Self {
        self.0.receipt = Some(receipt);
        self
    }

    /// A failure of the host itself: `cause` goes to the log, the client learns that it failed.
    pub(crate) fn host(cause: &(dyn std::error::Error + 'static)) -> Self {
        tracing::error!(error = %chain(cause), "the host failed");
        Self::new(&HOST_ERROR)
    }

    pub(crate) fn kind(&self) -> &'static Kind {
        self.0.kind
    }

    /// Where the first problem is.
    pub(crate) fn problem_at(&self) -> Option<&str> {
        self.0.problems.first().map(|problem| problem.at.as_str())
    }

    pub(crate) fn message(&self) -> &str {
        &self.0.message
    }

    pub(crate) fn body(&self) -> ErrorBody<'_> {
        let Inner {
            kind,
            message,
            problems,
            receipt,
            state,
            retry_after_s: _,
        } = &*self.0;
        let error = ErrorView {
            code: kind.code,
            message,
            problems,
            state: *state,
        };
        ErrorBody {
            error,
            detail: message,
            receipt: receipt.as_ref(),
        }
    }
}

/// The error and everything that it came from, in one line.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

impl IntoResponse for Rejection {
    fn into_response(self) -> Response {
        let kind = self.0.kind;
        let mut response = json::respond(kind.status, &self.body());
        if let Some(seconds) = self.0.retry_after_s {
            let seconds = HeaderValue::from(seconds);
            response.headers_mut().insert(header::RETRY_AFTER, seconds);
        }
        if kind.status == StatusCode::UNAUTHORIZED {
            let scheme = HeaderValue::from_static("Bearer");
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, scheme);
        }
        response
    }
}

impl From<InstallError> for Rejection {
    fn from(error: InstallError) -> Self {
        let kind = TABLE.iter().find(|kind| kind.code == error.code()).copied();
        match (kind, &error) {
            (None, _) | (_, InstallError::Host(_)) => Self::host(&error),
            (Some(kind), InstallError::Description(problems)) => {
                Self::with(kind, error.to_string()).problems(problems.clone())
            }
            (Some(kind), _) => Self::with(kind, error.to_string()),
        }
    }
}

impl From<StoreError> for Rejection {
    fn from(error: StoreError) -> Self {
        match &error {
            StoreError::NotFound { what: "grant", .. } => {
                Self::with(&UNKNOWN_GRANT, error.to_string())
            }
            StoreError::NotFound {
                what: "credential", ..
            } => Self::with(&UNKNOWN_CREDENTIAL, error.to_string()),
            StoreError::NotFound {
                what: "receipt", ..
            } => Self::with(&UNKNOWN_RECEIPT, error.to_string()),
            StoreError::NotFound {
                what: "component", ..
            } => Self::with(&UNKNOWN_COMPONENT, error.to_string()),
            StoreError::NotFound { .. } => Self::with(&NOT_FOUND, error.to_string()),
            StoreError::NameTaken { .. } | StoreError::InUse { .. } => {
                Self::with(&CONFLICT, error.to_string())
            }
            StoreError::OtherName { .. } => Self::with(&OTHER_NAME, error.to_string()),
            StoreError::Conflict { .. } => Self::new(&CONFLICT),
            StoreError::Changed { .. } => Self::with(&CONFLICT, error.to_string()),
            StoreError::Quota { .. } => Self::with(&QUOTA, error.to_string()),
            StoreError::Invalid { .. } => Self::with(&INVALID_PARAMETER, error.to_string()),
            StoreError::Full(_) => logged(&STORE_FULL, &error),
            StoreError::Unavailable(_) => logged(&STORE_UNAVAILABLE, &error),
            StoreError::Closed => Self::new(&SHUTTING_DOWN),
            _ => Self::host(&error),
        }
    }
}

fn logged(kind: &'static Kind, error: &StoreError) -> Rejection {
    tracing::error!(error = %chain(error), "the database failed");
    Rejection::new(kind)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn codes_are_unique_and_written_alike() {
        let codes: BTreeSet<_> = TABLE.iter().map(|kind| kind.code).collect();
        assert_eq!(codes.len(), TABLE.len());
        for kind in TABLE {
            assert!(kind.status.is_client_error() || kind.status.is_server_error());
            assert!(
                kind.code
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte == b'_')
            );
            assert!(!kind.text.is_empty());
        }
    }

    #[test]
    fn every_refusal_of_an_install_has_a_row_of_its_own() {
        let text = String::new;
        let errors = [
            InstallError::NotAComponent(text()),
            InstallError::TooLarge {
                actual: 2,
                limit: 1,
            },
            InstallError::Invalid(text()),
            InstallError::UnknownImports(Vec::new()),
            InstallError::NoTools(text()),
            InstallError::WrongVersion {
                found: text(),
                expected: text(),
            },
            InstallError::CompileTimeout(1),
            InstallError::Compile(text()),
            InstallError::Describe(text()),
            InstallError::Description(Vec::new()),
            InstallError::Busy,
            InstallError::Host(text()),
        ];
        for error in errors {
            let code = error.code();
            assert_eq!(Rejection::from(error).kind().code, code);
        }
    }

    #[test]
    fn what_failed_inside_the_host_is_not_in_the_answer() {
        let error = InstallError::Host("/secret/path".to_owned());
        let body = serde_json::to_string(&Rejection::from(error).body()).unwrap();
        assert!(!body.contains("secret"), "{body}");
    }
}
