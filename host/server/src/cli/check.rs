//! `bulkhead tool check`: what a component file is, without giving it anything.

use std::path::PathBuf;

use clap::Args;

use super::{error::CliError, exit::Exit, files, run, screen::Screen, view};

const EXAMPLES: &str = "\
Examples:
  bulkhead tool check greeter.wasm
  bulkhead tool check greeter.wasm --json | jq '.tools[].input_schema'

Only the component's `describe` runs, without any capability and with a small budget.";

/// Show the tools, schemas, imports and wishes of a component file, or why it is none
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CheckArgs {
    /// The component, a .wasm file
    file: PathBuf,
    /// Print the JSON schemas too
    #[arg(long)]
    schemas: bool,
}

pub(crate) async fn check(args: CheckArgs, screen: Screen) -> Result<Exit, CliError> {
    let bytes = files::read_component(&args.file)?;
    let sandbox = run::sandbox()?;
    let component = sandbox
        .install(bytes)
        .await
        .map_err(|error| CliError::install(&error))?;
    let view = view::to_json(&component);
    if screen.json {
        screen.document(&view);
    } else {
        view::show(&view, args.schemas, &screen);
    }
    Ok(Exit::Done)
}
