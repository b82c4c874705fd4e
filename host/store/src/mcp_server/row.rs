//! A server as a row.

use bulkhead_domain::id::McpServerId;

use super::{McpServerRecord, SERVER_NAME_MAX};
use crate::{
    Result, check,
    sql::{Row, Statement, Transaction},
};

/// Bytes of an address, as many as a request may have.
const URL_MAX: usize = 8192;

/// A query for servers with their sealed secrets; what follows is pushed.
pub(super) fn select() -> Statement {
    Statement::new(
        "SELECT id, name, transport, url, auth_header, created_by_id, created_at, updated_at, sealed
        FROM mcp_servers",
    )
}

/// A query for one server.
pub(super) fn by_id(id: &McpServerId) -> Statement {
    let mut query = select();
    query.push(" WHERE id = ").push_value(id.to_string());
    query
}

/// Refuses texts that are empty or too long.
pub(super) fn check(server: &McpServerRecord) -> Result<()> {
    check::name("the MCP server's name", &server.name)?;
    check::text("the MCP server's name", &server.name, SERVER_NAME_MAX)?;
    check::text("the MCP server's address", &server.url, URL_MAX)?;
    for (what, value) in [
        ("the header of the MCP server's token", &server.auth_header),
        ("the MCP server's creator", &server.created_by_id),
    ] {
        check::text(what, value.as_deref().unwrap_or_default(), check::NAME_MAX)?;
    }
    Ok(())
}

/// Writes a server, in place of the one with its id.
pub(super) async fn put(
    transaction: &mut Transaction,
    server: &McpServerRecord,
    sealed: Vec<u8>,
) -> Result<()> {
    let put = "INSERT INTO mcp_servers
            (id, name, transport, url, auth_header, created_by_id, created_at, updated_at, sealed)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        ON CONFLICT (id) DO UPDATE SET
            name = excluded.name, transport = excluded.transport, url = excluded.url,
            auth_header = excluded.auth_header, updated_at = excluded.updated_at,
            sealed = excluded.sealed";
    let put = Statement::new(put)
        .bind(server.id.to_string())
        .bind(server.name.as_str())
        .bind(server.transport.as_str())
        .bind(server.url.as_str())
        .bind(server.auth_header.as_deref())
        .bind(server.created_by_id.as_deref())
        .bind(server.created_at)
        .bind(server.updated_at)
        .bind(sealed);
    transaction.defer(put).await
}

pub(super) fn record(row: &Row) -> Result<McpServerRecord> {
    Ok(McpServerRecord {
        id: row.parsed(0, "MCP server id")?,
        name: row.text(1)?,
        transport: row.parsed(2, "transport of an MCP server")?,
        url: row.text(3)?,
        auth_header: row.optional_text(4)?,
        created_by_id: row.optional_text(5)?,
        created_at: row.timestamp(6)?,
        updated_at: row.timestamp(7)?,
    })
}

/// The sealed secrets of [`select`].
pub(super) fn sealed(row: &Row) -> Result<Vec<u8>> {
    row.blob(8)
}
