//! One server, and all.

use axum::{Json, extract::State};
use bulkhead_domain::id::McpServerId;
use bulkhead_store::McpServerRecord;

use super::view::McpServerView;
use crate::{
    app::App,
    contract::{Refusal, document::Refusals, id},
    http::{AppState, missing, query::Path},
};

/// All servers, the oldest first.
#[utoipa::path(
    get,
    path = "/v1/mcp-servers/",
    operation_id = "list_mcp_servers",
    tag = "mcp-servers",
    responses((status = OK, body = Vec<McpServerView>, description = "the servers"), Refusals)
)]
pub(crate) async fn list(State(app): State<AppState>) -> Result<Json<Vec<McpServerView>>, Refusal> {
    let servers = app.store.mcp_servers().await?;
    Ok(Json(servers.into_iter().map(McpServerView::from).collect()))
}

/// One server.
#[utoipa::path(
    get,
    path = "/v1/mcp-servers/{mcp_server_id}",
    operation_id = "retrieve_mcp_server",
    tag = "mcp-servers",
    params(("mcp_server_id" = String, Path, description = "the server's id")),
    responses((status = OK, body = McpServerView, description = "the server"), Refusals)
)]
pub(crate) async fn get(
    State(app): State<AppState>,
    Path(mcp_server_id): Path<String>,
) -> Result<Json<McpServerView>, Refusal> {
    find(&app, &mcp_server_id)
        .await
        .map(McpServerView::from)
        .map(Json)
}

/// The server with this id of the path.
pub(super) async fn find(app: &App, mcp_server_id: &str) -> Result<McpServerRecord, Refusal> {
    let id: McpServerId = id::parse("mcp_server_id", mcp_server_id)?;
    let server = app.store.mcp_server(&id).await?;
    server.ok_or_else(|| missing::object("MCPServer", id))
}
