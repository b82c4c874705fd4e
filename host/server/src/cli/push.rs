//! `bulkhead tool push`: a component file goes to a server.

use std::path::PathBuf;

use clap::Args;

use super::{
    client::{Client, ServerArgs},
    diff,
    error::CliError,
    exit::Exit,
    files,
    screen::{Paint, Screen},
    view::{self, text},
};

const EXAMPLES: &str = "\
Examples:
  bulkhead tool push greeter.wasm
  bulkhead tool push target/wasm32-wasip2/guest/search.wasm --name web-search

A version that wishes for more than the active one stays pending, and nothing of it runs, until
`bulkhead tool grant NAME --accept DIGEST`.";

/// Store a component on a server
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PushArgs {
    /// The component, a .wasm file
    file: PathBuf,
    /// The name under which it is known [default: the file's name]
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    server: ServerArgs,
}

pub(crate) async fn push(args: PushArgs, screen: Screen) -> Result<Exit, CliError> {
    let bytes = files::read_component(&args.file)?;
    let name = match args.name {
        Some(name) => name,
        None => name_of(&args.file)?,
    };
    let client = Client::new(&args.server)?;
    let view = client.push(&name, bytes).await?;
    if screen.json {
        screen.document(&view);
        return Ok(Exit::Done);
    }
    view::show_head(&view, &screen);
    let tools: Vec<&str> = view::array(&view, "tools")
        .iter()
        .map(|tool| text(tool, "name"))
        .collect();
    screen.out(format_args!("tools    {}", tools.join(", ")));
    if text(&view, "status") == "pending" {
        diff::show(&view["diff"], &screen);
        let digest = text(&view, "digest");
        let line = format!(
            "it wishes for more than the active version, so it waits. To accept it:\n  bulkhead tool grant {name} --accept {digest}"
        );
        screen.note(screen.paint_err(line, Paint::Yellow));
    } else if !view::wish_lines(&view["wishes"]).is_empty() {
        let line = format!(
            "it wishes for capabilities; see `bulkhead tool show {name}` and grant with `bulkhead tool grant {name} …`"
        );
        screen.note(screen.paint_err(line, Paint::Dim));
    }
    Ok(Exit::Done)
}

/// A name from a file name: lower case, with dashes for what a name may not have.
fn name_of(file: &std::path::Path) -> Result<String, CliError> {
    let stem = file
        .file_stem()
        .and_then(|stem| stem.to_str())
        .unwrap_or_default();
    let name: String = stem
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '_' {
                c.to_ascii_lowercase()
            } else {
                '-'
            }
        })
        .collect();
    let name = name.trim_matches(['-', '_']).to_owned();
    if name.is_empty() {
        return Err(
            CliError::usage(format!("no name can be made of {}", file.display()))
                .hint("give one with --name"),
        );
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_file_name_becomes_a_valid_name() {
        assert_eq!(
            name_of(Path::new("a/Web_Search.wasm")).expect("a name"),
            "web_search"
        );
        assert_eq!(
            name_of(Path::new("my tool v2.wasm")).expect("a name"),
            "my-tool-v2"
        );
        assert!(name_of(Path::new("….wasm")).is_err());
    }
}
