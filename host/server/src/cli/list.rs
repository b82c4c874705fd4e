//! `bulkhead tool list` and `bulkhead tool show`: what a server has.

use clap::Args;
use serde_json::json;

use super::{
    client::{Client, ServerArgs, segment, with_query},
    error::CliError,
    exit::Exit,
    screen::{Paint, Screen},
    view::{self, text},
};

const LIST_EXAMPLES: &str = "\
Examples:
  bulkhead tool list
  bulkhead tool list --status pending --json";

/// List the components on a server
#[derive(Debug, Args)]
#[command(after_help = LIST_EXAMPLES)]
pub(crate) struct ListArgs {
    /// Only versions of this component
    name: Option<String>,
    /// Only this status, such as active or pending
    #[arg(long)]
    status: Option<String>,
    /// At most so many, the newest first
    #[arg(long, default_value_t = 100)]
    limit: u32,
    #[command(flatten)]
    server: ServerArgs,
}

pub(crate) async fn list(args: ListArgs, screen: Screen) -> Result<Exit, CliError> {
    let client = Client::new(&args.server)?;
    let limit = args.limit.to_string();
    let mut query = vec![("limit", limit.as_str())];
    query.extend(args.name.as_deref().map(|name| ("name", name)));
    query.extend(args.status.as_deref().map(|status| ("status", status)));
    let components = client.get(&with_query("/v1/components", &query)).await?;
    if screen.json {
        screen.document(&components);
        return Ok(Exit::Done);
    }
    let components = components.as_array().map_or(&[][..], Vec::as_slice);
    for component in components {
        view::show_line(component, &screen);
    }
    if components.is_empty() {
        screen.note("no components; `bulkhead tool push FILE` stores one");
    }
    Ok(Exit::Done)
}

const SHOW_EXAMPLES: &str = "\
Examples:
  bulkhead tool show greeter
  bulkhead tool show sha256:9f2c… --json";

/// Show a component on a server: its tools, wishes and grants
#[derive(Debug, Args)]
#[command(after_help = SHOW_EXAMPLES)]
pub(crate) struct ShowArgs {
    /// Its name (the active version) or digest
    component: String,
    /// Print the JSON schemas too
    #[arg(long)]
    schemas: bool,
    #[command(flatten)]
    server: ServerArgs,
}

pub(crate) async fn show(args: ShowArgs, screen: Screen) -> Result<Exit, CliError> {
    let client = Client::new(&args.server)?;
    let view = client
        .get(&format!("/v1/components/{}", segment(&args.component)))
        .await?;
    let name = text(&view, "name");
    let grants = client
        .all("/v1/grants", &[("component", name)], "id")
        .await?;
    if screen.json {
        screen.document(&json!({"component": view, "grants": grants}));
        return Ok(Exit::Done);
    }
    view::show(&view, args.schemas, &screen);
    let title = if grants.is_empty() {
        "grants: none"
    } else {
        "grants"
    };
    screen.out(screen.paint(title, Paint::Bold));
    for grant in &grants {
        show_grant(grant, &screen);
    }
    Ok(Exit::Done)
}

/// One grant in a few lines.
pub(crate) fn show_grant(grant: &serde_json::Value, screen: &Screen) {
    let tool = grant["tool"]
        .as_str()
        .map_or_else(String::new, |tool| format!(" for {tool}"));
    let until = grant["expires_at"]
        .as_str()
        .map_or_else(String::new, |at| format!(" until {at}"));
    let note = grant["note"]
        .as_str()
        .map_or_else(String::new, |note| format!(" ({note})"));
    screen.out(format_args!("  {}{tool}{until}{note}", text(grant, "id")));
    for line in view::wish_lines(&grant["capabilities"]) {
        screen.out(format_args!("    {line}"));
    }
}
