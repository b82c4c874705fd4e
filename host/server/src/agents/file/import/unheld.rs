//! What of a document this server can't hold: nothing of a file gets lost without a word.

use bulkhead_store::{ToolRecord, ToolType};

use super::super::{
    document::without_query,
    problems::clipped,
    read::{Document, McpServer},
    tool::FileTool,
};
use crate::{app::App, contract::Refusal, http::missing};

/// Names that one sentence lists.
const NAMES_MAX: usize = 10;

/// Refuses a document with tools of other servers: 400 that says which.
///
/// MCP servers are those that a person registered here. A file does not register any: that would
/// allow requests to a place that whoever wrote the file chose.
pub(super) async fn check(app: &App, document: &Document) -> Result<(), Refusal> {
    let mut unheld = Vec::new();
    let mut servers = Vec::new();
    for server in &document.mcp_servers {
        if !is_registered(app, server).await? {
            servers.push(server.server_name.as_str());
        }
    }
    add(
        &mut unheld,
        "MCP servers that are not registered here at that address",
        servers.into_iter(),
    );
    let mut tools = Vec::new();
    for tool in document
        .tools
        .iter()
        .filter(|tool| tool.tool_type == ToolType::ExternalMcp)
    {
        if tool.mcp().is_some() && there(app, tool).await?.is_none() {
            tools.push(tool.name().unwrap_or(&tool.id));
        }
    }
    add(
        &mut unheld,
        "tools that their MCP server does not have here",
        tools.into_iter(),
    );
    let tools = document.tools.iter().filter(|tool| is_elsewhere(tool));
    add(
        &mut unheld,
        "tools that run elsewhere",
        tools.map(|tool| tool.name().unwrap_or(&tool.id)),
    );
    if unheld.is_empty() {
        return Ok(());
    }
    Err(Refusal::bad_request(format!(
        "This server can't hold everything that is in the file, and imported nothing: {}. Take it \
         out of the file to import the rest.",
        unheld.join("; ")
    )))
}

/// Whether a tool is run by another library, or by a server that the file does not name.
fn is_elsewhere(tool: &FileTool) -> bool {
    match tool.tool_type {
        ToolType::ExternalLangchain | ToolType::ExternalComposio => true,
        ToolType::ExternalMcp => tool.mcp().is_none(),
        _ => false,
    }
}

async fn is_registered(app: &App, server: &McpServer) -> Result<bool, Refusal> {
    let found = app.store.mcp_server_by_name(&server.server_name).await;
    let Some(found) = found.map_err(missing::stored)? else {
        return Ok(false);
    };
    let url = server.server_url.as_deref().map(without_query);
    Ok(url.is_none_or(|url| url == without_query(&found.url)))
}

/// The tool of an MCP server that a tool of the file means, where this server has it.
pub(super) async fn there(app: &App, tool: &FileTool) -> Result<Option<ToolRecord>, Refusal> {
    let Some((server, name)) = tool.mcp() else {
        return Ok(None);
    };
    let server = app.store.mcp_server_by_name(server).await;
    let Some(server) = server.map_err(missing::stored)? else {
        return Ok(None);
    };
    let found = app.store.mcp_tool(&server.id, name).await;
    found.map_err(missing::stored)
}

fn add<'a>(unheld: &mut Vec<String>, what: &str, names: impl Iterator<Item = &'a str>) {
    let names: Vec<_> = names.collect();
    if names.is_empty() {
        return;
    }
    let shown = names.iter().take(NAMES_MAX);
    let shown: Vec<_> = shown.map(clipped).collect();
    let more = names.len().saturating_sub(NAMES_MAX);
    let rest = match more {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    unheld.push(format!("{what}: {}{rest}", shown.join(", ")));
}
