//! The tools of a server, and calls of them by hand.

use std::sync::Arc;

use axum::{Json, extract::State};
use bulkhead_domain::id::McpServerId;
use bulkhead_store::{McpTool, ToolRecord};
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::read::find;
use crate::{
    app::App,
    contract::{OptionalBody, Refusal, body::Schema, document::Refusals, id},
    http::{
        AppState,
        agents::run::ToolExecutionResult,
        error::{self, Rejection},
        missing,
        query::Path,
        tools::view::ToolView,
    },
    mcp::call::{McpCall, McpReport, Unasked},
};

/// The tools of a server by their names.
#[utoipa::path(
    get,
    path = "/v1/mcp-servers/{mcp_server_id}/tools",
    operation_id = "list_tools_for_mcp_server",
    tag = "mcp-servers",
    params(("mcp_server_id" = String, Path, description = "the server's id")),
    responses((status = OK, body = Vec<ToolView>, description = "the tools"), Refusals)
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    Path(mcp_server_id): Path<String>,
) -> Result<Json<Vec<ToolView>>, Refusal> {
    let server = find(&app, &mcp_server_id).await?;
    let tools = app.store.mcp_tools(&server.id).await?;
    Ok(Json(tools.into_iter().map(ToolView::from).collect()))
}

/// A tool of a server.
#[utoipa::path(
    get,
    path = "/v1/mcp-servers/{mcp_server_id}/tools/{tool_id}",
    operation_id = "retrieve_tool_of_mcp_server",
    tag = "mcp-servers",
    params(
        ("mcp_server_id" = String, Path, description = "the server's id"),
        ("tool_id" = String, Path, description = "the tool's id"),
    ),
    responses((status = OK, body = ToolView, description = "the tool"), Refusals)
)]
pub(crate) async fn get(
    State(app): State<AppState>,
    Path((mcp_server_id, tool_id)): Path<(String, String)>,
) -> Result<Json<ToolView>, Refusal> {
    let server = find(&app, &mcp_server_id).await?;
    let (tool, _) = tool_of(&app, &server.id, &tool_id).await?;
    Ok(Json(tool.into()))
}

/// A tool with this id of the path, where the server has it.
async fn tool_of(
    app: &App,
    server: &McpServerId,
    tool_id: &str,
) -> Result<(ToolRecord, McpTool), Refusal> {
    id::check("tool", "tool_id", tool_id)?;
    let tool = app.store.tool(tool_id).await?;
    let found = tool.and_then(|tool| {
        let mcp = tool.mcp.clone().filter(|mcp| mcp.server_id == *server)?;
        Some((tool, mcp))
    });
    found.ok_or_else(|| missing::object("Tool", tool_id))
}

/// The body of a call.
#[derive(Default, Deserialize, ToSchema)]
pub(crate) struct McpToolExecuteRequest {
    #[serde(default)]
    #[schema(value_type = Object)]
    args: Map<String, Value>,
}

impl McpToolExecuteRequest {
    /// The arguments.
    pub(super) fn args(self) -> Map<String, Value> {
        self.args
    }
}

impl Schema for McpToolExecuteRequest {
    const NAME: &str = "McpToolExecuteRequest";
}

/// Calls a tool of a server. 502 where the server can't be reached.
#[utoipa::path(
    post,
    path = "/v1/mcp-servers/{mcp_server_id}/tools/{tool_id}/run",
    operation_id = "run_tool_of_mcp_server",
    tag = "mcp-servers",
    params(
        ("mcp_server_id" = String, Path, description = "the server's id"),
        ("tool_id" = String, Path, description = "the tool's id"),
    ),
    request_body = McpToolExecuteRequest,
    responses(
        (status = OK, body = ToolExecutionResult, description = "how it ended"),
        (status = BAD_GATEWAY, body = Object, description = "the server can't be reached"),
        Refusals,
    )
)]
pub(crate) async fn run(
    State(app): State<AppState>,
    Path((mcp_server_id, tool_id)): Path<(String, String)>,
    OptionalBody(body): OptionalBody<McpToolExecuteRequest>,
) -> Result<Json<ToolExecutionResult>, Refusal> {
    let server = find(&app, &mcp_server_id).await?;
    let (tool, mcp) = tool_of(&app, &server.id, &tool_id).await?;
    let report = call(&app, tool, mcp, body.unwrap_or_default().args()).await?;
    Ok(Json(ToolExecutionResult::of_mcp(report)))
}

/// Calls a tool; 502 where its server can't be reached, 503 where too much goes on, since nothing was
/// done then.
pub(super) async fn call(
    app: &Arc<App>,
    tool: ToolRecord,
    mcp: McpTool,
    arguments: Map<String, Value>,
) -> Result<McpReport, Refusal> {
    let report = app
        .call_mcp(McpCall {
            tool: Arc::new(tool),
            mcp,
            arguments,
            agent_id: None,
            idempotency_key: None,
            cancel: app.calls.token(),
            keeps_receipt: false,
        })
        .await;
    match &report.unasked {
        None => Ok(report),
        Some(Unasked::Busy) => {
            let text = "too many requests to MCP servers go on at once; try again later";
            Err(Rejection::with(&error::OVERLOADED, text)
                .receipt(report.receipt)
                .into())
        }
        Some(Unasked::Unreachable(detail)) => {
            let error = json!({
                "type": "mcp_connection_error",
                "message": "Failed to connect to MCP server.",
                "detail": detail,
            });
            let body = json!({ "error": error });
            Err(Refusal::with(StatusCode::BAD_GATEWAY, body))
        }
    }
}
