//! The HTTP API as the command line uses it.

use std::time::Duration;

use clap::Args;
use reqwest::{Method, RequestBuilder, Response};
use serde_json::Value;

use super::{error::CliError, exit::Exit, refusal::refusal};

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
    fn a_name_can_not_leave_its_segment() {
        assert_eq!(segment("../x?y#z"), "..%2Fx%3Fy%23z");
        assert_eq!(segment("sha256:ab"), "sha256:ab");
        assert_eq!(
            with_query("/x", &[("a", "1&b=2"), ("c", "d")]),
            "/x?a=1%26b%3D2&c=d"
        );
    }
}
