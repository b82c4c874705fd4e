//! A server that was greeted, whichever way messages travel.

use bulkhead_egress::Scrubber;
use serde_json::{Value, json, value::RawValue};

use crate::{
    McpError, rpc,
    rpc::{Id, Incoming},
    sse::SseConnection,
    streamable::HttpConnection,
};

/// Versions of the protocol that this client speaks, the newest first. What it uses of them is the
/// same in all.
pub(crate) const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// Requests of a server that are answered while it works on one of ours.
const SERVER_REQUESTS_MAX: usize = 32;
/// Messages of a server before its answer: progress of a long call.
const MESSAGES_MAX: usize = 10_000;

/// A connection to a server.
pub(crate) enum Connection<'a> {
    Http(HttpConnection<'a>),
    Sse(Box<SseConnection<'a>>),
}

impl Connection<'_> {
    /// Sends a request and waits for its answer.
    pub(crate) async fn request(
        &mut self,
        method: &str,
        params: &Value,
    ) -> Result<Box<RawValue>, McpError> {
        match self {
            Self::Http(connection) => connection.request(method, params).await,
            Self::Sse(connection) => connection.request(method, params).await,
        }
    }

    async fn notify(&mut self, method: &str) -> Result<(), McpError> {
        match self {
            Self::Http(connection) => connection.notify(method, None).await,
            Self::Sse(connection) => connection.notify(method).await,
        }
    }

    /// Greets the server, and agrees on a version.
    pub(crate) async fn initialize(&mut self) -> Result<(), McpError> {
        let params = json!({
            "protocolVersion": VERSIONS[0],
            "capabilities": {},
            "clientInfo": { "name": "bulkhead", "version": env!("CARGO_PKG_VERSION") },
        });
        let result = self.request("initialize", &params).await?;
        #[derive(serde::Deserialize)]
        struct Greeting {
            #[serde(rename = "protocolVersion")]
            version: String,
        }
        let greeting: Greeting = serde_json::from_str(result.get())
            .map_err(|_| McpError::protocol("a greeting without a version"))?;
        let version = VERSIONS
            .into_iter()
            .find(|version| *version == greeting.version);
        let version = version.ok_or_else(|| {
            let other = crate::error::excerpt(&greeting.version);
            McpError::protocol(format!(
                "it speaks version {other} of the protocol; this client speaks {}",
                VERSIONS.join(", ")
            ))
        })?;
        if let Self::Http(connection) = self {
            connection.agreed(version);
        }
        self.notify("notifications/initialized").await
    }
}

/// What an operation does with a message that comes while it waits for the answer to `id`.
pub(crate) enum Heard {
    /// It is the answer.
    Answer(Result<Box<RawValue>, McpError>),
    /// It asks for an answer.
    Asks(Id, String),
    /// Nothing.
    Other,
}

/// Counts what a server says before its answer.
#[derive(Default)]
pub(crate) struct Patience {
    messages: usize,
    requests: usize,
}

impl Patience {
    /// Reads a message, where the server does not talk without end.
    pub(crate) fn hear(
        &mut self,
        text: &[u8],
        id: u64,
        scrubber: &Scrubber,
    ) -> Result<Heard, McpError> {
        self.messages += 1;
        let incoming = rpc::parse(text, scrubber)?;
        if matches!(incoming, Incoming::Request(..)) {
            self.requests += 1;
        }
        if self.messages > MESSAGES_MAX || self.requests > SERVER_REQUESTS_MAX {
            return Err(McpError::protocol(
                "it talks without end and does not answer",
            ));
        }
        Ok(match incoming {
            Incoming::Answer(found, answer) if rpc::is_ours(&found, id) => Heard::Answer(answer),
            Incoming::Request(id, method) => Heard::Asks(id, method),
            Incoming::Answer(..) | Incoming::Notification => Heard::Other,
        })
    }
}
