//! `bulkhead tool build`: a guest crate becomes a component, which is then checked.

use std::{
    fs,
    path::{Path, PathBuf},
};

use bulkhead_guest_build::{Artifact, Build, BuildError};
use clap::Args;
use serde_json::json;

use super::{
    error::CliError,
    exit::Exit,
    files, run,
    screen::{Paint, Screen},
    view::{self, array, text},
};

const EXAMPLES: &str = "\
Examples:
  bulkhead tool build
  bulkhead tool build ../weather --json | jq -r .path

The component is put beside the Cargo.toml, under the name of the crate: weather.wasm. The profile
`release` of the crate's Cargo.toml decides how small and how fast it is.";

/// Compile a crate to a component and check it
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BuildArgs {
    /// The crate's folder or Cargo.toml
    #[arg(default_value = ".")]
    path: PathBuf,
    /// Let cargo build here
    #[arg(long, value_name = "FOLDER")]
    target_dir: Option<PathBuf>,
    /// Another profile than `release`
    #[arg(long, default_value = "release", hide_default_value = true)]
    profile: String,
}

pub(crate) async fn build(args: BuildArgs, screen: Screen) -> Result<Exit, CliError> {
    let manifest = if args.path.is_dir() {
        args.path.join("Cargo.toml")
    } else {
        args.path.clone()
    };
    if !manifest.is_file() {
        return Err(
            CliError::usage(format!("there is no crate at {}", args.path.display()))
                .hint("`bulkhead tool new NAME` makes one"),
        );
    }
    let folder = manifest.parent().unwrap_or(Path::new("")).to_owned();
    let build = Build {
        target_dir: args
            .target_dir
            .map(std::path::absolute)
            .transpose()
            .map_err(|error| {
                CliError::usage(format!("the target folder can't be used: {error}"))
            })?,
        profile: args.profile,
        quiet: screen.json,
        ..Build::new(manifest)
    };
    let artifacts = tokio::task::spawn_blocking(move || build.run())
        .await
        .map_err(|error| CliError::host("the build broke off", error))?
        .map_err(|error| refused(&error))?;
    let sandbox = run::sandbox()?;
    let mut views = Vec::new();
    for artifact in artifacts {
        let bytes = files::read_component(&artifact.path)?;
        let component = sandbox
            .install(bytes)
            .await
            .map_err(|error| CliError::install(&error))?;
        let mut view = view::to_json(&component);
        view["path"] = json!(place(&folder, &artifact)?);
        views.push(view);
    }
    for view in &views {
        if screen.json {
            screen.document(view);
        } else {
            screen.out(format_args!(
                "path     {}",
                screen.paint(text(view, "path"), Paint::Bold)
            ));
            view::show_head(view, &screen);
            let tools: Vec<&str> = array(view, "tools")
                .iter()
                .map(|tool| text(tool, "name"))
                .collect();
            screen.out(format_args!("tools    {}", tools.join(", ")));
        }
    }
    Ok(Exit::Done)
}

/// Copies a component to where its author looks for it.
fn place(folder: &Path, artifact: &Artifact) -> Result<PathBuf, CliError> {
    let path = folder.join(format!("{}.wasm", artifact.package));
    fs::copy(&artifact.path, &path)
        .map_err(|error| CliError::host(format_args!("can't write {}", path.display()), error))?;
    Ok(path)
}

fn refused(error: &BuildError) -> CliError {
    let code = match error {
        BuildError::MissingTarget => "target_missing",
        BuildError::Start { .. } => "cargo_missing",
        BuildError::NoComponent { .. } => "no_component",
        _ => "build_failed",
    };
    let refused = CliError::new(Exit::Refused, code, error.to_string());
    match error {
        BuildError::Start { .. } => refused.hint("install Rust from https://rustup.rs"),
        _ => refused,
    }
}
