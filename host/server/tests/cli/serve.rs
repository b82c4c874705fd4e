//! `bulkhead serve` as a process.

use crate::support::{Server, run};

#[cfg(unix)]
#[test]
fn a_server_that_is_asked_to_stop_ends_well() {
    let server = Server::start(&[]);
    server.run(&["tool", "list"]).with(0);
    assert_eq!(server.terminate(), Some(0));
}

#[test]
fn other_machines_are_refused_without_a_token() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().to_str().expect("UTF-8");
    let ended = run(&[
        "serve",
        "--listen",
        "0.0.0.0:0",
        "--data-dir",
        data,
        "--json",
    ])
    .with(4);
    assert_eq!(ended.json()["error"]["code"], "token_required");
}

#[test]
fn settings_that_can_not_be_used_are_exit_code_2() {
    let ended = run(&["serve", "--config", "/no/such/file.toml"]).with(2);
    assert!(ended.err.contains("/no/such/file.toml"), "{}", ended.err);
}
