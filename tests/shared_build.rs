//! The README's two commands share one build: a newcomer waits once.

use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};

/// What cargo builds for these kinds of dependencies: each package with the sets of features that it is built with.
fn resolved(kinds: &str) -> BTreeMap<String, BTreeSet<String>> {
    let tree = Command::new(env!("CARGO"))
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .args(["tree", "--locked", "--offline", "--prefix", "none"])
        .args(["--edges", kinds, "--format", "{p}|{f}"])
        .output()
        .expect("cargo runs");
    assert!(
        tree.status.success(),
        "{}",
        String::from_utf8_lossy(&tree.stderr)
    );
    let mut packages = BTreeMap::<_, BTreeSet<_>>::new();
    for line in String::from_utf8_lossy(&tree.stdout).lines() {
        let line = line.trim_end_matches(" (*)");
        let (package, features) = line.split_once('|').unwrap_or((line, ""));
        packages
            .entry(package.to_owned())
            .or_default()
            .insert(features.to_owned());
    }
    assert!(packages.len() > 100, "the tree was read: {packages:?}");
    packages
}

/// Else `cargo test` builds that package once more, and with it all that depends on it, which may be the sandbox and the server.
#[test]
fn what_tests_need_does_not_change_the_features_of_what_the_program_is_built_from() {
    let program = resolved("normal,build");
    let tests = resolved("normal,build,dev");
    let changed: Vec<_> = program
        .iter()
        .filter(|(package, features)| tests.get(*package) != Some(features))
        .map(|(package, features)| (package, features, tests.get(package)))
        .collect();
    assert!(changed.is_empty(), "with other features: {changed:#?}");
}
