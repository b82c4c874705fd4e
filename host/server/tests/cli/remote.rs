//! The commands that talk to a server.

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
};

use serde_json::json;

use crate::support::{Server, component, demo_component, run, run_with_input};

#[test]
fn a_tool_is_pushed_granted_called_and_revoked() {
    let server = Server::start(&[]);
    let (_folder, file) = demo_component();
    let pushed = server
        .run(&["tool", "push", &file, "--json"])
        .with(0)
        .json();
    assert_eq!(
        (&pushed["name"], &pushed["status"]),
        (&json!("demo"), &json!("active"))
    );
    let listed = server.run(&["tool", "list"]).with(0).out;
    assert!(
        listed.contains("demo") && listed.contains("greet"),
        "{listed}"
    );

    let called = server
        .run(&["tool", "call", "demo", "greet", "-i", r#"{"name": "Ada"}"#])
        .with(0);
    assert_eq!(called.out, "Hello, Ada!\n");
    server
        .run(&["tool", "call", "demo", "greet", "-i", r#"{"name": 1}"#])
        .with(3);
    let progress = server
        .run(&["tool", "call", "demo", "progress", "-i", r#"{"steps": 2}"#])
        .with(0);
    assert!(progress.err.contains("step 1 of 2"), "{}", progress.err);
    let input = r#"{"url": "https://example.com"}"#;
    let denied = server
        .run(&["tool", "call", "demo", "fetch_title", "-i", input])
        .with(4);
    assert!(
        denied.err.contains("--allow-host example.com"),
        "{}",
        denied.err
    );

    let granted = server
        .run(&[
            "tool",
            "grant",
            "demo",
            "--tool",
            "fetch_title",
            "--allow-host",
            "example.com",
            "--json",
        ])
        .with(0)
        .json();
    let id = granted["grant"]["id"].as_str().expect("an id");
    let shown = server.run(&["tool", "show", "demo"]).with(0).out;
    assert!(
        shown.contains(id) && shown.contains("https://example.com"),
        "{shown}"
    );
    server.run(&["tool", "revoke", id]).with(0);
    let shown = server.run(&["tool", "show", "demo"]).with(0).out;
    assert!(!shown.contains(id), "{shown}");
    server.run(&["tool", "revoke", id]).with(7);
    server.run(&["tool", "show", "nobody"]).with(7);
}

#[test]
fn a_wider_version_waits_until_a_person_accepts_it() {
    let server = Server::start(&[]);
    let (_folder, file) = demo_component();
    server.run(&["tool", "push", &file]).with(0);
    let (_folder, wider) = component("demo.wasm", &wider());
    let pushed = server
        .run(&["tool", "push", &wider, "--json"])
        .with(0)
        .json();
    assert_eq!(pushed["status"], "pending");
    let digest = pushed["digest"].as_str().expect("a digest");
    let diff = server.run(&["tool", "diff", digest]).with(0).out;
    assert!(
        diff.contains("+ wish state") && diff.contains("person"),
        "{diff}"
    );
    let input = r#"{"name": "Ada"}"#;
    server
        .run(&["tool", "call", digest, "greet", "-i", input])
        .with(4);
    let (_folder, other) = component("other.wasm", bulkhead_tools::FETCH_WEBPAGE);
    server.run(&["tool", "push", &other]).with(0);
    let refused = server
        .run(&["tool", "grant", "other", "--accept", digest])
        .with(2);
    assert!(
        refused.err.contains("other has no version"),
        "{}",
        refused.err
    );
    // As `tool list` and the demo print it.
    let shown = digest.get(..20).expect("a digest is longer");
    let accepted = server
        .run(&["tool", "grant", "demo", "--accept", shown])
        .with(0)
        .out;
    assert!(accepted.contains("active"), "{accepted}");
    server
        .run(&["tool", "call", digest, "greet", "-i", input])
        .with(0);
}

#[test]
fn revoking_all_grants_leaves_none_however_many_there_are() {
    // More than a server lists where nobody says how many.
    const GRANTS: usize = 120;
    let server = Server::start(&[]);
    let (_folder, file) = demo_component();
    server.run(&["tool", "push", &file]).with(0);
    for _ in 0..GRANTS {
        server
            .run(&["tool", "grant", "demo", "--allow-host", "example.com"])
            .with(0);
    }
    let grants = |server: &Server| {
        let shown = server
            .run(&["tool", "show", "demo", "--json"])
            .with(0)
            .json();
        shown["grants"].as_array().map_or(0, Vec::len)
    };
    assert_eq!(grants(&server), GRANTS);
    let revoked = server
        .run(&["tool", "revoke", "demo", "--all", "--json"])
        .with(0)
        .json();
    assert_eq!(revoked["revoked"].as_array().map(Vec::len), Some(GRANTS));
    assert_eq!(grants(&server), 0);
}

/// The demo's component with one wish more, in a custom section of its own.
fn wider() -> Vec<u8> {
    let name = b"bulkhead:wishes";
    let wish = br#"{"tool":"greet","wishes":{"state":true}}"#;
    let mut bytes = bulkhead_tools::DEMO.to_vec();
    // Lengths below 128 are one byte.
    bytes.extend([
        0,
        u8::try_from(1 + name.len() + wish.len()).expect("short"),
        15,
    ]);
    bytes.extend(name);
    bytes.extend(wish);
    bytes
}

#[test]
fn a_secret_is_stored_from_standard_input_and_never_shown() {
    let server = Server::start(&[]);
    let arguments = [
        "tool",
        "credential",
        "set",
        "search",
        "--bearer",
        "--audience",
        "api.example.com",
    ];
    let stored = run_with_input(
        &[&arguments[..], &["--server", &server.url]].concat(),
        "hunter2hunter2\n",
    )
    .with(0);
    assert!(!stored.out.contains("hunter2") && !stored.err.contains("hunter2"));
    let listed = server.run(&["tool", "credential", "list"]).with(0).out;
    assert!(
        listed.contains("search") && listed.contains("api.example.com"),
        "{listed}"
    );
    assert!(!listed.contains("hunter2"));
    server
        .run(&["tool", "credential", "delete", "search"])
        .with(0);
    let listed = server
        .run(&["tool", "credential", "list", "--json"])
        .with(0)
        .json();
    assert_eq!(listed, json!([]));
    server.run(&arguments).with(2);
}

#[test]
fn a_server_that_is_not_there_is_exit_code_7_with_advice() {
    let ended = run(&["tool", "list", "--server", "http://127.0.0.1:1", "--json"]).with(7);
    assert_eq!(ended.json()["error"]["code"], "server_unreachable");
    assert!(ended.err.contains("bulkhead serve"), "{}", ended.err);
    run(&["tool", "list", "--server", "localhost"]).with(2);
}

#[test]
fn a_missing_token_is_exit_code_4_and_the_right_one_opens() {
    let server = Server::start(&["--token", "open-sesame-open-sesame"]);
    let refused = server.run(&["tool", "list"]).with(4);
    assert!(refused.err.contains("BULKHEAD_TOKEN"), "{}", refused.err);
    let mut command = crate::support::bulkhead(&["tool", "list", "--server", &server.url]);
    let output = command
        .env("BULKHEAD_TOKEN", "open-sesame-open-sesame")
        .output()
        .expect("it runs");
    assert!(output.status.success());
}

#[test]
fn what_a_server_of_the_older_api_refuses_is_told_in_its_own_words() {
    let told = |status: &str, body: &'static str| {
        let url = refusing(status, body);
        run(&["tool", "list", "--server", &url]).with(7).err
    };
    let missing = told("404 Not Found", r#"{"detail":"Not Found"}"#);
    assert!(missing.starts_with("error: Not Found"), "{missing}");
    let faults =
        r#"{"detail":[{"loc":["query","limit"],"msg":"Input should be a valid integer"}]}"#;
    let invalid = told("422 Unprocessable Entity", faults);
    assert!(
        invalid.contains("/query/limit: Input should be a valid integer"),
        "{invalid}"
    );
    let object = r#"{"detail":{"code":"BUSY","message":"the server is being moved"}}"#;
    let busy = told("503 Service Unavailable", object);
    assert!(
        busy.starts_with("error: the server is being moved"),
        "{busy}"
    );
}

/// The URL of a server that answers one request, with this.
fn refusing(status: &str, body: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let length = body.len();
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n{body}"
    );
    std::thread::spawn(move || {
        let (mut connection, _) = listener.accept().expect("a connection");
        // The head of a request without a body fits, and arrives at once.
        let read = connection.read(&mut [0; 4096]).expect("a request");
        assert!(read > 0);
        connection.write_all(answer.as_bytes()).expect("a reader");
    });
    format!("http://{address}")
}

#[test]
fn what_the_server_refuses_to_install_is_exit_code_6() {
    let server = Server::start(&[]);
    let (_folder, file) = component("x.wasm", b"no component");
    let error = server
        .run(&["tool", "push", &file, "--json"])
        .with(6)
        .json();
    assert_eq!(error["error"]["code"], "not_a_component");
}
