//! Every guest of a folder as constants: what a build script needs.

use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use crate::{Artifact, Build, BuildError, build::build_script_variable, environment};

/// The profile of guests in a workspace: small and fast.
const PROFILE: &str = "guest";

/// Builds every guest beside a build script and writes `$OUT_DIR/guests.rs`, for `include!`:
/// a constant for each component, and `ALL` with their names.
///
/// A guest is a folder of the package that has a `Cargo.toml`; folder `fetch_webpage` holds
/// package `{prefix}fetch-webpage`, which becomes constant `FETCH_WEBPAGE` and name `fetch_webpage`.
/// Those in `apart` are workspaces of their own; they have a constant and are not in `ALL`.
pub fn embed(prefix: &str, apart: &[&str]) -> Result<(), BuildError> {
    let package = build_script_variable("CARGO_MANIFEST_DIR")?;
    let out = build_script_variable("OUT_DIR")?;
    let (own, names): (Vec<_>, Vec<_>) = guests(&package)?
        .into_iter()
        .partition(|name| apart.contains(&name.as_str()));
    // Before the build, so that a failed one runs again after a change; the whole folder, so that
    // a new guest is seen.
    instruct(&package);

    // At once: a large guest is optimised by one thread for a minute at the end.
    let artifacts = std::thread::scope(|scope| {
        let apart: Vec<_> = own
            .iter()
            .map(|name| {
                let (folder, alone) = (package.join(name), std::slice::from_ref(name));
                let out = &out;
                scope.spawn(move || build(&folder, out, name, prefix, alone))
            })
            .collect();
        let mut artifacts = match names.is_empty() {
            true => Vec::new(),
            false => build(&package, &out, "", prefix, &names)?,
        };
        for built in apart {
            let built = built.join();
            artifacts.extend(built.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        Ok::<_, BuildError>(artifacts)
    })?;
    let names: Vec<_> = names.into_iter().chain(own).collect();
    let mut embedded = Vec::new();
    for (name, artifact) in names.iter().zip(&artifacts) {
        artifact
            .sources()?
            .iter()
            .for_each(|source| instruct(source));
        // A copy of this build's own: another build may replace the file while rustc reads it.
        let copy = out.join(format!("{name}.wasm"));
        fs::copy(&artifact.path, &copy).map_err(BuildError::file(&artifact.path))?;
        embedded.push((name.as_str(), copy));
    }
    let code = out.join("guests.rs");
    fs::write(&code, constants(&embedded, apart)).map_err(BuildError::file(&code))
}

/// The folders that hold a guest, in the order of their names.
fn guests(folder: &Path) -> Result<Vec<String>, BuildError> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(BuildError::file(folder))? {
        let entry = entry.map_err(BuildError::file(folder))?;
        if entry.path().join("Cargo.toml").is_file()
            && let Ok(name) = entry.file_name().into_string()
        {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Builds packages of the workspace around `folder`, in a folder `apart` of the target directory.
fn build(
    folder: &Path,
    out: &Path,
    apart: &str,
    prefix: &str,
    names: &[String],
) -> Result<Vec<Artifact>, BuildError> {
    let packages = names
        .iter()
        .map(|name| format!("{prefix}{}", name.replace('_', "-")));
    let build = Build {
        packages: packages.collect(),
        target_dir: Some(
            environment::target_directory(out)
                .join("guests")
                .join(apart),
        ),
        profile: PROFILE.to_owned(),
        ..Build::new(folder.join("Cargo.toml"))
    };
    build.run()
}

/// Lets cargo run the build script again when `path` changes.
#[allow(
    clippy::print_stdout,
    reason = "a build script talks to cargo on stdout"
)]
fn instruct(path: &Path) {
    println!("cargo::rerun-if-changed={}", path.display());
}

/// The bytes of a file as an expression. They are those of a static: bytes of a constant stand in a
/// program once for each piece of it that is compiled by itself and uses them.
pub fn bytes_of(path: &Path) -> String {
    let bytes = format!("include_bytes!({path:?})");
    format!("{{ static BYTES: [u8; {bytes}.len()] = *{bytes}; &BYTES }}")
}

fn constants(embedded: &[(&str, PathBuf)], apart: &[&str]) -> String {
    let mut code = String::new();
    let mut all = String::new();
    for (name, path) in embedded {
        let constant = name.replace('-', "_").to_uppercase();
        // Writing to a String does not fail.
        let _ = writeln!(
            code,
            "/// The component `{name}`.\npub const {constant}: &[u8] = {};\n",
            bytes_of(path)
        );
        if !apart.contains(name) {
            let _ = write!(all, "({name:?}, {constant}), ");
        }
    }
    let _ = writeln!(
        code,
        "/// The components, by name.\npub const ALL: &[(&str, &[u8])] = &[{all}];"
    );
    code
}

#[cfg(test)]
mod tests {
    use super::{constants, guests};

    #[test]
    fn a_guest_is_a_folder_with_a_manifest() {
        let root = crate::scratch::Scratch::new("embed");
        for folder in ["src", "web_search", "demo"] {
            std::fs::create_dir(root.path().join(folder)).expect("a folder can be made");
        }
        for folder in ["web_search", "demo"] {
            std::fs::write(root.path().join(folder).join("Cargo.toml"), "")
                .expect("a file can be written");
        }
        std::fs::write(root.path().join("Cargo.toml"), "").expect("a file can be written");
        assert_eq!(
            guests(root.path()).expect("the folder is there"),
            ["demo", "web_search"]
        );
    }

    #[test]
    fn every_component_has_a_constant_and_stands_in_the_list_unless_it_is_apart() {
        let embedded = [
            ("javascript", "/out/javascript.wasm".into()),
            ("web_search", "/out/web_search.wasm".into()),
        ];
        let code = constants(&embedded, &["javascript"]);
        assert!(
            code.contains(
                r#"pub const WEB_SEARCH: &[u8] = { static BYTES: [u8; include_bytes!("/out/web_search.wasm").len()]"#
            ),
            "{code}"
        );
        assert!(code.contains("pub const JAVASCRIPT"), "{code}");
        assert!(
            code.contains(r#"&[("web_search", WEB_SEARCH), ]"#),
            "{code}"
        );
    }
}
