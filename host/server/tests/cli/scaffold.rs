//! A new crate, all the way to a call on a server.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::support::{Server, bulkhead, run, text};

/// The folder where guests are built, so that the SDK's dependencies are compiled once.
fn guests() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .expect("the target folder");
    target.join("guests")
}

#[test]
fn a_new_crate_passes_its_test_builds_runs_and_is_called_on_a_server() {
    let outer = tempfile::tempdir().expect("a temporary folder");
    let place = text(outer.path());
    let made = run(&["tool", "new", "cli-scaffold", "--in", &place, "--json"])
        .with(0)
        .json();
    assert_eq!(made["name"], "cli-scaffold");
    let folder = outer.path().join("cli-scaffold");
    run(&["tool", "new", "cli-scaffold", "--in", &place]).with(2);

    let tested = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .current_dir(&folder)
        .args(["test", "--offline", "--quiet", "--target-dir"])
        .arg(guests())
        .output()
        .expect("cargo runs");
    let said = String::from_utf8_lossy(&tested.stderr);
    assert!(
        tested.status.success(),
        "{said}\n{}",
        String::from_utf8_lossy(&tested.stdout)
    );

    let output = bulkhead(&["tool", "build", &text(&folder), "--json", "--target-dir"])
        .arg(guests())
        .env("CARGO_NET_OFFLINE", "true")
        .output();
    let built = crate::support::Ended::from(output.expect("the program runs"))
        .with(0)
        .json();
    assert_eq!(built["tools"][0]["name"], "greet");
    let component = built["path"].as_str().expect("a path");
    assert_eq!(Path::new(component), folder.join("cli-scaffold.wasm"));
    let ignored = std::fs::read_to_string(folder.join(".gitignore")).expect("readable");
    assert!(ignored.contains("/cli-scaffold.wasm\n"), "{ignored}");

    let checked = run(&["tool", "check", component, "--json"]).with(0).json();
    assert_eq!(checked["digest"], built["digest"]);
    // The one tool need not be named.
    let input = r#"{"name": "Ada", "volume": 2}"#;
    assert_eq!(
        run(&["run", component, "-i", input]).with(0).out,
        "Hello, Ada!!\n"
    );
    let server = Server::start(&[]);
    server
        .run(&["tool", "push", component, "--name", "scaffold"])
        .with(0);
    let called = server
        .run(&["tool", "call", "scaffold", "greet", "-i", input])
        .with(0);
    assert_eq!(called.out, "Hello, Ada!!\n");
}

#[test]
fn a_name_that_is_none_is_refused_and_nothing_is_made() {
    let outer = tempfile::tempdir().expect("a temporary folder");
    for name in ["../up", "Upper", "fn", "serde", ""] {
        run(&["tool", "new", name, "--in", &text(outer.path())]).with(2);
    }
    assert_eq!(
        std::fs::read_dir(outer.path()).expect("readable").count(),
        0
    );
}

#[test]
fn a_crate_that_does_not_compile_is_exit_code_6() {
    let outer = tempfile::tempdir().expect("a temporary folder");
    run(&["tool", "new", "cli-broken", "--in", &text(outer.path())]).with(0);
    let folder = outer.path().join("cli-broken");
    std::fs::write(folder.join("src/lib.rs"), "no Rust").expect("writable");
    let output = bulkhead(&["tool", "build", &text(&folder), "--json", "--target-dir"])
        .arg(guests())
        .env("CARGO_NET_OFFLINE", "true")
        .output();
    let error = crate::support::Ended::from(output.expect("the program runs"))
        .with(6)
        .json();
    assert_eq!(error["error"]["code"], "build_failed");
    run(&["tool", "build", &text(outer.path())]).with(2);
}
