//! A tool as a row.

use serde_json::Value;

use super::{ComponentTool, Identity, McpTool, ToolRecord, limits};
use crate::{
    Result, StoreError,
    fold::folded,
    sql::{Row, Statement, Transaction},
};

/// The columns of [`record`], in its order.
pub(crate) const COLUMNS: &str = "id, name, tool_type, source_type, description, source_code,
    json_schema, args_json_schema, tags, return_char_limit, pip_requirements, npm_requirements,
    default_requires_approval, enable_parallel_execution, metadata, component, component_tool,
    packages, created_by_id, last_updated_by_id, project_id, created_at, updated_at,
    mcp_server_id, mcp_tool";

/// From here to the end of the transaction nobody else writes to tools or deletes package sets.
pub(crate) async fn lock(transaction: &mut Transaction) -> Result<()> {
    let lock = Statement::new("UPDATE tools_lock SET id = 1 WHERE id = 1");
    transaction.defer(lock).await
}

/// A query for whole tools; what follows is pushed.
pub(crate) fn select() -> Statement {
    let mut query = Statement::new("SELECT ");
    query.push(COLUMNS).push(" FROM tools");
    query
}

/// Writes a tool, in place of the one with its id.
pub(crate) async fn put(transaction: &mut Transaction, tool: &ToolRecord) -> Result<()> {
    let documents = limits::documents(tool)?;
    let packages = tool.packages.map(|digest| digest.to_string());
    if let Some(digest) = &packages {
        let known = Statement::new("SELECT 1 FROM package_sets WHERE digest = $1");
        let known = transaction.optional(known.bind(digest.as_str())).await?;
        let missing = || StoreError::NotFound {
            what: "package set",
            id: digest.clone(),
        };
        known.ok_or_else(missing)?;
    }
    let component = tool.component.as_ref();
    let put = "INSERT INTO tools (id, name, tool_type, source_type, description, source_code,
            json_schema, args_json_schema, tags, return_char_limit, pip_requirements,
            npm_requirements, default_requires_approval, enable_parallel_execution, metadata,
            component, component_tool, packages, created_by_id, last_updated_by_id, project_id,
            created_at, updated_at, name_folded, size, mcp_server_id, mcp_tool)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
            $18, $19, $20, $21, $22, $23, $24, $25, $26, $27)
        ON CONFLICT (id) DO UPDATE SET
            name = excluded.name, tool_type = excluded.tool_type,
            source_type = excluded.source_type, description = excluded.description,
            source_code = excluded.source_code, json_schema = excluded.json_schema,
            args_json_schema = excluded.args_json_schema, tags = excluded.tags,
            return_char_limit = excluded.return_char_limit,
            pip_requirements = excluded.pip_requirements,
            npm_requirements = excluded.npm_requirements,
            default_requires_approval = excluded.default_requires_approval,
            enable_parallel_execution = excluded.enable_parallel_execution,
            metadata = excluded.metadata, component = excluded.component,
            component_tool = excluded.component_tool, packages = excluded.packages,
            last_updated_by_id = excluded.last_updated_by_id, project_id = excluded.project_id,
            updated_at = excluded.updated_at, name_folded = excluded.name_folded,
            size = excluded.size, mcp_server_id = excluded.mcp_server_id,
            mcp_tool = excluded.mcp_tool";
    let put = Statement::new(put)
        .bind(tool.id.as_str())
        .bind(tool.name.as_str())
        .bind(tool.tool_type.as_str())
        .bind(tool.source_type.clone())
        .bind(tool.description.clone())
        .bind(tool.source_code.clone())
        .bind(documents.json_schema)
        .bind(documents.args_json_schema)
        .bind(documents.tags)
        .bind(tool.return_char_limit)
        .bind(documents.pip_requirements)
        .bind(documents.npm_requirements)
        .bind(tool.default_requires_approval)
        .bind(tool.enable_parallel_execution)
        .bind(documents.metadata)
        .bind(component.map(|origin| origin.component.clone()))
        .bind(component.map(|origin| origin.tool.clone()))
        .bind(packages)
        .bind(tool.created_by_id.clone())
        .bind(tool.last_updated_by_id.clone())
        .bind(tool.project_id.clone())
        .bind(tool.created_at)
        .bind(tool.updated_at)
        .bind(folded(&tool.name))
        .bind(i64::try_from(documents.size).unwrap_or(i64::MAX))
        .bind(tool.mcp.as_ref().map(|mcp| mcp.server_id.to_string()))
        .bind(tool.mcp.as_ref().map(|mcp| mcp.tool.clone()));
    transaction.defer(put).await
}

/// What of the tool with this name stays when it is replaced.
pub(crate) async fn identity(
    transaction: &mut Transaction,
    name: &str,
) -> Result<Option<Identity>> {
    let query = "SELECT id, created_by_id, created_at FROM tools WHERE name = $1";
    let row = transaction
        .optional(Statement::new(query).bind(name))
        .await?;
    row.map(|row| {
        Ok(Identity {
            id: row.text(0)?,
            created_by_id: row.optional_text(1)?,
            created_at: row.timestamp(2)?,
        })
    })
    .transpose()
}

pub(crate) fn record(row: &Row) -> Result<ToolRecord> {
    let document = |column| row.optional_json::<Value>(column, "tool");
    let component = row.optional_text(15)?.zip(row.optional_text(16)?);
    let server = row.optional_parsed(23, "MCP server of a tool")?;
    let mcp = server.zip(row.optional_text(24)?);
    Ok(ToolRecord {
        id: row.text(0)?,
        name: row.text(1)?,
        tool_type: row.parsed(2, "type of a tool")?,
        source_type: row.optional_text(3)?,
        description: row.optional_text(4)?,
        source_code: row.optional_text(5)?,
        json_schema: document(6)?,
        args_json_schema: document(7)?,
        tags: row.json(8, "tags of a tool")?,
        return_char_limit: row.int(9)?,
        pip_requirements: document(10)?,
        npm_requirements: document(11)?,
        default_requires_approval: row.optional_bool(12)?,
        enable_parallel_execution: row.optional_bool(13)?,
        metadata: document(14)?,
        component: component.map(|(component, tool)| ComponentTool { component, tool }),
        mcp: mcp.map(|(server_id, tool)| McpTool { server_id, tool }),
        packages: row.optional_parsed(17, "package set of a tool")?,
        created_by_id: row.optional_text(18)?,
        last_updated_by_id: row.optional_text(19)?,
        project_id: row.optional_text(20)?,
        created_at: row.timestamp(21)?,
        updated_at: row.timestamp(22)?,
    })
}
