//! The SDK as a package that stands on its own, made of the sources in the binary.

use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::cli::error::CliError;

include!(concat!(env!("OUT_DIR"), "/sdk.rs"));

/// Where a scaffold keeps it.
pub(super) const FOLDER: &str = ".bulkhead/sdk";

/// Every file of the SDK with its place in the scaffold.
pub(super) fn files() -> Result<Vec<(PathBuf, String)>, CliError> {
    let file = |&(path, text): &(&str, &str)| {
        let text = if path == "Cargo.toml" {
            manifest(text)?
        } else {
            text.to_owned()
        };
        Ok((Path::new(FOLDER).join(path), text))
    };
    SDK.iter().map(file).collect()
}

/// The SDK's manifest with the tables of this workspace that its packages inherit from.
fn manifest(text: &str) -> Result<String, CliError> {
    let mut manifest = parse(text)?;
    // Its tests stay behind, and with them what only they need.
    manifest.remove("dev-dependencies");
    let Some(Value::Table(mut workspace)) = parse(WORKSPACE)?.remove("workspace") else {
        return Err(broken("it has no table [workspace]"));
    };
    workspace.remove("default-members");
    workspace.insert("members".to_owned(), Value::from(vec!["macros"]));
    let used = dependencies()?;
    if let Some(Value::Table(table)) = workspace.get_mut("dependencies") {
        table.retain(|name, _| used.iter().any(|used| used == name));
        if let Some(Value::Table(entry)) = table.get_mut("bulkhead-sdk-macros") {
            entry.insert("path".to_owned(), Value::from("macros"));
        }
    }
    manifest.insert("workspace".to_owned(), Value::Table(workspace));
    toml::to_string(&manifest).map_err(broken)
}

/// The names of all dependencies of the SDK's packages.
fn dependencies() -> Result<Vec<String>, CliError> {
    let mut names = Vec::new();
    for (path, text) in SDK.iter().filter(|(path, _)| path.ends_with("Cargo.toml")) {
        let manifest = parse(text).map_err(|error| broken(format!("{path}: {error}")))?;
        let mut add = |table: Option<&Value>| {
            if let Some(Value::Table(table)) = table {
                names.extend(table.keys().cloned());
            }
        };
        add(manifest.get("dependencies"));
        if let Some(Value::Table(targets)) = manifest.get("target") {
            targets
                .values()
                .for_each(|target| add(target.get("dependencies")));
        }
    }
    Ok(names)
}

fn parse(text: &str) -> Result<Table, CliError> {
    text.parse::<Table>().map_err(broken)
}

/// The binary holds an SDK that it can't unpack: a mistake of its build.
fn broken(error: impl std::fmt::Display) -> CliError {
    CliError::host("the SDK in this binary can't be unpacked", error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unpacked_manifest_stands_on_its_own() {
        let (_, text) = SDK
            .iter()
            .find(|(path, _)| *path == "Cargo.toml")
            .expect("a manifest");
        let manifest = parse(&manifest(text).expect("a manifest")).expect("TOML");
        let workspace = &manifest["workspace"];
        let table = workspace["dependencies"].as_table().expect("a table");
        assert_eq!(
            table["bulkhead-sdk-macros"]["path"].as_str(),
            Some("macros")
        );
        assert!(table.contains_key("wit-bindgen") && table.contains_key("syn"));
        assert!(!table.contains_key("wasmtime"), "only what the SDK needs");
        assert!(workspace["lints"].is_table() && workspace["package"].is_table());
        assert!(manifest.get("dev-dependencies").is_none());
    }

    #[test]
    fn the_sources_and_the_interface_are_all_there() {
        let files = files().expect("files");
        for path in [
            "src/lib.rs",
            "wit/tool.wit",
            "macros/src/lib.rs",
            "macros/Cargo.toml",
        ] {
            let place = Path::new(FOLDER).join(path);
            assert!(
                files
                    .iter()
                    .any(|(path, text)| *path == place && !text.is_empty()),
                "{path}"
            );
        }
    }
}
