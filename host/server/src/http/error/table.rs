//! All refusals: status, stable code, meaning.

use http::StatusCode;

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
    WRONG_CURRENT_PASSWORD = BAD_REQUEST, "wrong_current_password", "the current password is another one";
    INVALID_REQUEST = BAD_REQUEST, "invalid_request", "the request is malformed";
    UNAUTHORIZED = UNAUTHORIZED, "unauthorized", "Unauthorized";
    WRONG_PASSWORD = UNAUTHORIZED, "wrong_password", "the e-mail address or the password is wrong";
    TOKEN_REUSED = UNAUTHORIZED, "token_reused", "this refresh token was used before; the sign-in is ended, since somebody else may have a copy; sign in again";
    FORBIDDEN = FORBIDDEN, "forbidden", "you may not do this";
    REGISTRATION_CLOSED = FORBIDDEN, "registration_closed", "this server takes no new accounts; ask the one who runs it";
    FOREIGN_HOST = FORBIDDEN, "foreign_host", "without an access token this server answers requests to loopback names and addresses only; set a token to reach it by another name";
    FOREIGN_ORIGIN = FORBIDDEN, "foreign_origin", "requests from pages of another origin are refused";
    NO_SUCH_ROUTE = NOT_FOUND, "no_such_route", "there is no such route; see /docs";
    UNKNOWN_COMPONENT = NOT_FOUND, "unknown_component", "there is no such component";
    UNKNOWN_TOOL = NOT_FOUND, "unknown_tool", "the component has no such tool";
    UNKNOWN_GRANT = NOT_FOUND, "unknown_grant", "there is no such grant";
    UNKNOWN_CREDENTIAL = NOT_FOUND, "unknown_credential", "there is no such credential";
    UNKNOWN_RECEIPT = NOT_FOUND, "unknown_receipt", "there is no such receipt";
    NOT_FOUND = NOT_FOUND, "not_found", "there is no such thing";
    METHOD_NOT_ALLOWED = METHOD_NOT_ALLOWED, "method_not_allowed", "this route has no such method; see /docs";
    REQUEST_TIMEOUT = REQUEST_TIMEOUT, "request_timeout", "the body did not arrive in time";
    CONSENT_REQUIRED = CONFLICT, "consent_required", "this version wishes for more than the active one, and nobody has activated it yet";
    OTHER_NAME = CONFLICT, "other_name", "these bytes are stored under another name already";
    EMAIL_TAKEN = CONFLICT, "email_taken", "there is an account with this e-mail address already";
    SLUG_TAKEN = CONFLICT, "slug_taken", "the slug is taken";
    CONFLICT = CONFLICT, "conflict", "something changed meanwhile; read it again";
    BODY_TOO_LARGE = PAYLOAD_TOO_LARGE, "body_too_large", "the body is larger than this route takes";
    COMPONENT_TOO_LARGE = PAYLOAD_TOO_LARGE, "component_too_large", "the component is larger than this server takes";
    UNSUPPORTED_MEDIA_TYPE = UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", "this route does not take a body of that media type";
    INVALID_BODY = UNPROCESSABLE_ENTITY, "invalid_body", "the body is JSON and not what this route takes";
    WEAK_PASSWORD = UNPROCESSABLE_ENTITY, "weak_password", "the password is too weak";
    AGENT_TYPE_INACTIVE = UNPROCESSABLE_ENTITY, "agent_type_inactive", "the agent type is not active: no agents are made from it";
    INVALID_TRANSITION = UNPROCESSABLE_ENTITY, "invalid_transition", "the agent is in a state from which this cannot be done";
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
    TOO_MANY_ATTEMPTS = TOO_MANY_REQUESTS, "too_many_attempts", "too many tries; try again later";
    NO_RUNTIME = NOT_IMPLEMENTED, "no_runtime", "this build has no runtime for that language";
    HOST_ERROR = INTERNAL_SERVER_ERROR, "host_error", "the server failed; its log has the cause under this request's x-request-id";
    OVERLOADED = SERVICE_UNAVAILABLE, "overloaded", "all slots were taken for too long; nothing ran; try again later";
    INSTALL_BUSY = SERVICE_UNAVAILABLE, "install_busy", "too many components are being installed at once; try again in a moment";
    STORE_UNAVAILABLE = SERVICE_UNAVAILABLE, "store_unavailable", "the database is unavailable or busy; try again in a moment";
    SHUTTING_DOWN = SERVICE_UNAVAILABLE, "shutting_down", "the server is shutting down";
    STORE_FULL = INSUFFICIENT_STORAGE, "store_full", "the database has no space left; nothing was written";
}
