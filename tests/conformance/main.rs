//! What others made, with a running server: components of toolchains, clients of the API that nobody
//! here wrote, and a program that holds the server's answers against its document.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "tests"
)]

mod document;
mod providers;
mod recorded;
mod sdk;
mod started;

use std::{path::Path, process::Command};

use bulkhead_server::{Config, Server};
use serde_json::{Value, json};

/// Set where the toolchains must be there, such as in continuous integration.
const REQUIRED: &str = "BULKHEAD_REQUIRE_CONFORMANCE";

/// Python made into a component by componentize-py; none where there is no python3 or no way to
/// its package, with a notice.
fn text_tools() -> Option<Vec<u8>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance/componentize/make.sh");
    let made = Command::new("sh").arg(script).output();
    match made {
        Ok(made) if made.status.success() => {
            let path = String::from_utf8(made.stdout).expect("a path");
            Some(std::fs::read(path.trim()).expect("the component that was just made"))
        }
        failed => {
            assert!(
                std::env::var_os(REQUIRED).is_none(),
                "componentize-py: {failed:?}"
            );
            eprintln!("skipped: python3 with a way to componentize-py's package is not there");
            None
        }
    }
}

/// Pushes a component to a server of its own and gives its description.
async fn pushed(server: &Server, client: &reqwest::Client, bytes: Vec<u8>) -> Value {
    let push = client.post(format!("{}/v1/components?name=text-tools", server.url()));
    let push = push.header("content-type", "application/wasm").body(bytes);
    let answer = push.send().await.unwrap();
    assert_eq!(answer.status(), 201, "{}", answer.text().await.unwrap());
    let described = client.get(format!("{}/v1/components/text-tools", server.url()));
    described.send().await.unwrap().json().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn python_made_into_a_component_by_others_is_pushed_described_and_called() {
    let Some(bytes) = text_tools() else { return };
    // An error says that another test was first.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut config = Config::new(folder.path());
    config.listen.set_port(0);
    config.builtin_tools = false;
    config.sandbox.slots = 2;
    let server = Server::start(config).await.unwrap();
    let component = pushed(&server, &client, bytes).await;
    assert_eq!(component["kind"], "plain");
    assert_eq!(
        component["pure"], false,
        "it may read clocks and random numbers"
    );
    let names: Vec<_> = component["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["name"])
        .collect();
    assert_eq!(names.len(), 3, "{names:?}");

    let cases = include_str!("componentize/calls.json");
    let cases: Vec<Value> = serde_json::from_str(cases).unwrap();
    assert!(cases.len() >= 7);
    for case in cases {
        let tool = case["tool"].as_str().unwrap();
        let call = format!(
            "{}/v1/components/text-tools/tools/{tool}/call",
            server.url()
        );
        let call = client.post(call).json(&json!({ "input": case["input"] }));
        let answer = call.send().await.unwrap();
        let status = answer.status();
        let body: Value = answer.json().await.unwrap();
        if let Some(text) = case.get("text") {
            assert_eq!(&body["text"], text, "{case}");
        } else if let Some(structured) = case.get("structured") {
            assert_eq!(&body["output"]["structured"], structured, "{case}");
        } else if let Some(failed) = case.get("failed") {
            assert_eq!(body["outcome"], "tool_error", "{case}");
            assert_eq!(body["error"]["tool_error"]["detail"], *failed, "{body}");
        } else {
            assert_eq!(status, 422, "{case}");
            assert!(!body["error"]["problems"].as_array().unwrap().is_empty());
        }
    }
    server.shutdown().await.unwrap();
}
