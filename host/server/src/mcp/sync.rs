//! The tools of a server, as they are now.

use bulkhead_mcp::{Endpoint, EndpointError, McpError, RemoteTool, Trail};
use bulkhead_store::{McpServerRecord, StoreError, SyncedTools};

use super::schema;
use crate::app::App;

/// Why the tools of a server were not stored.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SyncError {
    /// Its address can't be asked any more.
    #[error("{0}")]
    Endpoint(#[from] EndpointError),
    /// It did not list them.
    #[error("{0}")]
    Server(#[from] McpError),
    /// They could not be stored.
    #[error("{0}")]
    Store(#[from] StoreError),
}

/// Lists the tools of a server.
pub(crate) async fn list(app: &App, endpoint: &Endpoint) -> Result<Vec<RemoteTool>, McpError> {
    app.mcp.list_tools(endpoint, &Trail::default()).await
}

/// Makes the tools of a server those that it lists now.
pub(crate) async fn sync(
    app: &App,
    server: &McpServerRecord,
    endpoint: Result<Endpoint, EndpointError>,
) -> Result<SyncedTools, SyncError> {
    let listed = list(app, &endpoint?).await?;
    let tools = listed
        .into_iter()
        .filter_map(|tool| schema::stored(&server.name, tool));
    let synced = app.store.put_mcp_tools(&server.id, tools.collect()).await?;
    if !synced.added.is_empty() || !synced.deleted.is_empty() {
        // Source that may call any tool has others in scope.
        app.registry.forget_plans();
    }
    tracing::info!(
        server = server.name,
        added = synced.added.len(),
        updated = synced.updated.len(),
        deleted = synced.deleted.len(),
        "the tools of an MCP server were listed"
    );
    Ok(synced)
}
