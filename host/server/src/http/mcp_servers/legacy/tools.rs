//! Tools of servers, by the names of both.

use axum::{Json, extract::State};
use bulkhead_store::ToolRecord;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::named;
use crate::{
    app::App,
    contract::{OptionalBody, Parameters, Refusal, document::Refusals},
    http::{
        AppState,
        agents::run::ToolExecutionResult,
        mcp_servers::{save, tools},
        missing,
        query::Path,
        tools::view::ToolView,
        unbroken_contract,
    },
    mcp::{endpoint, judge::Judged, sync},
};

/// How well a tool is suited for models.
#[derive(Serialize, ToSchema)]
#[schema(as = McpToolHealth)]
pub(crate) struct HealthView {
    /// STRICT_COMPLIANT, NON_STRICT_ONLY or INVALID
    status: &'static str,
    reasons: Vec<String>,
}

/// A tool as its server describes it.
#[derive(Serialize, ToSchema)]
#[schema(as = McpTool)]
#[serde(rename_all = "camelCase")]
pub(crate) struct McpToolView {
    name: String,
    title: Option<String>,
    description: Option<String>,
    #[schema(value_type = Object)]
    input_schema: Value,
    #[schema(value_type = Option<Object>)]
    output_schema: Option<Value>,
    #[schema(value_type = Option<Object>)]
    annotations: Option<Value>,
    health: HealthView,
}

impl From<Judged> for McpToolView {
    fn from(judged: Judged) -> Self {
        let Judged {
            tool,
            status,
            reasons,
        } = judged;
        Self {
            name: tool.name,
            title: tool.title,
            description: tool.description,
            input_schema: tool.input_schema.unwrap_or_else(|_| json!({})),
            output_schema: tool.output_schema,
            annotations: tool.annotations,
            health: HealthView {
                status: status.as_str(),
                reasons,
            },
        }
    }
}

/// The tools of a server as it lists them now.
#[utoipa::path(
    get,
    path = "/v1/tools/mcp/servers/{mcp_server_name}/tools",
    operation_id = "list_tools_for_mcp_server_by_name",
    tag = "mcp-servers",
    params(("mcp_server_name" = String, Path, description = "the server's name")),
    responses((status = OK, body = Vec<McpToolView>, description = "the tools"), Refusals)
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    Path(name): Path<String>,
) -> Result<Json<Vec<McpToolView>>, Refusal> {
    let server = named(&app, &name).await?;
    let found = endpoint::find(&app, &server.id).await?;
    let (_, endpoint) = found.ok_or_else(|| missing::object("MCPServer", server.id))?;
    let endpoint = endpoint.map_err(|error| save::unavailable(&name, error.into()))?;
    let listed = sync::list(&app, &endpoint).await;
    let listed = listed.map_err(|error| save::unavailable(&name, error))?;
    Ok(Json(listed.into_iter().map(McpToolView::from).collect()))
}

/// Lists the tools of a server anew.
#[utoipa::path(
    post,
    path = "/v1/tools/mcp/servers/{mcp_server_name}/resync",
    operation_id = "resync_mcp_server_by_name",
    tag = "mcp-servers",
    params(("mcp_server_name" = String, Path, description = "the server's name"), save::RefreshQuery),
    responses((status = OK, body = save::Changes, description = "what changed"), Refusals)
)]
pub(crate) async fn resync(
    State(app): State<AppState>,
    Path(name): Path<String>,
    Parameters(_query): Parameters<save::RefreshQuery>,
) -> Result<Json<save::Changes>, Refusal> {
    let server = named(&app, &name).await?;
    let synced = unbroken_contract(async move { save::resync(&app, &server).await });
    synced.await.map(save::Changes::from).map(Json)
}

/// Gives a tool of a server. Its tools are stored already; where this one is not, they are listed
/// anew.
#[utoipa::path(
    post,
    path = "/v1/tools/mcp/servers/{mcp_server_name}/{mcp_tool_name}",
    operation_id = "add_mcp_tool",
    tag = "mcp-servers",
    params(
        ("mcp_server_name" = String, Path, description = "the server's name"),
        ("mcp_tool_name" = String, Path, description = "what the server calls the tool"),
    ),
    responses((status = OK, body = ToolView, description = "the tool"), Refusals)
)]
pub(crate) async fn add(
    State(app): State<AppState>,
    Path((name, tool)): Path<(String, String)>,
) -> Result<Json<ToolView>, Refusal> {
    let server = named(&app, &name).await?;
    let find = async |app: &App| -> Result<Option<ToolRecord>, Refusal> {
        let found = app.store.mcp_tool(&server.id, &tool).await;
        found.map_err(missing::stored)
    };
    if let Some(found) = find(&app).await? {
        return Ok(Json(found.into()));
    }
    let (syncing, of) = (app.clone(), server.clone());
    unbroken_contract(async move { save::resync(&syncing, &of).await }).await?;
    let found = find(&app).await?;
    let missing = || Refusal::not_found(format!("Tool {tool} not found on MCP server {name}"));
    found.map(ToolView::from).map(Json).ok_or_else(missing)
}

/// Calls a tool of a server.
#[utoipa::path(
    post,
    path = "/v1/tools/mcp/servers/{mcp_server_name}/tools/{tool_name}/execute",
    operation_id = "execute_mcp_tool",
    tag = "mcp-servers",
    params(
        ("mcp_server_name" = String, Path, description = "the server's name"),
        ("tool_name" = String, Path, description = "what the server calls the tool"),
    ),
    request_body = tools::McpToolExecuteRequest,
    responses(
        (status = OK, body = ToolExecutionResult, description = "how it ended"),
        (status = BAD_GATEWAY, body = Object, description = "the server can't be reached"),
        Refusals,
    )
)]
pub(crate) async fn execute(
    State(app): State<AppState>,
    Path((name, tool)): Path<(String, String)>,
    OptionalBody(body): OptionalBody<tools::McpToolExecuteRequest>,
) -> Result<Json<ToolExecutionResult>, Refusal> {
    let server = named(&app, &name).await?;
    let found = app.store.mcp_tool(&server.id, &tool).await;
    let found = found.map_err(missing::stored)?;
    let called = found.and_then(|tool| tool.mcp.clone().map(|mcp| (tool, mcp)));
    let missing = || Refusal::not_found(format!("Tool {tool} not found on MCP server {name}"));
    let (record, mcp) = called.ok_or_else(missing)?;
    let report = tools::call(&app, record, mcp, body.unwrap_or_default().args()).await?;
    Ok(Json(ToolExecutionResult::of_mcp(report)))
}
