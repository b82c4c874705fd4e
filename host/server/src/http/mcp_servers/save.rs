//! Servers are registered, changed, deleted, and their tools listed anew.

use axum::{
    Json,
    extract::{Request, State},
};
use bulkhead_domain::{Timestamp, id::McpServerId};
use bulkhead_mcp::McpError;
use bulkhead_store::{McpServerRecord, NewMcpServer, SyncedTools};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::{
    config::{self, Given, ServerConfig},
    read::find,
    view::McpServerView,
};
use crate::{
    app::App,
    contract::{
        Parameters, Refusal,
        body::{self, Schema},
        document::Refusals,
        id,
        query::{FromQuery, Query},
    },
    http::{
        AppState,
        error::{self, Rejection},
        missing,
        query::Path,
        unbroken_contract,
    },
    mcp::sync::{SyncError, sync},
};

/// A server to register.
#[derive(Deserialize, ToSchema)]
#[schema(as = CreateMcpServer)]
pub(crate) struct CreateRequest {
    /// its name, which no other server has
    server_name: String,
    config: ServerConfig,
}

impl Schema for CreateRequest {
    const NAME: &str = "CreateMCPServerRequest";
}

/// Registers a server, which allows requests to its origin, and lists its tools. One that can't be
/// reached is registered without tools.
#[utoipa::path(
    post,
    path = "/v1/mcp-servers/",
    operation_id = "create_mcp_server",
    tag = "mcp-servers",
    request_body = CreateRequest,
    responses((status = OK, body = McpServerView, description = "the server"), Refusals)
)]
pub(crate) async fn create(
    State(app): State<AppState>,
    request: Request,
) -> Result<Json<McpServerView>, Refusal> {
    let mut value = body::value(request).await?;
    let given = config::hide(value.get_mut("config"));
    let body: CreateRequest = body::read(&value)?;
    let saved = register(app, body.server_name, body.config, given).await?;
    Ok(Json(saved.into()))
}

/// Stores a server and lists its tools.
pub(super) async fn register(
    app: AppState,
    name: String,
    config: ServerConfig,
    given: Given,
) -> Result<McpServerRecord, Refusal> {
    config::check_name(&name)?;
    let now = Timestamp::now();
    let server = McpServerRecord {
        id: McpServerId::random(),
        name,
        transport: config.transport()?,
        url: config.url(),
        auth_header: config.auth_header(),
        created_by_id: Some(id::DEFAULT_USER.to_owned()),
        created_at: now,
        updated_at: now,
    };
    let secrets = given.secrets();
    config::check(&app, &server, &secrets)?;
    unbroken_contract(async move {
        let new = NewMcpServer {
            name: server.name,
            transport: server.transport,
            url: server.url,
            auth_header: server.auth_header,
            secrets,
            user_id: server.created_by_id,
        };
        let saved = app.store.create_mcp_server(new).await;
        let saved = saved.map_err(missing::stored)?;
        list_tools(app, &saved).await?;
        Ok(saved)
    })
    .await
}

/// Lists the tools of a server that was just saved. That it lists none is no failure of saving it.
pub(super) async fn list_tools(app: AppState, saved: &McpServerRecord) -> Result<(), Refusal> {
    let id = saved.id;
    let synced = unbroken_contract(async move { Ok(sync(&app, &id).await) });
    if let Err(error) = synced.await? {
        tracing::warn!(server = saved.name, %error, "an MCP server listed no tools");
    }
    Ok(())
}

/// A change of a server. What is not said of it stays.
#[derive(Deserialize, ToSchema)]
#[schema(as = UpdateMcpServer)]
pub(crate) struct UpdateRequest {
    server_name: Option<String>,
    config: ServerConfig,
}

impl Schema for UpdateRequest {
    const NAME: &str = "UpdateMCPServerRequest";
}

/// Changes a server. A token and headers that were for another origin are forgotten, unless they are
/// said again.
#[utoipa::path(
    patch,
    path = "/v1/mcp-servers/{mcp_server_id}",
    operation_id = "update_mcp_server",
    tag = "mcp-servers",
    params(("mcp_server_id" = String, Path, description = "the server's id")),
    request_body = UpdateRequest,
    responses((status = OK, body = McpServerView, description = "the server"), Refusals)
)]
pub(crate) async fn update(
    State(app): State<AppState>,
    Path(mcp_server_id): Path<String>,
    request: Request,
) -> Result<Json<McpServerView>, Refusal> {
    let mut value = body::value(request).await?;
    let given = config::hide(value.get_mut("config"));
    let UpdateRequest {
        server_name,
        config,
    } = body::read(&value)?;
    let server = find(&app, &mcp_server_id).await?;
    let saved = change(app, server.id, server_name, config, given).await?;
    Ok(Json(saved.into()))
}

/// Changes a stored server.
pub(super) async fn change(
    app: AppState,
    id: McpServerId,
    name: Option<String>,
    config: ServerConfig,
    given: Given,
) -> Result<McpServerRecord, Refusal> {
    if let Some(name) = &name {
        config::check_name(name)?;
    }
    unbroken_contract(async move {
        app.mcp.end_sessions(&id.to_string());
        let changed = app.store.update_mcp_server(&id, |server, secrets| {
            if let Some(name) = name {
                server.name = name;
            }
            config.apply(given, server, secrets)?;
            config::check(&app, server, secrets)
        });
        changed.await
    })
    .await
}

/// Deletes a server and its tools.
#[utoipa::path(
    delete,
    path = "/v1/mcp-servers/{mcp_server_id}",
    operation_id = "delete_mcp_server",
    tag = "mcp-servers",
    params(("mcp_server_id" = String, Path, description = "the server's id")),
    responses((status = NO_CONTENT, description = "it is gone, and so are its tools"), Refusals)
)]
pub(crate) async fn delete(
    State(app): State<AppState>,
    Path(mcp_server_id): Path<String>,
) -> Result<StatusCode, Refusal> {
    // Not read: what can't be read any more must go too.
    remove(app, id::parse("mcp_server_id", &mcp_server_id)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Deletes a stored server.
pub(super) async fn remove(app: AppState, id: McpServerId) -> Result<(), Refusal> {
    unbroken_contract(async move {
        app.mcp.end_sessions(&id.to_string());
        let deleted = app.store.delete_mcp_server(&id).await?;
        app.registry.forget_plans();
        match deleted {
            true => Ok(()),
            false => Err(missing::object("MCPServer", id)),
        }
    })
    .await
}

/// On whose behalf tools are listed anew.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RefreshQuery {
    /// taken for older clients; the tools are the same for all agents
    #[allow(dead_code, reason = "it stands for itself in the document of the API")]
    agent_id: Option<String>,
}

impl FromQuery for RefreshQuery {
    fn from_query(query: &mut Query) -> Self {
        Self {
            agent_id: query.text("agent_id"),
        }
    }
}

/// What became of the tools of a server, by their names.
#[derive(Serialize, ToSchema)]
#[schema(as = McpToolChanges)]
pub(crate) struct Changes {
    deleted: Vec<String>,
    updated: Vec<String>,
    added: Vec<String>,
}

/// Lists the tools of a server anew.
#[utoipa::path(
    patch,
    path = "/v1/mcp-servers/{mcp_server_id}/refresh",
    operation_id = "refresh_mcp_server_tools",
    tag = "mcp-servers",
    params(("mcp_server_id" = String, Path, description = "the server's id"), RefreshQuery),
    responses((status = OK, body = Changes, description = "what changed"), Refusals)
)]
pub(crate) async fn refresh(
    State(app): State<AppState>,
    Path(mcp_server_id): Path<String>,
    Parameters(_query): Parameters<RefreshQuery>,
) -> Result<Json<Changes>, Refusal> {
    let server = find(&app, &mcp_server_id).await?;
    let synced = unbroken_contract(async move { resync(&app, &server).await });
    synced.await.map(Changes::from).map(Json)
}

impl From<SyncedTools> for Changes {
    fn from(synced: SyncedTools) -> Self {
        Self {
            deleted: synced.deleted,
            updated: synced.updated,
            added: synced.added,
        }
    }
}

/// Makes the tools of a stored server those that it lists now.
pub(super) async fn resync(app: &App, server: &McpServerRecord) -> Result<SyncedTools, Refusal> {
    let synced = sync(app, &server.id).await;
    synced.map_err(|error| match error {
        SyncError::Gone => missing::object("MCPServer", server.id),
        error => unavailable(&server.name, error),
    })
}

/// Why a server did not list its tools: 404 where that is the server's, in the words of the contract;
/// 503 where too much goes on at once.
pub(super) fn unavailable(name: &str, why: SyncError) -> Refusal {
    let message = match why {
        SyncError::Store(error) => return missing::stored(error),
        SyncError::Host(rejection) => return rejection.into(),
        SyncError::Changed => {
            return Refusal::conflict(format!("CONFLICT: the MCP server {name}: {why}"));
        }
        SyncError::Server(busy @ McpError::Busy) => {
            return Rejection::with(&error::OVERLOADED, busy.to_string()).into();
        }
        other => other.to_string(),
    };
    let detail = json!({
        "code": "MCPServerUnavailable",
        "message": format!("Could not connect to MCP server {name} to resync tools"),
        "error": message,
    });
    Refusal::with(StatusCode::NOT_FOUND, json!({ "detail": detail }))
}
