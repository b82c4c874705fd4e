//! The HTTP API as the command line uses it.

use std::time::Duration;

use bulkhead_domain::Problem;
use clap::Args;
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde::Deserialize;
use serde_json::Value;

use super::{error::CliError, exit::Exit};

/// A server on the same machine or network answers a connection at once or not at all.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Entries of one page of a list: the most that a server gives.
const PAGE: usize = 1_000;
/// Pages that are read at most; a server whose lists never end is none.
const MAX_PAGES: usize = 1_000;
/// A component of some ten megabytes compiles for about that long on a small machine.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(180);

/// Which server.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Server")]
pub(crate) struct ServerArgs {
    /// The server's address. Its token, where it has one, is read from BULKHEAD_TOKEN
    #[arg(
        long,
        value_name = "URL",
        env = "BULKHEAD_URL",
        hide_env_values = true,
        default_value = "http://127.0.0.1:8283"
    )]
    pub(crate) server: String,
}

/// A server, reached over HTTP.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    base: String,
    token: Option<String>,
}

/// An error as the server writes it.
#[derive(Deserialize)]
struct ErrorBody {
    error: ErrorPart,
}

#[derive(Deserialize)]
struct ErrorPart {
    code: String,
    message: String,
    #[serde(default)]
    problems: Vec<Problem>,
}

impl Client {
    /// The server of the flags, with the token of the environment.
    pub(crate) fn new(args: &ServerArgs) -> Result<Self, CliError> {
        let token = std::env::var("BULKHEAD_TOKEN")
            .ok()
            .filter(|token| !token.is_empty());
        Self::at(&args.server, token)
    }

    /// The server at `base`.
    pub(crate) fn at(base: &str, token: Option<String>) -> Result<Self, CliError> {
        let base = base.trim_end_matches('/').to_owned();
        if !base.starts_with("http://") && !base.starts_with("https://") {
            return Err(CliError::usage(format!("`{base}` is no URL of a server"))
                .hint("for example http://127.0.0.1:8283"));
        }
        // No proxy: the usual server is on this machine, and the token is for it alone.
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(ANSWER_TIMEOUT)
            .no_proxy()
            .build()
            .map_err(|error| CliError::host("the HTTP client could not be set up", error))?;
        Ok(Self { http, base, token })
    }

    /// A request with the token on it.
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.base));
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Result<Value, CliError> {
        self.json(self.request(Method::GET, path)).await
    }

    /// Every entry of a list, page by page; `key` names what the next page begins after.
    pub(crate) async fn all(
        &self,
        path: &str,
        pairs: &[(&str, &str)],
        key: &str,
    ) -> Result<Vec<Value>, CliError> {
        let limit = PAGE.to_string();
        let mut all: Vec<Value> = Vec::new();
        for _ in 0..MAX_PAGES {
            let mut query = [pairs, &[("limit", limit.as_str())]].concat();
            let after = all.last().and_then(|last| last[key].as_str());
            query.extend(after.map(|after| ("after", after)));
            let page = self.get(&with_query(path, &query)).await?;
            let Value::Array(page) = page else {
                let message = format!("{} answered something that is no list", self.base);
                return Err(CliError::new(Exit::Server, "unexpected_answer", message));
            };
            let is_last = page.len() < PAGE;
            all.extend(page);
            if is_last {
                return Ok(all);
            }
        }
        let message = format!("the list {path} does not end");
        Err(CliError::new(Exit::Server, "unexpected_answer", message))
    }

    pub(crate) async fn delete(&self, path: &str) -> Result<Value, CliError> {
        self.json(self.request(Method::DELETE, path)).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Result<Value, CliError> {
        self.json(self.request(Method::POST, path).json(body)).await
    }

    /// Stores a component under a name.
    pub(crate) async fn push(&self, name: &str, bytes: Vec<u8>) -> Result<Value, CliError> {
        let request = self
            .request(
                Method::POST,
                &with_query("/v1/components", &[("name", name)]),
            )
            .header("content-type", "application/wasm")
            .body(bytes);
        self.json(request).await
    }

    /// Sends and reads JSON.
    pub(crate) async fn json(&self, request: RequestBuilder) -> Result<Value, CliError> {
        let answer = self.send(request).await?;
        answer.json().await.map_err(|error| {
            CliError::new(
                Exit::Server,
                "not_a_bulkhead_server",
                format!("{} answered something that is no JSON: {error}", self.base),
            )
        })
    }

    /// Sends; an answer that is no success is an error.
    pub(crate) async fn send(&self, request: RequestBuilder) -> Result<Response, CliError> {
        let answer = request
            .send()
            .await
            .map_err(|error| self.unreachable(&error))?;
        let status = answer.status();
        if status.is_success() {
            return Ok(answer);
        }
        let text = answer.text().await.unwrap_or_default();
        Err(refusal(&self.base, status, &text))
    }

    fn unreachable(&self, error: &reqwest::Error) -> CliError {
        let base = &self.base;
        if error.is_timeout() && !error.is_connect() {
            let message = format!("the server at {base} did not answer in time");
            return CliError::new(Exit::Server, "server_timeout", message);
        }
        CliError::new(
            Exit::Server,
            "server_unreachable",
            format!("no server answers at {base}"),
        )
        .hint("start one with `bulkhead serve`, or name another with --server or BULKHEAD_URL")
    }
}

/// The server's own words, with the exit code that fits its status and code.
fn refusal(base: &str, status: StatusCode, text: &str) -> CliError {
    let Ok(ErrorBody { error }) = serde_json::from_str(text) else {
        let message = format!("{base} answered {status} without an error that it explains");
        return CliError::new(Exit::Server, "unexpected_answer", message)
            .hint("is this a Bulkhead server?");
    };
    let exit = match (status.as_u16(), error.code.as_str()) {
        (401 | 403, _) | (_, "consent_required") => Exit::Denied,
        (_, "invalid_input" | "unknown_tool") => Exit::InvalidInput,
        (_, code) if is_install_code(code) => Exit::Refused,
        _ => Exit::Server,
    };
    let refused = CliError {
        problems: error.problems,
        ..CliError::new(exit, error.code, error.message)
    };
    match (status.as_u16(), refused.code.as_str()) {
        (401, _) => refused.hint("set BULKHEAD_TOKEN to the server's token"),
        (_, "consent_required") => refused
            .hint("see `bulkhead tool diff`, then `bulkhead tool grant NAME --accept DIGEST`"),
        _ => refused,
    }
}

/// Codes with which an install is refused; see `bulkhead_sandbox::InstallError::code`.
fn is_install_code(code: &str) -> bool {
    matches!(
        code,
        "not_a_component"
            | "component_too_large"
            | "invalid_component"
            | "unknown_imports"
            | "no_tools"
            | "wrong_abi_version"
            | "compile_timeout"
            | "compile_failed"
            | "describe_failed"
            | "invalid_description"
    )
}

/// `path` with a query.
pub(crate) fn with_query(path: &str, pairs: &[(&str, &str)]) -> String {
    let pairs: Vec<String> = pairs
        .iter()
        .map(|(key, value)| format!("{key}={}", segment(value)))
        .collect();
    format!("{path}?{}", pairs.join("&"))
}

/// `text` as one segment of a path, or a value of a query.
pub(crate) fn segment(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b':' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_s_code_and_problems_reach_the_person() {
        let text = r#"{"error": {"code": "invalid_input", "message": "wrong",
            "problems": [{"at": "/n", "message": "must be a number"}]}, "detail": "wrong"}"#;
        let error = refusal("http://x", StatusCode::UNPROCESSABLE_ENTITY, text);
        assert_eq!(
            (error.exit, error.code.as_str()),
            (Exit::InvalidInput, "invalid_input")
        );
        assert_eq!(error.problems[0].at, "/n");
    }

    #[test]
    fn each_refusal_has_the_exit_code_of_its_kind() {
        let of = |status: u16, code: &str| {
            let text = format!(r#"{{"error": {{"code": "{code}", "message": "m"}}}}"#);
            refusal(
                "http://x",
                StatusCode::from_u16(status).expect("a status"),
                &text,
            )
            .exit
        };
        assert_eq!(of(401, "unauthorized"), Exit::Denied);
        assert_eq!(of(409, "consent_required"), Exit::Denied);
        assert_eq!(of(422, "unknown_imports"), Exit::Refused);
        assert_eq!(of(404, "unknown_component"), Exit::Server);
        assert_eq!(
            refusal("http://x", StatusCode::BAD_GATEWAY, "<html>").exit,
            Exit::Server
        );
    }

    #[test]
    fn a_name_can_not_leave_its_segment() {
        assert_eq!(segment("../x?y#z"), "..%2Fx%3Fy%23z");
        assert_eq!(segment("sha256:ab"), "sha256:ab");
        assert_eq!(
            with_query("/x", &[("a", "1&b=2"), ("c", "d")]),
            "/x?a=1%26b%3D2&c=d"
        );
    }
}
