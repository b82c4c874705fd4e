//! What of a document this server can't hold: nothing of a file gets lost without a word.

use bulkhead_store::ToolType;

use super::super::{problems::clipped, read::Document, tool::FileTool};
use crate::contract::Refusal;

/// Names that one sentence lists.
const NAMES_MAX: usize = 10;

/// Refuses a document with folders, groups, or tools of other servers: 400 that says which.
pub(super) fn check(document: &Document) -> Result<(), Refusal> {
    let mut unheld = Vec::new();
    let sources = document.sources.iter();
    add(
        &mut unheld,
        "folders (sources)",
        sources.map(|source| source.name.as_str()),
    );
    let files = document.files.iter();
    add(&mut unheld, "files", files.map(|file| file.id.as_str()));
    let groups = document.groups.iter();
    add(&mut unheld, "groups", groups.map(|group| group.id.as_str()));
    let servers = document.mcp_servers.iter();
    add(
        &mut unheld,
        "MCP servers",
        servers.map(|server| server.server_name.as_str()),
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

/// Whether a tool is run by another server or another library.
fn is_elsewhere(tool: &FileTool) -> bool {
    matches!(
        tool.tool_type,
        ToolType::ExternalMcp | ToolType::ExternalLangchain | ToolType::ExternalComposio
    )
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
