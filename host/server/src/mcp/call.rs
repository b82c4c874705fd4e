//! A call of a tool that an MCP server runs: checked here, sent there, with a receipt as every call.

use std::sync::Arc;

use bulkhead_domain::{Denial, Outcome, Part, Receipt};
use bulkhead_mcp::{Call, McpError, ToolResult};
use bulkhead_store::{McpTool, ToolRecord};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::{arguments, endpoint, image, receipt::Draft};
use crate::{app::App, calls::Running, source::returned::Returned};

/// What is to be called.
pub(crate) struct McpCall {
    pub(crate) tool: Arc<ToolRecord>,
    pub(crate) mcp: McpTool,
    pub(crate) arguments: Map<String, Value>,
    pub(crate) agent_id: Option<String>,
    /// Equal across retries of one logical call.
    pub(crate) idempotency_key: Option<String>,
    /// Made by [`crate::calls::Calls::token`].
    pub(crate) cancel: CancellationToken,
    /// Whether whoever calls stores the receipt.
    pub(crate) keeps_receipt: bool,
}

/// How a call ended.
pub(crate) struct McpReport {
    pub(crate) returned: Returned,
    /// Text and images, where the result has images.
    pub(crate) parts: Option<Vec<Part>>,
    pub(crate) receipt: Receipt,
    /// Why the server could not be asked at all, where that is so.
    pub(crate) unasked: Option<Unasked>,
}

/// Why a server could not be asked; nothing was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unasked {
    /// Too much goes on at once.
    Busy,
    /// It could not be reached, or may not be.
    Unreachable(String),
}

impl App {
    /// Calls a tool of an MCP server. The call ends, with a receipt, whatever the server does and
    /// whether or not anybody still waits for it.
    pub(crate) fn call_mcp(self: &Arc<Self>, call: McpCall) -> Running<McpReport> {
        let (cancel, keeps_receipt) = (call.cancel.clone(), call.keeps_receipt);
        let app = Arc::clone(self);
        self.tracked(
            cancel,
            async move { run(&app, call).await },
            |report| &report.receipt,
            keeps_receipt,
        )
    }
}

async fn run(app: &App, call: McpCall) -> McpReport {
    let mut draft = Draft::new(&call);
    let ended = match arguments::checked(app, &call).await {
        Ok(arguments) => ask(app, &call, &arguments, &mut draft).await,
        Err(stopped) => Err(stopped),
    };
    match ended {
        Ok(mut result) => McpReport {
            parts: image::take(&mut result),
            returned: returned(&result),
            unasked: None,
            receipt: draft.of_result(&result),
        },
        Err(stopped) => McpReport {
            returned: Returned::error(Some(&call.tool.name), &stopped.text),
            parts: None,
            unasked: stopped.unasked(),
            receipt: draft.of_failure(stopped),
        },
    }
}

/// Why there is no result.
pub(super) struct Stopped {
    pub(super) outcome: Outcome,
    /// For the model.
    pub(super) text: String,
    /// For the receipt: no words of the server, and none of the input.
    pub(super) detail: Option<String>,
    pub(super) denied: Option<Denial>,
    /// Whether the server could not be asked at all.
    pub(super) unsent: bool,
}

impl Stopped {
    /// In words of the host alone.
    pub(super) fn new(outcome: Outcome, text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            outcome,
            detail: Some(text.clone()),
            text,
            denied: None,
            unsent: false,
        }
    }

    pub(super) fn cancelled() -> Self {
        let text = "Cancelled: the call was cancelled; what it did before may remain";
        Self::new(Outcome::Cancelled, text)
    }

    fn unsent(self) -> Self {
        Self {
            unsent: true,
            ..self
        }
    }

    fn unasked(&self) -> Option<Unasked> {
        match self.outcome {
            _ if !self.unsent => None,
            Outcome::Overloaded => Some(Unasked::Busy),
            _ => Some(Unasked::Unreachable(self.text.clone())),
        }
    }
}

async fn ask(
    app: &App,
    call: &McpCall,
    arguments: &Map<String, Value>,
    draft: &mut Draft,
) -> Result<ToolResult, Stopped> {
    let found = endpoint::find(app, &call.mcp.server_id).await;
    let found = found.map_err(|rejection| {
        let text = format!("HostError: {}", rejection.message());
        Stopped::new(Outcome::HostError, text).unsent()
    })?;
    let (server, endpoint) = found.ok_or_else(|| {
        let text = "McpConnectionError: the tool's MCP server is not registered any more";
        Stopped::new(Outcome::Denied, text).unsent()
    })?;
    let name = &server.name;
    let endpoint = endpoint.map_err(|error| {
        let text = format!("McpConnectionError: Failed to connect to MCP server {name}: {error}");
        Stopped::new(Outcome::Denied, text).unsent()
    })?;
    draft.receipt.grant_hash = endpoint.grant_hash();
    let what = Call {
        tool: &call.mcp.tool,
        arguments,
        agent: call.agent_id.as_deref(),
    };
    let called = app
        .mcp
        .call_tool(&endpoint, &draft.trail, what, &call.cancel);
    match called.await {
        Ok(Some(result)) => Ok(result),
        Ok(None) => Err(Stopped::cancelled()),
        Err(error) => Err(failed(&error, name, &call.tool.name)),
    }
}

/// A failure in the words for models.
fn failed(error: &McpError, server: &str, tool: &str) -> Stopped {
    let denial = error.denial();
    let outcome = if denial.is_some() {
        Outcome::Denied
    } else if error.is_timeout() {
        Outcome::DeadlineExceeded
    } else if error.is_too_large() {
        Outcome::LimitExceeded
    } else if *error == McpError::Busy {
        Outcome::Overloaded
    } else if error.is_protocol() {
        Outcome::InvalidOutput
    } else {
        Outcome::ToolError
    };
    let unsent = error.is_unsent();
    let text = match error {
        McpError::Timeout(seconds) => {
            format!("TimeoutError: Executing tool {tool} timed out after {seconds} seconds.")
        }
        McpError::Busy => format!("Overloaded: {error}"),
        error if unsent => {
            format!("McpConnectionError: Failed to connect to MCP server {server}: {error}")
        }
        error => format!("McpError: the MCP server {server} gave no result: {error}"),
    };
    let denied = denial.map(|message| Denial {
        capability: "http".to_owned(),
        message,
    });
    Stopped {
        outcome,
        text,
        detail: Some(error.host_words()),
        denied,
        unsent,
    }
}

/// What clients and models are told of a result.
fn returned(result: &ToolResult) -> Returned {
    let text = result.text();
    Returned {
        success: !result.is_error,
        value: Value::from(text.as_str()),
        text,
        stdout: Vec::new(),
        stderr: Vec::new(),
    }
}
