//! Puts the SDK's sources into the binary, for `bulkhead tool new`.

use std::{
    env,
    error::Error,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

/// What a crate needs of the SDK's folder to build with it.
const PARTS: [&str; 6] = [
    "Cargo.toml",
    "README.md",
    "src",
    "wit",
    "macros/Cargo.toml",
    "macros/src",
];

fn main() -> Result<(), Box<dyn Error>> {
    let room = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or("run by cargo")?);
    let workspace = room.join("../..").canonicalize()?;
    let sdk = workspace.join("guest-sdk");
    let mut files = Vec::new();
    for part in PARTS {
        collect(&sdk.join(part), &mut files)?;
    }
    files.sort();
    let mut code = String::from(
        "/// Path below the SDK's folder, and text.\npub(super) static SDK: &[(&str, &str)] = &[\n",
    );
    for file in &files {
        let name = file
            .strip_prefix(&sdk)?
            .to_str()
            .ok_or("a path in UTF-8")?
            .replace('\\', "/");
        writeln!(code, "    ({name:?}, include_str!({file:?})),")?;
    }
    code.push_str("];\n");
    let manifest = workspace.join("Cargo.toml");
    rerun_if_changed(&manifest);
    writeln!(
        code,
        "pub(super) static WORKSPACE: &str = include_str!({manifest:?});"
    )?;
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("run by cargo")?);
    fs::write(out.join("sdk.rs"), code)?;
    Ok(())
}

/// Every file at or below `path`, whose changes cargo then watches.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    rerun_if_changed(path);
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        collect(&entry?.path(), files)?;
    }
    Ok(())
}

#[allow(
    clippy::print_stdout,
    reason = "a build script talks to cargo on stdout"
)]
fn rerun_if_changed(path: &Path) {
    println!("cargo::rerun-if-changed={}", path.display());
}
