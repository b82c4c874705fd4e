//! Servers, by their names.

use axum::{
    Json,
    extract::{Request, State},
};
use bulkhead_domain::{Timestamp, id::McpServerId};
use bulkhead_mcp::McpError;
use bulkhead_store::McpServerRecord;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::{named, tools::McpToolView};
use crate::{
    app::App,
    contract::{
        Refusal,
        body::{self, Schema},
        document::Refusals,
    },
    http::{
        AppState,
        mcp_servers::{
            config::{self, Given, ServerConfig},
            save,
        },
        query::Path,
    },
    mcp::{
        endpoint,
        sync::{self, SyncError},
    },
};

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
        None => {
            save::register(app.clone(), name, body.config, given).await?;
        }
        Some(server) => {
            let mut config = body.config;
            config.keep_transport(server.transport);
            let changed = save::change(app.clone(), server.id, None, config, given).await?;
            save::list_tools(app.clone(), &changed).await?;
        }
    }
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
    let secrets = given.secrets();
    config::check(&app, &server, &secrets)?;
    let failed = |error: SyncError| match error {
        SyncError::Server(McpError::Busy) | SyncError::Host(_) => {
            save::unavailable(&server.name, error)
        }
        error => Refusal::bad_request(format!(
            "Failed to connect to MCP server {}: {error}",
            server.name
        )),
    };
    let asked = endpoint::of(&server, &secrets, &app.mcp.settings().private);
    let asked = asked.map_err(|error| failed(error.into()))?;
    let listed = sync::list(&app, &asked).await;
    app.mcp.end_sessions(&server.id.to_string());
    let tools = listed.map_err(failed)?.into_iter();
    Ok(Json(McpServerTest {
        status: "success",
        tools: tools.map(McpToolView::from).collect(),
    }))
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
