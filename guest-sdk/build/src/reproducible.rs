//! The same sources give the same component on every machine.
//!
//! Messages of panics name source files. Where those stand on the machine that builds is nobody
//! else's business, and would change the component's digest.

use std::{
    env,
    fmt::Write,
    path::{Path, PathBuf},
};

use crate::target;

/// What a component says in the place of the folder with cargo's registry.
const CARGO_HOME: &str = "/cargo";
/// What a component says in the place of the folder that holds the guest.
const WORKSPACE: &str = "/workspace";

/// A setting for `cargo --config` that keeps this machine's folders out of guests. As a setting it
/// adds to what a configuration file says, and a folder's name may have spaces.
pub(crate) fn remapping(workspace: &Path) -> String {
    let mut folders = vec![(workspace.to_owned(), WORKSPACE)];
    // The last rule that fits counts: the registry may stand inside of the workspace.
    folders.extend(cargo_home().map(|home| (home, CARGO_HOME)));
    setting(&folders)
}

fn setting(folders: &[(PathBuf, &str)]) -> String {
    let mut flags = String::new();
    for (folder, name) in folders {
        let flag = format!("--remap-path-prefix={}={name}", folder.display());
        // Writing to a String does not fail.
        let _ = write!(flags, "{}, ", toml_string(&flag));
    }
    format!("target.{}.rustflags=[{flags}]", target::TRIPLE)
}

/// Where cargo keeps what it downloads; as cargo finds it.
fn cargo_home() -> Option<PathBuf> {
    let set = env::var_os("CARGO_HOME").filter(|home| !home.is_empty());
    match set {
        Some(home) => std::path::absolute(home).ok(),
        None => env::home_dir().map(|home| home.join(".cargo")),
    }
}

fn toml_string(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            control if control.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::setting;

    #[test]
    fn a_folder_s_name_may_have_spaces_and_quotes() {
        let folders = [("/a b".into(), "/w"), (r#"/c"d\e"#.into(), "/x")];
        assert_eq!(
            setting(&folders),
            r#"target.wasm32-wasip2.rustflags=["--remap-path-prefix=/a b=/w", "--remap-path-prefix=/c\"d\\e=/x", ]"#
        );
    }
}
