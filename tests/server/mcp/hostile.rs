use std::time::Duration;

use serde_json::{Value, json};

use super::{
    fake::{Fake, described},
    path, registered, tool,
};
use crate::{
    clients::{each, made, read},
    support::TestServer,
};

/// A server that has little patience.
async fn impatient() -> TestServer {
    TestServer::start_with(|config| {
        config.mcp.connect_timeout = Duration::from_secs(1);
        config.mcp.list_timeout = Duration::from_secs(2);
        config.mcp.call_timeout = Duration::from_secs(1);
    })
    .await
}

/// Why the tools of a server were not listed.
async fn unlisted(server: &TestServer, mcp: &Value) -> String {
    let refused = server
        .patch(&format!("{}/refresh", path(mcp)), &json!({}))
        .await;
    assert_eq!(refused.status, 404, "{refused:?}");
    refused.body["detail"]["error"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn calls_that_can_not_end_well_end_and_say_why() {
    let server = impatient().await;
    let tools = ["hang", "huge", "nonsense", "endless", "cut"];
    let fake = Fake::start(&tools).await;
    let mcp = registered(&server, "mine", &fake.url()).await;
    for (name, outcome, expected) in [
        (
            "hang",
            "deadline_exceeded",
            "TimeoutError: Executing tool hang timed out after 1 seconds.",
        ),
        (
            "huge",
            "limit_exceeded",
            "its answer is larger than 8388608 bytes",
        ),
        ("nonsense", "invalid_output", "no message of JSON-RPC"),
        (
            "endless",
            "invalid_output",
            "it talks without end and does not answer",
        ),
        ("cut", "invalid_output", "not what the protocol says"),
    ] {
        let id = tool(&server, &mcp, name).await;
        let run = format!("{}/tools/{id}/run", path(&mcp));
        let result = made(&server, &run, &json!({ "args": {} })).await;
        assert_eq!(result["status"], "error", "{name}");
        assert_eq!(result["receipt"]["outcome"], outcome, "{name}: {result}");
        let text = result["func_return"].as_str().unwrap();
        assert!(
            text.contains(expected) && text.len() < 1_000,
            "{name}: {text}"
        );
    }
    fake.wait_for("notifications/cancelled").await;
}

#[tokio::test]
async fn lists_that_can_not_be_are_refused_and_nothing_is_stored() {
    let server = impatient().await;
    let fake = Fake::start(&["echo"]).await;
    let mcp = registered(&server, "mine", &fake.url()).await;
    let many = |count: usize| {
        (0..count)
            .map(|at| described(&format!("tool_{at}")))
            .collect::<Vec<_>>()
    };
    fake.change(|it| it.tools = many(5_000));
    assert!(
        unlisted(&server, &mcp)
            .await
            .contains("more than 1000 entries")
    );
    fake.change(|it| it.page = 100);
    assert!(
        unlisted(&server, &mcp)
            .await
            .contains("more than 1000 tools")
    );
    fake.change(|it| it.endless = true);
    assert!(unlisted(&server, &mcp).await.contains("has no end"));
    fake.change(|it| (it.endless, it.page, it.tools) = (false, 0, vec![json!(7)]));
    assert!(
        unlisted(&server, &mcp)
            .await
            .contains("a tool without a name")
    );
    fake.change(|it| it.tools = vec![described("one"), described("one")]);
    assert!(
        unlisted(&server, &mcp)
            .await
            .contains("two tools named one")
    );
    fake.change(|it| it.tools = vec![json!({ "name": "x".repeat(10 << 20) })]);
    assert!(
        unlisted(&server, &mcp)
            .await
            .contains("larger than 8388608 bytes")
    );
    let tools = read(&server, &format!("{}/tools", path(&mcp))).await;
    assert_eq!(each(&tools, "name"), ["echo"]);
}

#[tokio::test]
async fn tools_whose_schema_can_not_be_used_are_left_out() {
    let server = impatient().await;
    let fake = Fake::start(&["good"]).await;
    let mut deep = json!({});
    for _ in 0..100 {
        deep = json!({ "properties": { "a": deep } });
    }
    let doubling: serde_json::Map<String, Value> = (0..40)
        .map(|at| {
            let next = json!({ "$ref": format!("#/$defs/a{}", at + 1) });
            (format!("a{at}"), json!({ "allOf": [next, next] }))
        })
        .chain([("a40".to_owned(), json!({}))])
        .collect();
    for (name, schema) in [
        ("text", json!("no schema")),
        ("array", json!({ "type": "array" })),
        (
            "far",
            json!({ "type": "object", "$ref": "http://127.0.0.1:1/schema" }),
        ),
        ("deep", deep),
        (
            "doubling",
            json!({ "$ref": "#/$defs/a0", "$defs": doubling }),
        ),
        (
            "large",
            json!({ "type": "object", "description": "x".repeat(200_000) }),
        ),
    ] {
        fake.change(|it| {
            it.tools
                .push(json!({ "name": name, "inputSchema": schema }))
        });
    }
    let mcp = registered(&server, "mine", &fake.url()).await;
    let tools = read(&server, &format!("{}/tools", path(&mcp))).await;
    assert_eq!(each(&tools, "name"), ["good"]);
    let listed = read(&server, "/v1/tools/mcp/servers/mine/tools").await;
    let health = listed.as_array().unwrap().iter();
    let health: Vec<_> = health
        .map(|tool| tool["health"]["status"].as_str().unwrap())
        .collect();
    assert_eq!(health[0], "STRICT_COMPLIANT");
    assert!(
        health[1..].iter().all(|status| *status == "INVALID"),
        "{listed}"
    );
}

#[tokio::test]
async fn what_is_no_mcp_server_says_so() {
    let server = impatient().await;
    let fake = Fake::start(&["echo"]).await;
    for (place, expected) in [
        ("hangs", "no answer came within 1 seconds"),
        ("page", "neither JSON nor events"),
        ("nowhere", "the status 404"),
        (
            "sse",
            "the status 405: it takes no messages at this address",
        ),
    ] {
        let mcp = registered(&server, place, &format!("{}/{place}", fake.origin)).await;
        let error = unlisted(&server, &mcp).await;
        assert!(error.contains(expected), "{place}: {error}");
    }
    fake.change(|it| it.version = Some("1999-01-01".to_owned()));
    let mcp = registered(&server, "old", &fake.url()).await;
    let error = unlisted(&server, &mcp).await;
    assert!(error.contains("it speaks version 1999-01-01"), "{error}");
}
