//! Every refusal of the API as data: its status, its stable code and what it means.
//!
//! A [`Rejection`] carries a row of the table and what to tell the client. The cause inside
//! the host is another thing: it goes to the log where it is known and never into an answer.

use axum::response::{IntoResponse, Response};
use bulkhead_domain::{Problem, Receipt};
use bulkhead_sandbox::InstallError;
use bulkhead_store::StoreError;
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;
use utoipa::ToSchema;

use super::{json, schema};

/// A row of the table.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) status: StatusCode,
    pub(crate) code: &'static str,
    /// What it means; the message where there is nothing more exact to say.
    pub(crate) text: &'static str,
}

macro_rules! table {
    ($($name:ident = $status:ident, $code:literal, $text:literal;)*) => {
        $(pub(crate) static $name: Kind =
            Kind { status: StatusCode::$status, code: $code, text: $text };)*

        /// All rows, for the documentation and its test.
        pub(crate) static TABLE: &[&Kind] = &[$(&$name),*];
    };
}

table! {
    INVALID_JSON = BAD_REQUEST, "invalid_json", "the body is not valid JSON";
    INVALID_REQUEST = BAD_REQUEST, "invalid_request", "the request is malformed";
    UNAUTHORIZED = UNAUTHORIZED, "unauthorized", "Unauthorized";
    FOREIGN_HOST = FORBIDDEN, "foreign_host", "without an access token this server answers requests to loopback names and addresses only; set a token to reach it by another name";
    FOREIGN_ORIGIN = FORBIDDEN, "foreign_origin", "requests from pages of another origin are refused";
    NO_SUCH_ROUTE = NOT_FOUND, "no_such_route", "there is no such route; see /docs";
    UNKNOWN_COMPONENT = NOT_FOUND, "unknown_component", "there is no such component";
    UNKNOWN_TOOL = NOT_FOUND, "unknown_tool", "the component has no such tool";
    UNKNOWN_GRANT = NOT_FOUND, "unknown_grant", "there is no such grant";
    UNKNOWN_CREDENTIAL = NOT_FOUND, "unknown_credential", "there is no such credential";
    UNKNOWN_RECEIPT = NOT_FOUND, "unknown_receipt", "there is no such receipt";
    METHOD_NOT_ALLOWED = METHOD_NOT_ALLOWED, "method_not_allowed", "this route has no such method; see /docs";
    REQUEST_TIMEOUT = REQUEST_TIMEOUT, "request_timeout", "the body did not arrive in time";
    CONSENT_REQUIRED = CONFLICT, "consent_required", "this version wishes for more than the active one, and nobody has activated it yet";
    OTHER_NAME = CONFLICT, "other_name", "these bytes are stored under another name already";
    CONFLICT = CONFLICT, "conflict", "something changed meanwhile; read it again";
    BODY_TOO_LARGE = PAYLOAD_TOO_LARGE, "body_too_large", "the body is larger than this route takes";
    COMPONENT_TOO_LARGE = PAYLOAD_TOO_LARGE, "component_too_large", "the component is larger than this server takes";
    UNSUPPORTED_MEDIA_TYPE = UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", "this route does not take a body of that media type";
    INVALID_BODY = UNPROCESSABLE_ENTITY, "invalid_body", "the body is JSON and not what this route takes";
    INVALID_INPUT = UNPROCESSABLE_ENTITY, "invalid_input", "the input does not match the tool's schema";
    INVALID_PARAMETER = UNPROCESSABLE_ENTITY, "invalid_parameter", "a part of the path or the query is malformed";
    INVALID_GRANT = UNPROCESSABLE_ENTITY, "invalid_grant", "the grant is malformed";
    INVALID_CREDENTIAL = UNPROCESSABLE_ENTITY, "invalid_credential", "the credential is malformed";
    QUOTA = UNPROCESSABLE_ENTITY, "quota_exceeded", "a limit of the store would be exceeded; nothing was written";
    NOT_A_COMPONENT = UNPROCESSABLE_ENTITY, "not_a_component", "the bytes are no WebAssembly component";
    INVALID_COMPONENT = UNPROCESSABLE_ENTITY, "invalid_component", "the component is not valid";
    UNKNOWN_IMPORTS = UNPROCESSABLE_ENTITY, "unknown_imports", "the component imports what this host does not provide";
    NO_TOOLS = UNPROCESSABLE_ENTITY, "no_tools", "the component exports no tools";
    WRONG_ABI_VERSION = UNPROCESSABLE_ENTITY, "wrong_abi_version", "the component was built for another version of the interface";
    COMPILE_TIMEOUT = UNPROCESSABLE_ENTITY, "compile_timeout", "compiling took too long";
    COMPILE_FAILED = UNPROCESSABLE_ENTITY, "compile_failed", "the component could not be compiled";
    DESCRIBE_FAILED = UNPROCESSABLE_ENTITY, "describe_failed", "the component's describe did not finish";
    INVALID_DESCRIPTION = UNPROCESSABLE_ENTITY, "invalid_description", "the component describes its tools wrongly";
    HOST_ERROR = INTERNAL_SERVER_ERROR, "host_error", "the server failed; its log has the cause under this request's x-request-id";
    OVERLOADED = SERVICE_UNAVAILABLE, "overloaded", "all slots were taken for too long; nothing ran; try again later";
    INSTALL_BUSY = SERVICE_UNAVAILABLE, "install_busy", "too many components are being installed at once; try again in a moment";
    STORE_UNAVAILABLE = SERVICE_UNAVAILABLE, "store_unavailable", "the database is unavailable or busy; try again in a moment";
    SHUTTING_DOWN = SERVICE_UNAVAILABLE, "shutting_down", "the server is shutting down";
    STORE_FULL = INSUFFICIENT_STORAGE, "store_full", "the database has no space left; nothing was written";
}

/// Seconds after which a client should try again, where waiting helps.
const RETRY_AFTER_S: u32 = 1;

/// Why a request was refused.
#[derive(Debug)]
pub(crate) struct Rejection(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: &'static Kind,
    message: String,
    problems: Vec<Problem>,
    receipt: Option<Receipt>,
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

    pub(crate) fn message(&self) -> &str {
        &self.0.message
    }

    pub(crate) fn body(&self) -> ErrorBody<'_> {
        let Inner {
            kind,
            message,
            problems,
            receipt,
        } = &*self.0;
        let error = ErrorView {
            code: kind.code,
            message,
            problems,
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
        if kind.status == StatusCode::SERVICE_UNAVAILABLE {
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, HeaderValue::from(RETRY_AFTER_S));
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
            StoreError::NotFound { .. } => Self::with(&UNKNOWN_COMPONENT, error.to_string()),
            StoreError::OtherName { .. } => Self::with(&OTHER_NAME, error.to_string()),
            StoreError::Conflict { .. } => Self::new(&CONFLICT),
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
