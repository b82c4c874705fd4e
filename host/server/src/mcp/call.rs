//! A call of a tool that an MCP server runs: checked here, sent there, with a receipt as every call.

use std::{sync::Arc, time::Instant};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bulkhead_domain::{
    Denial, Digest, FuelByPhase, ImageSource, Outcome, Part, Problem, Receipt, Timestamp,
    id::{CallId, ReceiptId},
};
use bulkhead_mcp::{Content, McpError, ToolResult, Trail};
use bulkhead_sandbox::InputCheck;
use bulkhead_store::{McpTool, ToolRecord};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{endpoint, schema::HEARTBEAT};
use crate::{app::App, calls::Running, source::returned::Returned};

/// Images of one result that a model is shown; models take few.
const IMAGES_MAX: usize = 4;
/// Bytes of all of them as base64, which are stored with the message.
const IMAGE_BYTES_MAX: usize = 5 << 20;
/// Media types of images that every provider takes.
const IMAGE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

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
    pub(crate) unreachable: Option<String>,
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
    let ended = match checked(&call) {
        Ok(arguments) => ask(app, &call, &arguments, &mut draft).await,
        Err(stopped) => Err(stopped),
    };
    match ended {
        Ok(result) => McpReport {
            parts: images(&result),
            returned: returned(&result),
            unreachable: None,
            receipt: draft.of_result(&result),
        },
        Err(stopped) => McpReport {
            returned: Returned::error(Some(&call.tool.name), &stopped.text),
            parts: None,
            unreachable: stopped.unsent.then(|| stopped.text.clone()),
            receipt: draft.of_failure(stopped),
        },
    }
}

/// A receipt that is being written.
struct Draft {
    receipt: Receipt,
    began: Instant,
    trail: Trail,
}

impl Draft {
    fn new(call: &McpCall) -> Self {
        let call_id = CallId::random();
        let key = call.idempotency_key.clone();
        let input = Value::Object(call.arguments.clone()).to_string();
        let receipt = Receipt {
            id: ReceiptId::random(),
            call_id,
            idempotency_key: key.unwrap_or_else(|| call_id.to_string()),
            // Nothing of it runs here: what the server said of it, as it was called.
            digest: definition(&call.tool),
            source: None,
            tool: call.tool.name.clone(),
            agent_id: call.agent_id.clone(),
            input_hash: Digest::of(input.as_bytes()),
            // Of nothing, until it is known what the call may do.
            grant_hash: Digest::of(b""),
            output_hash: None,
            outcome: Outcome::HostError,
            detail: None,
            fuel: FuelByPhase::default(),
            peak_memory_bytes: 0,
            wall_us: 0,
            queue_us: 0,
            started_at: Timestamp::now(),
            host_calls: Vec::new(),
            host_calls_omitted: 0,
            denials: Vec::new(),
        };
        Self {
            receipt,
            began: Instant::now(),
            trail: Trail::default(),
        }
    }

    fn of_result(mut self, result: &ToolResult) -> Receipt {
        self.receipt.outcome = match result.is_error {
            true => Outcome::ToolError,
            false => Outcome::Ok,
        };
        let output = (!result.is_error).then(|| Digest::of(result.text().as_bytes()));
        self.receipt.output_hash = output;
        self.finish()
    }

    fn of_failure(mut self, stopped: Stopped) -> Receipt {
        self.receipt.outcome = stopped.outcome;
        self.receipt.detail = stopped.detail;
        self.receipt.denials.extend(stopped.denied);
        self.finish()
    }

    fn finish(mut self) -> Receipt {
        let (host_calls, omitted) = self.trail.host_calls();
        self.receipt.host_calls = host_calls;
        self.receipt.host_calls_omitted = omitted;
        let wall = self.began.elapsed().as_micros();
        self.receipt.wall_us = u64::try_from(wall).unwrap_or(u64::MAX);
        self.receipt
    }
}

/// Why there is no result.
struct Stopped {
    outcome: Outcome,
    /// For the model.
    text: String,
    /// For the receipt: no words of the server, and none of the input.
    detail: Option<String>,
    denied: Option<Denial>,
    /// Whether the server could not be asked at all.
    unsent: bool,
}

impl Stopped {
    /// In words of the host alone.
    fn new(outcome: Outcome, text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            outcome,
            detail: Some(text.clone()),
            text,
            denied: None,
            unsent: false,
        }
    }

    fn unsent(self) -> Self {
        Self {
            unsent: true,
            ..self
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
    let what = (call.mcp.tool.as_str(), arguments);
    let called = app
        .mcp
        .call_tool(&endpoint, &draft.trail, what, &call.cancel);
    match called.await {
        Ok(Some(result)) => Ok(result),
        Ok(None) => {
            let text = "Cancelled: the call was cancelled; what it did before may remain";
            Err(Stopped::new(Outcome::Cancelled, text))
        }
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

/// The arguments for the server, where they match the schema that it gave.
fn checked(call: &McpCall) -> Result<Map<String, Value>, Stopped> {
    let mut arguments = call.arguments.clone();
    let Some(schema) = &call.tool.args_json_schema else {
        return Ok(arguments);
    };
    if schema["properties"].get(HEARTBEAT).is_none() {
        arguments.remove(HEARTBEAT);
    }
    // It could be compiled when it was stored.
    let Ok(check) = InputCheck::new(schema) else {
        return Ok(arguments);
    };
    let value = Value::Object(arguments);
    check.check(&value).map_err(|problems| {
        let told = problems.iter().map(|Problem { at, message }| {
            let at = if at.is_empty() { "/" } else { at };
            format!("{at}: {message}")
        });
        let places = problems.iter().map(|problem| format!("\"{}\"", problem.at));
        let text = format!(
            "InvalidArguments: the arguments do not match the schema of the tool: {}",
            told.collect::<Vec<_>>().join("; ")
        );
        let places = places.collect::<Vec<_>>().join(", ");
        Stopped {
            detail: Some(format!("the input is wrong at {places}")),
            ..Stopped::new(Outcome::InvalidInput, text)
        }
    })?;
    match value {
        Value::Object(arguments) => Ok(arguments),
        _ => Ok(Map::new()),
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

/// The text and the images of a result, where it has images that models take.
fn images(result: &ToolResult) -> Option<Vec<Part>> {
    let mut bytes = 0_usize;
    let images = result.content.iter().filter_map(|part| match part {
        Content::Image { media_type, data } => {
            let fits = IMAGE_TYPES.contains(&media_type.as_str()) && STANDARD.decode(data).is_ok();
            bytes = bytes.saturating_add(data.len());
            (fits && bytes <= IMAGE_BYTES_MAX).then(|| Part::Image {
                source: ImageSource::Letta {
                    file_id: format!("file-{}", Uuid::new_v4()),
                    media_type: Some(media_type.clone()),
                    data: Some(data.clone()),
                    detail: None,
                },
            })
        }
        _ => None,
    });
    let images: Vec<_> = images.take(IMAGES_MAX).collect();
    if images.is_empty() {
        return None;
    }
    Some(images)
}

/// SHA-256 of what the server said of a tool.
fn definition(tool: &ToolRecord) -> Digest {
    let schema = tool.json_schema.as_ref().unwrap_or(&Value::Null);
    Digest::of(schema.to_string().as_bytes())
}
