//! The lock file of a scaffold: the versions with which this binary's SDK was tested.
//!
//! `template/Cargo.lock` is written by cargo itself (a test compares it, and writes it anew with
//! `BLESS=1`): which optional dependencies are in a lock file is cargo's knowledge alone.

/// Without the scaffold's own entry.
const LOCK: &str = include_str!("template/Cargo.lock");
/// Begins the entry of a package.
const ENTRY: &str = "[[package]]\n";

/// The lock file for a scaffold of this name.
pub(super) fn of_scaffold(name: &str) -> String {
    let mut parts = LOCK.split(ENTRY);
    let head = parts.next().unwrap_or_default();
    let own = format!(
        "name = \"{name}\"\nversion = \"0.1.0\"\ndependencies = [\n \"bulkhead-sdk\",\n]\n\n"
    );
    let mut entries: Vec<String> = parts
        .map(|part| format!("{}\n\n", part.trim_end()))
        .collect();
    // Cargo keeps entries in the order of their names.
    let at = entries.partition_point(|entry| name_of(entry) < Some(name));
    entries.insert(at, own);
    let entries: String = entries
        .iter()
        .map(|entry| format!("{ENTRY}{entry}"))
        .collect();
    format!("{head}{}\n", entries.trim_end())
}

/// Whether a dependency of the SDK has this name, so that a crate of that name would be confused
/// with it.
pub(super) fn holds(name: &str) -> bool {
    LOCK.split(ENTRY).any(|entry| name_of(entry) == Some(name))
}

fn name_of(entry: &str) -> Option<&str> {
    entry
        .lines()
        .find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'))
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path, process::Command};

    use super::*;
    use crate::cli::scaffold;

    #[test]
    fn the_own_entry_stands_where_cargo_would_put_it() {
        for name in ["aaa", "mine", "zzz"] {
            let lock = of_scaffold(name);
            let names: Vec<_> = lock.split(ENTRY).filter_map(name_of).collect();
            assert!(names.is_sorted() && names.contains(&name), "{names:?}");
        }
        assert!(holds("schemars") && !holds("mine"));
    }

    /// A scaffold in `folder`, and what cargo makes of its lock file.
    fn metadata(folder: &Path, lock: &str, arguments: &[&str]) -> (bool, String) {
        fs::write(folder.join("Cargo.lock"), lock).expect("writable");
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(cargo)
            .current_dir(folder)
            .args(["metadata", "--offline", "--format-version", "1"])
            .args(arguments)
            .output()
            .expect("cargo runs");
        (
            output.status.success(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    }

    #[test]
    fn the_lock_of_a_scaffold_is_what_cargo_would_write() {
        let outer = tempfile::tempdir().expect("a temporary folder");
        for (path, text) in scaffold::files("mine", None).expect("a scaffold") {
            scaffold::write(&outer.path().join(path), &text).expect("writable");
        }
        if std::env::var_os("BLESS").is_some() {
            let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
            let workspace = fs::read_to_string(workspace).expect("readable");
            let (good, said) = metadata(outer.path(), &workspace, &[]);
            assert!(good, "{said}");
            let lock = fs::read_to_string(outer.path().join("Cargo.lock")).expect("readable");
            let mut parts = lock.split(ENTRY);
            let mut blessed = parts.next().expect("a head").to_owned();
            for entry in parts.filter(|entry| name_of(entry) != Some("mine")) {
                blessed.push_str(ENTRY);
                blessed.push_str(entry);
            }
            let template = "src/cli/scaffold/template/Cargo.lock";
            let template = Path::new(env!("CARGO_MANIFEST_DIR")).join(template);
            fs::write(template, format!("{}\n", blessed.trim_end())).expect("writable");
            return;
        }
        let (good, said) = metadata(outer.path(), &of_scaffold("mine"), &["--locked"]);
        assert!(good, "write it anew with BLESS=1: {said}");
    }
}
