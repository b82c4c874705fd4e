//! The tools of a server, as they are now.

use bulkhead_domain::{Timestamp, id::McpServerId};
use bulkhead_mcp::{Endpoint, EndpointError, McpError, Trail};
use bulkhead_store::{McpServerRecord, StoreError, SyncedTools};

use super::{
    endpoint,
    judge::{self, Judged, Status},
    schema,
};
use crate::{app::App, http::error::Rejection};

/// How often a list is asked for anew because the server was changed meanwhile.
const TRIES: usize = 3;
/// Tools that one line of the log names.
const NAMES_MAX: usize = 10;

/// Why the tools of a server were not stored.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SyncError {
    /// There is no such server any more.
    #[error("it is not registered any more")]
    Gone,
    /// Its address can't be asked any more.
    #[error("{0}")]
    Endpoint(#[from] EndpointError),
    /// It did not list them.
    #[error("{0}")]
    Server(#[from] McpError),
    /// Somebody changes it again and again.
    #[error("it was changed while it listed its tools")]
    Changed,
    /// They could not be stored.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// This server failed.
    #[error("{}", .0.message())]
    Host(Rejection),
}

/// Lists the tools of a server.
pub(crate) async fn list(app: &App, endpoint: &Endpoint) -> Result<Vec<Judged>, SyncError> {
    let tools = app.mcp.list_tools(endpoint, &Trail::default()).await?;
    let judged = judge::all(tools).await;
    judged.map_err(|error| SyncError::Host(Rejection::host(&error)))
}

/// Makes the tools of a server those that it lists now. What it listed at an address that it no longer
/// has is not stored.
pub(crate) async fn sync(app: &App, id: &McpServerId) -> Result<SyncedTools, SyncError> {
    for _ in 0..TRIES {
        let found = endpoint::find(app, id).await.map_err(SyncError::Host)?;
        let (server, endpoint) = found.ok_or(SyncError::Gone)?;
        let listed = list(app, &endpoint?).await?;
        match store(app, &server, listed).await {
            Err(StoreError::Changed { .. }) => {}
            // It was deleted meanwhile.
            Err(StoreError::NotFound { .. }) => return Err(SyncError::Gone),
            synced => return synced.map_err(SyncError::Store),
        }
    }
    Err(SyncError::Changed)
}

async fn store(
    app: &App,
    server: &McpServerRecord,
    listed: Vec<Judged>,
) -> Result<SyncedTools, StoreError> {
    let unusable = listed.iter().filter(|one| one.status == Status::Invalid);
    let unusable: Vec<_> = unusable.map(|one| one.tool.name.clone()).collect();
    let tools = listed
        .into_iter()
        .filter_map(|judged| schema::stored(&server.name, judged));
    let as_of: Timestamp = server.updated_at;
    let tools = tools.collect();
    let synced = app.store.put_mcp_tools(&server.id, as_of, tools).await?;
    if !synced.added.is_empty() || !synced.deleted.is_empty() {
        // Source that may call any tool has others in scope.
        app.registry.forget_plans();
    }
    if !unusable.is_empty() {
        tracing::warn!(
            server = server.name,
            count = unusable.len(),
            tools = unusable[..unusable.len().min(NAMES_MAX)].join(", "),
            "tools of an MCP server were left out: their schemas can't be used"
        );
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
