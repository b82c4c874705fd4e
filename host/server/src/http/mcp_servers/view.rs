//! A server in an answer.

use std::collections::BTreeMap;

use bulkhead_store::McpServerRecord;
use serde::Serialize;
use utoipa::ToSchema;

/// A server with every field of the contract; those of secrets are null.
#[derive(Serialize, ToSchema)]
#[schema(as = McpServer)]
pub(crate) struct McpServerView {
    id: String,
    server_name: String,
    /// streamable_http or sse
    mcp_server_type: &'static str,
    server_url: String,
    auth_header: Option<String>,
    /// always null
    auth_token: Option<String>,
    /// always null
    custom_headers: Option<BTreeMap<String, String>>,
}

impl From<McpServerRecord> for McpServerView {
    fn from(server: McpServerRecord) -> Self {
        Self {
            id: server.id.to_string(),
            mcp_server_type: server.transport.as_str(),
            server_name: server.name,
            server_url: server.url,
            auth_header: server.auth_header,
            auth_token: None,
            custom_headers: None,
        }
    }
}
