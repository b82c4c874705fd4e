//! A stored server as one that can be asked.

use std::collections::BTreeMap;

use bulkhead_domain::id::McpServerId;
use bulkhead_mcp::{Endpoint, EndpointError, Given, PrivateRange, Transport};
use bulkhead_store::{McpSecrets, McpServerRecord, McpTransport};

use crate::{app::App, http::error::Rejection};

/// A server with what is sent to it, where its address may still be asked.
pub(crate) fn of(
    server: &McpServerRecord,
    secrets: &McpSecrets,
    open: &[PrivateRange],
) -> Result<Endpoint, EndpointError> {
    let headers = secrets.headers.iter();
    let headers: BTreeMap<&str, &str> = headers
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    let id = server.id.to_string();
    let given = Given {
        id: &id,
        revision: server.updated_at.micros(),
        transport: match server.transport {
            McpTransport::StreamableHttp => Transport::StreamableHttp,
            McpTransport::Sse => Transport::Sse,
        },
        url: &server.url,
        auth_header: server.auth_header.as_deref(),
        token: secrets.token.as_ref().map(|token| token.as_str()),
        headers: &headers,
    };
    Endpoint::new(given, open)
}

/// A stored server, and it as one that can be asked, or why it can't.
pub(crate) type Found = (McpServerRecord, Result<Endpoint, EndpointError>);

/// The server with this id; none where there is none.
pub(crate) async fn find(app: &App, id: &McpServerId) -> Result<Option<Found>, Rejection> {
    let found = app.store.mcp_secrets(id).await?;
    Ok(found.map(|(server, secrets)| {
        let endpoint = of(&server, &secrets, &app.mcp.settings().private);
        (server, endpoint)
    }))
}
