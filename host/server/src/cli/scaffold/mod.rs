//! `bulkhead tool new`: a crate that builds and passes its test at once.
//!
//! The SDK is unpacked from the binary into the crate, so that the crate needs no registry but
//! the one of its dependencies, and stays with the ABI of this binary until someone changes it.

mod lock;
mod sdk;

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::Args;
use serde_json::json;

use super::{
    error::CliError,
    exit::Exit,
    screen::{Paint, Screen},
};

/// Bytes of a name: what the server takes.
const MAX_NAME_BYTES: usize = 64;

/// Names that Rust has taken: as a crate they would not compile, or hide the standard library.
const TAKEN: [&str; 50] = [
    "abstract",
    "alloc",
    "as",
    "async",
    "await",
    "become",
    "box",
    "break",
    "const",
    "continue",
    "core",
    "crate",
    "do",
    "dyn",
    "else",
    "enum",
    "extern",
    "false",
    "final",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "in",
    "let",
    "loop",
    "macro",
    "match",
    "mod",
    "move",
    "mut",
    "override",
    "priv",
    "proc_macro",
    "pub",
    "ref",
    "return",
    "self",
    "static",
    "std",
    "struct",
    "super",
    "test",
    "trait",
    "true",
    "try",
    "type",
    "use",
    "where",
];

const EXAMPLES: &str = "\
Examples:
  bulkhead tool new weather && cd weather
  cargo test
  bulkhead tool build
  bulkhead run weather.wasm greet --input '{\"name\": \"Ada\"}'";

/// Make a crate with one tool that builds and passes its test
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct NewArgs {
    /// The crate's name, and the name of the folder that is made for it
    name: String,
    /// Make the folder in this one
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    r#in: PathBuf,
    /// Use this SDK instead of unpacking the one in this binary: a folder, or a version from
    /// the registry
    #[arg(long, value_name = "PATH|VERSION")]
    sdk: Option<String>,
}

pub(crate) fn new(args: &NewArgs, screen: Screen) -> Result<Exit, CliError> {
    check_name(&args.name)?;
    let folder = args.r#in.join(&args.name);
    let files = files(&args.name, args.sdk.as_deref())?;
    // `create_dir` and not `create_dir_all`: what is there already is left alone.
    fs::create_dir(&folder).map_err(|error| {
        let message = format_args!("can't make the folder {}", folder.display()).to_string();
        match error.kind() {
            std::io::ErrorKind::AlreadyExists => {
                CliError::usage(format!("{message}: there is one already"))
                    .hint("choose another name, or another place with --in")
            }
            _ => CliError::host(message, error),
        }
    })?;
    for (path, text) in &files {
        write(&folder.join(path), text)?;
    }
    if screen.json {
        let paths: Vec<_> = files.iter().map(|(path, _)| path).collect();
        screen.document(&json!({"name": args.name, "folder": folder, "files": paths}));
    } else {
        screen.out(format_args!(
            "made {}",
            screen.paint(folder.display(), Paint::Bold)
        ));
        screen.note(screen.paint_err(
            format_args!(
                "next: cd {} && cargo test && bulkhead tool build",
                folder.display()
            ),
            Paint::Dim,
        ));
    }
    Ok(Exit::Done)
}

fn check_name(name: &str) -> Result<(), CliError> {
    let good = name.len() <= MAX_NAME_BYTES
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_')
        });
    if !good {
        return Err(
            CliError::usage(format!("`{name}` is no name for a tool's crate"))
                .hint("at most 64 of a-z, 0-9, - and _, a letter first, such as web-search"),
        );
    }
    if TAKEN.contains(&name.replace('-', "_").as_str()) || lock::holds(name) {
        return Err(CliError::usage(format!(
            "the name `{name}` is taken by Rust or the SDK"
        )));
    }
    Ok(())
}

/// What stands behind `bulkhead-sdk =` in the manifest.
fn dependency(sdk: Option<&str>) -> Result<String, CliError> {
    let table = |path: &str| format!("{{ path = {} }}", toml::Value::from(path));
    let Some(sdk) = sdk else {
        return Ok(table(sdk::FOLDER));
    };
    let path = Path::new(sdk);
    if path.join("Cargo.toml").is_file() {
        let path = fs::canonicalize(path)
            .map_err(|error| CliError::host(format_args!("can't read {sdk}"), error))?;
        let path = path
            .to_str()
            .ok_or_else(|| CliError::usage("the SDK's path is no UTF-8"))?;
        return Ok(table(path));
    }
    let is_version = sdk.starts_with(|first: char| first.is_ascii_digit())
        && sdk
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b".-+".contains(&byte));
    if is_version {
        return Ok(toml::Value::from(sdk).to_string());
    }
    Err(CliError::usage(format!(
        "`{sdk}` is neither a folder with the SDK nor a version"
    )))
}

/// Every file of a scaffold and its text.
fn files(name: &str, sdk: Option<&str>) -> Result<Vec<(PathBuf, String)>, CliError> {
    let dependency = dependency(sdk)?;
    let fill = |template: &str| {
        template
            .replace("{{name}}", name)
            .replace("{{sdk}}", &dependency)
    };
    let texts = [
        ("Cargo.toml", fill(include_str!("template/Cargo.toml"))),
        ("README.md", fill(include_str!("template/README.md"))),
        (
            "rust-toolchain.toml",
            fill(include_str!("template/rust-toolchain.toml")),
        ),
        ("src/lib.rs", fill(include_str!("template/lib.rs"))),
        (".gitignore", fill("/target/\n/{{name}}.wasm\n")),
    ];
    let mut files: Vec<_> = texts.map(|(path, text)| (PathBuf::from(path), text)).into();
    if sdk.is_none() {
        files.push(("Cargo.lock".into(), lock::of_scaffold(name)));
        files.extend(sdk::files()?);
    }
    Ok(files)
}

fn write(path: &Path, text: &str) -> Result<(), CliError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, text))
        .map_err(|error| CliError::host(format_args!("can't write {}", path.display()), error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_cargo_or_the_server_would_refuse_are_refused_here() {
        for name in ["weather", "web-search", "a1_b"] {
            assert!(check_name(name).is_ok(), "{name}");
        }
        let long = "a".repeat(65);
        for name in [
            "", "1a", "Web", "a b", "../x", "a/b", "-a", "fn", "test", "self", &long,
        ] {
            assert_eq!(check_name(name).expect_err(name).exit, Exit::Usage);
        }
    }

    #[test]
    fn an_sdk_is_a_folder_or_a_version_and_nothing_else() {
        assert_eq!(dependency(Some("0.1.0")).expect("a version"), "\"0.1.0\"");
        assert!(dependency(Some("/no/such/sdk")).is_err());
        assert!(
            dependency(None)
                .expect("the unpacked one")
                .contains(sdk::FOLDER)
        );
    }

    #[test]
    fn an_existing_folder_is_left_alone() {
        let outer = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir(outer.path().join("mine")).expect("a folder");
        let args = NewArgs {
            name: "mine".to_owned(),
            r#in: outer.path().to_owned(),
            sdk: None,
        };
        let error = new(&args, Screen::new(true)).expect_err("it is there");
        assert_eq!(error.exit, Exit::Usage);
        assert_eq!(
            fs::read_dir(outer.path().join("mine"))
                .expect("readable")
                .count(),
            0
        );
    }
}
