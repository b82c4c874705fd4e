//! The older routes, which mean servers and their tools by names.
//!
//! - [`servers`]: registered, tried, changed, deleted. [`tools`]: listed, added, called.

pub(crate) mod servers;
pub(crate) mod tools;

use bulkhead_store::McpServerRecord;
use utoipa_axum::router::UtoipaMethodRouter;

use crate::{
    app::App,
    contract::Refusal,
    http::{AppState, missing, routes::routes},
};

/// The routes.
pub(super) fn routes() -> Vec<UtoipaMethodRouter<AppState>> {
    vec![
        routes!(servers::list, servers::put),
        routes!(servers::update, servers::delete, servers::test),
        routes!(tools::list),
        routes!(tools::resync),
        routes!(tools::add),
        routes!(tools::execute),
    ]
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
