//! `pip_requirements`: wheels in pure Python, fetched when a tool is saved.

use serde_json::{Value, json};

use super::{detail, python, saved};
use crate::support::{TestServer, has_python};

/// Set where the index of packages must be reachable, such as in continuous integration.
const REQUIRED: &str = "BULKHEAD_REQUIRE_CONFORMANCE";

/// A tool that says which version of `six` it imports.
fn six(version: &str) -> Value {
    json!({
        "source_code": python("version()", "import six; return six.__version__"),
        "pip_requirements": [{ "name": "six", "version": version }],
    })
}

#[tokio::test]
async fn a_tool_imports_what_it_requires_in_the_version_that_it_names() {
    if !has_python() {
        return;
    }
    let mut server = TestServer::start().await;
    let first = server.post("/v1/tools/", &six("1.16.0")).await;
    if first.status != 200 && std::env::var_os(REQUIRED).is_none() {
        eprintln!(
            "skipped, without a way to the index of packages: {}",
            first.text
        );
        return;
    }
    assert_eq!(first.status, 200, "{first:?}");
    assert_eq!(
        first.body["pip_requirements"],
        six("1.16.0")["pip_requirements"]
    );
    let call = format!("/v1/tools/{}/call", first.body["id"].as_str().unwrap());
    assert_eq!(
        server.post(&call, &json!({})).await.body["tool_return"],
        "1.16.0"
    );
    // Another version beside it, without saving.
    let mut run = six("1.17.0");
    run["args"] = json!({});
    let ran = server.post("/v1/tools/run", &run).await;
    assert_eq!(ran.body["tool_return"], "1.17.0", "{ran:?}");
    // Without the requirement there is no such module, whatever others import.
    run["pip_requirements"] = json!([]);
    let ran = server.post("/v1/tools/run", &run).await;
    assert!(ran.text.contains("ModuleNotFoundError"), "{ran:?}");
    // What was fetched is there after a restart.
    server.restart().await;
    assert_eq!(
        server.post(&call, &json!({})).await.body["tool_return"],
        "1.16.0"
    );
    // A tool that is saved without them has none.
    let mut bare = six("1.16.0");
    bare.as_object_mut().unwrap().remove("pip_requirements");
    saved(&server, &bare).await;
    let called = server.post(&call, &json!({})).await;
    assert!(called.text.contains("ModuleNotFoundError"), "{called:?}");
}

#[tokio::test]
async fn what_does_not_exist_or_needs_native_code_is_refused_by_name_when_the_tool_is_saved() {
    if !has_python() {
        return;
    }
    let server = TestServer::start().await;
    for (name, version) in [
        ("bulkhead-test-of-a-name-that-nobody-takes", Value::Null),
        ("six", json!("99.0")),
        ("numpy", Value::Null),
    ] {
        let mut body = six("1.16.0");
        body["pip_requirements"] = json!([{ "name": name, "version": version }]);
        let refused = server.post("/v1/tools/", &body).await;
        let (status, text) = detail(&refused);
        assert!(
            status == 400 && text.starts_with("pip_requirements"),
            "{refused:?}"
        );
        assert!(text.contains(name), "{text}");
    }
    assert_eq!(server.get("/v1/tools/count").await.body, 0);
}
