//! The tools that a server brings.

use std::collections::{HashMap, HashSet};

use bulkhead_domain::{Timestamp, id::McpServerId};
use serde_json::{Value, json};

use super::{McpServerRecord, TAG_PREFIX, approvals, missing, row as server_row};
use crate::{
    Result, Store, StoreError, check, compiled_here,
    sql::{Durability, Statement, Transaction},
    tool::{McpTool, NewTool, ToolRecord, identity, lock, put, record, select},
};

/// Tools of one server. Those that are in use have a hundred at most.
pub const MCP_TOOLS_MAX: usize = 1000;
/// Characters of a tool's name that model providers take.
const NAME_MAX: usize = 64;
/// Names that are tried for one tool before it is given up.
const NAMES_TRIED: usize = 20;

/// A tool of a server, to store.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMcpTool {
    /// What the server calls it. No two of one server have the same.
    pub remote: String,
    /// What it is called here where its own name is taken; both are ASCII of 64 bytes at most.
    pub full_name: String,
    /// All else that is known of it. The name is the wanted one; its tags and metadata are the
    /// store's to write, and so is the name in its schema.
    pub tool: NewTool,
}

/// What became of the tools of a server, by their names here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SyncedTools {
    /// Those that the server did not have before.
    pub added: Vec<String>,
    /// Those that say something else than before.
    pub updated: Vec<String>,
    /// Those that the server has no more.
    pub deleted: Vec<String>,
}

impl Store {
    /// Makes these the tools of a server: those that it no longer has go, and agents have them no
    /// more; those that it still has keep their ids, their names and what a person set of them
    /// (limit of results, approval, parallel calls, tags, metadata).
    ///
    /// A new tool whose name is taken gets its full name, and where that is taken too, a number
    /// behind it. One that was there before, and whose calls waited for approval when it went, comes
    /// back so.
    ///
    /// `as_of`: when the server that listed them was changed last, as it was read before;
    /// [`StoreError::Changed`] where it was changed since. [`StoreError::NotFound`] where it is gone.
    #[compiled_here]
    pub async fn put_mcp_tools(
        &self,
        server: &McpServerId,
        as_of: Timestamp,
        tools: Vec<NewMcpTool>,
    ) -> Result<SyncedTools> {
        expect_distinct(&tools)?;
        let now = Timestamp::now();
        let mut transaction = self.database().begin(Durability::Power).await?;
        lock(&mut transaction).await?;
        let row = transaction.optional(server_row::by_id(server)).await?;
        let server = server_row::record(&row.ok_or_else(|| missing(server))?)?;
        if server.updated_at != as_of {
            return Err(StoreError::Changed { what: "MCP server" });
        }
        let mut former = stored(&mut transaction, &server.id).await?;
        let mut waiting = approvals::take(&mut transaction, &server.id).await?;
        let kept: HashSet<&str> = tools.iter().map(|tool| tool.remote.as_str()).collect();
        let mut synced = SyncedTools::default();
        // First what goes: its names are free for what comes.
        for (remote, gone) in former
            .iter()
            .filter(|(remote, _)| !kept.contains(remote.as_str()))
        {
            let delete = Statement::new("DELETE FROM tools WHERE id = $1");
            transaction.defer(delete.bind(gone.id.as_str())).await?;
            synced.deleted.push(gone.name.clone());
            if gone.default_requires_approval == Some(true) {
                waiting.insert(remote.clone());
            }
        }
        synced.deleted.sort_unstable();
        for mut new in tools {
            if waiting.remove(&new.remote) {
                new.tool.default_requires_approval = Some(true);
            }
            match former.remove(&new.remote) {
                None => synced
                    .added
                    .push(add(&mut transaction, &server, new, now).await?),
                Some(former) => {
                    let name = former.name.clone();
                    if replace(&mut transaction, &server, new, former, now).await? {
                        synced.updated.push(name);
                    }
                }
            }
        }
        approvals::put(&mut transaction, &server.id, &waiting).await?;
        transaction.commit().await?;
        Ok(synced)
    }

    /// The tools of a server by their names.
    #[compiled_here]
    pub async fn mcp_tools(&self, server: &McpServerId) -> Result<Vec<ToolRecord>> {
        let rows = self.database().all(of_server(server)).await?;
        rows.iter().map(record).collect()
    }

    /// The tool of a server that the server calls by this name.
    #[compiled_here]
    pub async fn mcp_tool(&self, server: &McpServerId, remote: &str) -> Result<Option<ToolRecord>> {
        check::text("the tool's name", remote, check::NAME_MAX)?;
        let mut query = select();
        query
            .push(" WHERE mcp_server_id = ")
            .push_value(server.to_string())
            .push(" AND mcp_tool = ")
            .push_value(remote);
        let row = self.database().optional(query).await?;
        row.as_ref().map(record).transpose()
    }
}

/// Writes the new name of a server into what its tools say of it.
pub(super) async fn rename(
    transaction: &mut Transaction,
    former: &str,
    server: &McpServerRecord,
) -> Result<()> {
    let tag = format!("{TAG_PREFIX}{former}");
    for (_, mut tool) in stored(transaction, &server.id).await? {
        tool.tags.retain(|other| *other != tag);
        stamp(&mut tool, server);
        put(transaction, &tool).await?;
    }
    Ok(())
}

fn expect_distinct(tools: &[NewMcpTool]) -> Result<()> {
    if tools.len() > MCP_TOOLS_MAX {
        return Err(StoreError::Quota {
            what: "tools of one MCP server",
            limit: MCP_TOOLS_MAX as u64,
        });
    }
    let mut names = HashSet::new();
    for tool in tools {
        check::name("the tool's name", &tool.remote)?;
        for name in [&tool.tool.name, &tool.full_name] {
            if name.is_empty() || name.len() > NAME_MAX || !name.is_ascii() {
                return Err(StoreError::Invalid {
                    what: "the tool's name",
                    reason: "is not ASCII of 1 to 64 bytes",
                });
            }
        }
        if !names.insert(tool.remote.as_str()) {
            return Err(StoreError::Invalid {
                what: "the MCP server's list of tools",
                reason: "has the same name twice",
            });
        }
    }
    Ok(())
}

fn of_server(server: &McpServerId) -> Statement {
    let mut query = select();
    query
        .push(" WHERE mcp_server_id = ")
        .push_value(server.to_string())
        .push(" ORDER BY name");
    query
}

/// The tools of a server, by what it calls them.
async fn stored(
    transaction: &mut Transaction,
    server: &McpServerId,
) -> Result<HashMap<String, ToolRecord>> {
    let rows = transaction.all(of_server(server)).await?;
    let mut tools = HashMap::with_capacity(rows.len());
    for row in &rows {
        let tool = record(row)?;
        if let Some(mcp) = &tool.mcp {
            tools.insert(mcp.tool.clone(), tool);
        }
    }
    Ok(tools)
}

/// Stores a tool that was not there, and gives its name.
async fn add(
    transaction: &mut Transaction,
    server: &McpServerRecord,
    new: NewMcpTool,
    now: Timestamp,
) -> Result<String> {
    let name = free_name(transaction, &new).await?;
    let mut tool = made(server, new, now);
    rename_tool(&mut tool, name);
    put(transaction, &tool).await?;
    Ok(tool.name)
}

/// Stores a tool in the place of what it was before. Whether it says something else.
async fn replace(
    transaction: &mut Transaction,
    server: &McpServerRecord,
    new: NewMcpTool,
    former: ToolRecord,
    now: Timestamp,
) -> Result<bool> {
    let mut tool = made(server, new, now);
    tool.in_place_of(former.identity());
    rename_tool(&mut tool, former.name.clone());
    tool.return_char_limit = former.return_char_limit;
    tool.default_requires_approval = former.default_requires_approval;
    tool.enable_parallel_execution = former.enable_parallel_execution;
    tool.project_id.clone_from(&former.project_id);
    tool.tags.clone_from(&former.tags);
    tool.metadata.clone_from(&former.metadata);
    stamp(&mut tool, server);
    let unchanged = ToolRecord {
        updated_at: former.updated_at,
        last_updated_by_id: former.last_updated_by_id.clone(),
        ..tool.clone()
    };
    if unchanged == former {
        return Ok(false);
    }
    put(transaction, &tool).await?;
    Ok(true)
}

fn made(server: &McpServerRecord, new: NewMcpTool, now: Timestamp) -> ToolRecord {
    let mut tool = ToolRecord::made(new.tool, None, now);
    tool.mcp = Some(McpTool {
        server_id: server.id,
        tool: new.remote,
    });
    stamp(&mut tool, server);
    tool
}

/// Gives a tool its name, in its schema too.
fn rename_tool(tool: &mut ToolRecord, name: String) {
    if let Some(schema) = tool.json_schema.as_mut().and_then(Value::as_object_mut) {
        schema.insert("name".to_owned(), json!(name));
    }
    tool.name = name;
}

/// Writes which server a tool is of, where clients look for it.
fn stamp(tool: &mut ToolRecord, server: &McpServerRecord) {
    let tag = format!("{TAG_PREFIX}{}", server.name);
    if !tool.tags.contains(&tag) {
        tool.tags.insert(0, tag);
    }
    let mut metadata = match tool.metadata.take() {
        Some(Value::Object(metadata)) => metadata,
        _ => serde_json::Map::new(),
    };
    let of = json!({ "server_name": server.name, "server_id": server.id });
    metadata.insert("mcp".to_owned(), of);
    tool.metadata = Some(Value::Object(metadata));
}

/// The first of the names for this tool that no tool has.
async fn free_name(transaction: &mut Transaction, new: &NewMcpTool) -> Result<String> {
    let full = new.full_name.as_str();
    let numbered = (2..NAMES_TRIED).map(|number| {
        let end = format!("__{number}");
        let kept = full.len().min(NAME_MAX - end.len());
        format!("{}{end}", &full[..kept])
    });
    let names = [new.tool.name.clone(), full.to_owned()];
    for name in names.into_iter().chain(numbered) {
        if identity(transaction, &name).await?.is_none() {
            return Ok(name);
        }
    }
    Err(StoreError::NameTaken {
        what: "tool",
        name: full.to_owned(),
    })
}
