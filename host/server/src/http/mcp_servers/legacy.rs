//! The older routes, which mean servers and their tools by names.

use axum::{
    Json,
    extract::{Request, State},
};
use bulkhead_domain::{Timestamp, id::McpServerId};
use bulkhead_mcp::{RemoteTool, Trail};
use bulkhead_store::{McpSecrets, McpServerRecord};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;
use utoipa_axum::{router::UtoipaMethodRouter, routes};

use super::{
    config::{self, Given, ServerConfig},
    save, tools,
};
use crate::{
    app::App,
    contract::{
        OptionalBody, Parameters, Refusal,
        body::{self, Schema},
        document::Refusals,
    },
    http::{
        AppState, agents::run::ToolExecutionResult, missing, query::Path, tools::view::ToolView,
        unbroken_contract,
    },
    mcp::{endpoint, schema, sync},
};

/// The routes.
pub(super) fn routes() -> Vec<UtoipaMethodRouter<AppState>> {
    vec![
        routes!(list, put),
        routes!(update, delete, test),
        routes!(list_tools),
        routes!(resync),
        routes!(add_tool),
        routes!(execute),
    ]
}

/// A server as the older routes write it.
#[derive(Serialize, ToSchema)]
#[schema(as = LegacyMcpServer)]
pub(crate) struct LegacyView {
    server_name: String,
    /// streamable_http or sse
    r#type: &'static str,
    server_url: String,
    auth_header: Option<String>,
    /// always null
    auth_token: Option<String>,
    /// always null
    #[schema(value_type = Option<Object>)]
    custom_headers: Option<Value>,
}

impl From<McpServerRecord> for LegacyView {
    fn from(server: McpServerRecord) -> Self {
        Self {
            r#type: server.transport.as_str(),
            server_name: server.name,
            server_url: server.url,
            auth_header: server.auth_header,
            auth_token: None,
            custom_headers: None,
        }
    }
}

/// A server to register, in one object.
#[derive(Deserialize, ToSchema)]
pub(crate) struct LegacyMcpServerConfig {
    server_name: String,
    #[serde(flatten)]
    config: ServerConfig,
}

impl Schema for LegacyMcpServerConfig {
    const NAME: &str = "LegacyMCPServerConfig";
}

/// Which change of a server, in one object.
#[derive(Deserialize, ToSchema)]
pub(crate) struct LegacyMcpServerUpdate {
    server_name: Option<String>,
    #[serde(flatten)]
    config: ServerConfig,
}

impl Schema for LegacyMcpServerUpdate {
    const NAME: &str = "LegacyMCPServerUpdate";
}

/// A body with its secrets apart. What names a command is a process.
async fn read<T: Schema>(request: Request) -> Result<(T, Given), Refusal> {
    let mut value = body::value(request).await?;
    let given = config::hide(Some(&mut value));
    let is_process = value["type"] == "stdio"
        || value.get("command").is_some()
        || value
            .get("stdio_config")
            .is_some_and(|config| !config.is_null());
    if is_process {
        return Err(config::no_processes());
    }
    Ok((body::read(&value)?, given))
}

/// All servers by their names.
#[utoipa::path(
    get,
    path = "/v1/tools/mcp/servers",
    operation_id = "list_mcp_servers_by_name",
    tag = "mcp-servers",
    responses((status = OK, body = Object, description = "the servers by their names"), Refusals)
)]
pub(crate) async fn list(State(app): State<AppState>) -> Result<Json<Map<String, Value>>, Refusal> {
    let servers = app.store.mcp_servers().await?.into_iter();
    let servers = servers.map(|server| (server.name.clone(), json!(LegacyView::from(server))));
    Ok(Json(servers.collect()))
}

async fn all(app: &App) -> Result<Json<Vec<LegacyView>>, Refusal> {
    let servers = app.store.mcp_servers().await?;
    Ok(Json(servers.into_iter().map(LegacyView::from).collect()))
}

/// Registers a server, or changes the one of its name, and lists its tools.
#[utoipa::path(
    put,
    path = "/v1/tools/mcp/servers",
    operation_id = "put_mcp_server_by_name",
    tag = "mcp-servers",
    request_body = LegacyMcpServerConfig,
    responses((status = OK, body = Vec<LegacyView>, description = "all servers"), Refusals)
)]
pub(crate) async fn put(
    State(app): State<AppState>,
    request: Request,
) -> Result<Json<Vec<LegacyView>>, Refusal> {
    let (body, given) = read::<LegacyMcpServerConfig>(request).await?;
    let name = body.server_name;
    config::check_name(&name)?;
    match app.store.mcp_server_by_name(&name).await? {
        None => save::register(app.clone(), name, body.config, given).await?,
        Some(server) => {
            let id = server.id;
            let changed = save::change(app.clone(), id, None, body.config, given).await?;
            let syncing = app.clone();
            let synced = unbroken_contract(async move { save::resync(&syncing, &id).await });
            if let Err(refusal) = synced.await {
                tracing::warn!(
                    server = changed.name,
                    ?refusal,
                    "an MCP server listed no tools"
                );
            }
            changed
        }
    };
    all(&app).await
}

/// What a server that is not registered says.
#[derive(Serialize, ToSchema)]
pub(crate) struct McpServerTest {
    /// success
    status: &'static str,
    tools: Vec<McpToolView>,
}

/// What stands in the place of a name where a server is tried.
const TEST: &str = "test";

/// Lists the tools of a server without registering it. The path ends in `test`; a server that has this
/// name is changed and deleted by the same path, and so they are one.
#[utoipa::path(
    post,
    path = "/v1/tools/mcp/servers/{mcp_server_name}",
    operation_id = "test_mcp_server",
    tag = "mcp-servers",
    params(("mcp_server_name" = String, Path, description = "test")),
    request_body = LegacyMcpServerConfig,
    responses((status = OK, body = McpServerTest, description = "its tools"), Refusals)
)]
pub(crate) async fn test(
    State(app): State<AppState>,
    Path(name): Path<String>,
    request: Request,
) -> Result<Json<McpServerTest>, Refusal> {
    if name != TEST {
        return Err(Refusal::not_found("Not Found"));
    }
    let (body, given) = read::<LegacyMcpServerConfig>(request).await?;
    config::check_name(&body.server_name)?;
    let now = Timestamp::now();
    let server = McpServerRecord {
        id: McpServerId::random(),
        name: body.server_name,
        transport: body.config.transport()?,
        url: body.config.url(),
        auth_header: body.config.auth_header(),
        created_by_id: None,
        created_at: now,
        updated_at: now,
    };
    let secrets: McpSecrets = given.secrets();
    config::check(&app, &server, &secrets)?;
    let failed = |error: &dyn std::error::Error| {
        Refusal::bad_request(format!(
            "Failed to connect to MCP server {}: {error}",
            server.name
        ))
    };
    let asked = endpoint::of(&server, &secrets, &app.mcp.settings().private);
    let asked = asked.map_err(|error| failed(&error))?;
    let listed = app.mcp.list_tools(&asked, &Trail::default()).await;
    app.mcp.end_session(asked);
    let tools = listed.map_err(|error| failed(&error))?.into_iter();
    Ok(Json(McpServerTest {
        status: "success",
        tools: tools.map(McpToolView::from).collect(),
    }))
}

/// The server with this name.
async fn named(app: &App, name: &str) -> Result<McpServerRecord, Refusal> {
    let server = app
        .store
        .mcp_server_by_name(name)
        .await
        .map_err(missing::stored)?;
    server.ok_or_else(|| Refusal::not_found(format!("MCP server {name} not found")))
}

/// Changes a server.
#[utoipa::path(
    patch,
    path = "/v1/tools/mcp/servers/{mcp_server_name}",
    operation_id = "update_mcp_server_by_name",
    tag = "mcp-servers",
    params(("mcp_server_name" = String, Path, description = "the server's name")),
    request_body = LegacyMcpServerUpdate,
    responses((status = OK, body = LegacyView, description = "the server"), Refusals)
)]
pub(crate) async fn update(
    State(app): State<AppState>,
    Path(name): Path<String>,
    request: Request,
) -> Result<Json<LegacyView>, Refusal> {
    let (mut body, given) = read::<LegacyMcpServerUpdate>(request).await?;
    let server = named(&app, &name).await?;
    body.config.keep_transport(server.transport);
    let changed = save::change(app, server.id, body.server_name, body.config, given).await?;
    Ok(Json(changed.into()))
}

/// Deletes a server and its tools.
#[utoipa::path(
    delete,
    path = "/v1/tools/mcp/servers/{mcp_server_name}",
    operation_id = "delete_mcp_server_by_name",
    tag = "mcp-servers",
    params(("mcp_server_name" = String, Path, description = "the server's name")),
    responses((status = OK, body = Vec<LegacyView>, description = "those that are left"), Refusals)
)]
pub(crate) async fn delete(
    State(app): State<AppState>,
    Path(name): Path<String>,
) -> Result<Json<Vec<LegacyView>>, Refusal> {
    let server = named(&app, &name).await?;
    save::remove(app.clone(), server.id).await?;
    all(&app).await
}

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

impl From<RemoteTool> for McpToolView {
    fn from(tool: RemoteTool) -> Self {
        let (status, reasons) = schema::health(&tool);
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
pub(crate) async fn list_tools(
    State(app): State<AppState>,
    Path(name): Path<String>,
) -> Result<Json<Vec<McpToolView>>, Refusal> {
    let server = named(&app, &name).await?;
    let found = endpoint::find(&app, &server.id).await?;
    let (_, endpoint) = found.ok_or_else(|| missing::object("MCPServer", server.id))?;
    let endpoint = endpoint.map_err(|error| save::unavailable(&name, &error))?;
    let listed = sync::list(&app, &endpoint).await;
    let listed = listed.map_err(|error| save::unavailable(&name, &error))?;
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
    let synced = unbroken_contract(async move { save::resync(&app, &server.id).await });
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
pub(crate) async fn add_tool(
    State(app): State<AppState>,
    Path((name, tool)): Path<(String, String)>,
) -> Result<Json<ToolView>, Refusal> {
    let server = named(&app, &name).await?;
    let find = async |app: &App| {
        let found = app.store.mcp_tool(&server.id, &tool).await;
        found.map_err(missing::stored)
    };
    if let Some(found) = find(&app).await? {
        return Ok(Json(found.into()));
    }
    let (syncing, id) = (app.clone(), server.id);
    unbroken_contract(async move { save::resync(&syncing, &id).await }).await?;
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
    responses((status = OK, body = ToolExecutionResult, description = "how it ended"), Refusals)
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
