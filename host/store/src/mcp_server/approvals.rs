//! What is kept of tools that a server does not list any more: that their calls wait for approval. A
//! server could otherwise take that away by leaving a tool out once.

use std::collections::BTreeSet;

use bulkhead_domain::id::McpServerId;

use crate::{
    Result,
    sql::{Statement, Transaction},
};

/// Tools that are remembered for one server. Beyond that many, what is left out comes back as new.
const APPROVALS_MAX: usize = 10_000;

/// Takes out the tools, by what the server calls them.
pub(super) async fn take(
    transaction: &mut Transaction,
    server: &McpServerId,
) -> Result<BTreeSet<String>> {
    let select = Statement::new("SELECT mcp_tool FROM mcp_approvals WHERE mcp_server_id = $1");
    let rows = transaction.all(select.bind(server.to_string())).await?;
    let delete = Statement::new("DELETE FROM mcp_approvals WHERE mcp_server_id = $1");
    transaction.defer(delete.bind(server.to_string())).await?;
    rows.iter().map(|row| row.text(0)).collect()
}

/// Puts them in.
pub(super) async fn put(
    transaction: &mut Transaction,
    server: &McpServerId,
    tools: &BTreeSet<String>,
) -> Result<()> {
    for tool in tools.iter().take(APPROVALS_MAX) {
        let put = "INSERT INTO mcp_approvals (mcp_server_id, mcp_tool) VALUES ($1, $2)";
        let put = Statement::new(put)
            .bind(server.to_string())
            .bind(tool.as_str());
        transaction.defer(put).await?;
    }
    Ok(())
}
