//! Calls and what becomes of them.

use bulkhead_store::testing::Kind;
use serde_json::json;

use crate::support::TestServer;

#[tokio::test]
async fn a_call_answers_with_output_text_and_receipt() {
    for kind in [Kind::Sqlite, Kind::Postgres] {
        let Some(server) = TestServer::start_kind(kind).await else {
            continue;
        };
        let server = server.with_friendly().await;
        let called = server
            .call("friendly/add", json!({ "left": 20, "right": 22 }))
            .await;
        assert_eq!(called.outcome(), "ok");
        assert_eq!(called.body["output"]["structured"], json!({ "sum": 42 }));
        assert_eq!(called.body["output"]["truncated"], false);
        assert!(called.body["text"].as_str().unwrap().contains("42"));
        let receipt = &called.body["receipt"];
        assert_eq!(receipt["tool"], "add");
        assert!(receipt["fuel"]["call"].as_u64().unwrap() > 0);
        assert!(receipt["peak_memory_bytes"].as_u64().unwrap() > 0);
        let stored = server
            .get(&format!("/v1/receipts/{}", receipt["id"].as_str().unwrap()))
            .await;
        assert_eq!(stored.body, *receipt);
    }
}

#[tokio::test]
async fn a_call_without_a_grant_is_denied_and_says_which_grant_would_help() {
    let server = TestServer::start().await.with_friendly().await;
    let denied = server.call("friendly/counter", json!({})).await;
    assert_eq!(denied.outcome(), "denied");
    assert_eq!(denied.body["error"]["code"], "denied");
    assert_eq!(denied.body["receipt"]["denials"][0]["capability"], "state");
    assert!(denied.body.get("output").is_none());
}

#[tokio::test]
async fn a_request_s_limits_are_clamped_to_the_operator_s() {
    let server = TestServer::start_with(|config| config.sandbox.ceiling.fuel = 10_000_000).await;
    let server = server.with_hostile().await;
    let body = json!({ "limits": { "fuel": 1_000_000_000_000_u64 } });
    let stopped = server.call_with("hostile/spin", body).await;
    assert_eq!(stopped.outcome(), "out_of_fuel");
    assert!(stopped.body["receipt"]["fuel"]["call"].as_u64().unwrap() <= 10_000_000);
}

#[tokio::test]
async fn a_caller_may_pass_on_less_than_is_granted_and_never_more() {
    let server = TestServer::start().await.with_friendly().await;
    let state = json!({ "state": true });
    let more = server
        .call_with("friendly/counter", json!({ "narrow": state }))
        .await;
    assert_eq!(more.outcome(), "denied", "narrowing is no grant");
    server
        .grant(json!({ "component": "friendly", "capabilities": state }))
        .await;
    let all = server.call("friendly/counter", json!({})).await;
    assert_eq!(all.outcome(), "ok");
    let less = server
        .call_with("friendly/counter", json!({ "narrow": {} }))
        .await;
    assert_eq!(less.outcome(), "denied");
    assert_ne!(
        all.body["receipt"]["grant_hash"],
        less.body["receipt"]["grant_hash"]
    );
    let same = server
        .call_with("friendly/counter", json!({ "narrow": state }))
        .await;
    assert_eq!(same.outcome(), "ok");
}

#[tokio::test]
async fn state_belongs_to_the_tool_and_the_agent_and_outlives_a_version() {
    for kind in [Kind::Sqlite, Kind::Postgres] {
        let Some(server) = TestServer::start_kind(kind).await else {
            continue;
        };
        let server = server.with_friendly().await;
        server
            .grant(json!({ "component": "friendly", "capabilities": { "state": true } }))
            .await;
        let count = async |agent: Option<&str>| {
            let mut body = json!({});
            if let Some(agent) = agent {
                body["agent_id"] = agent.into();
            }
            let called = server.call_with("friendly/counter", body).await;
            assert_eq!(called.outcome(), "ok", "{called:?}");
            called.body["output"]["structured"]["count"]
                .as_u64()
                .unwrap()
        };
        assert_eq!(count(None).await, 1);
        assert_eq!(count(None).await, 2);
        assert_eq!(count(Some("agent-a")).await, 1);
        assert_eq!(count(Some("agent-b")).await, 1);
        assert_eq!(count(Some("agent-a")).await, 2);
    }
}

#[tokio::test]
async fn many_calls_that_write_the_same_key_all_count() {
    let server = TestServer::start().await.with_friendly().await;
    server
        .grant(json!({ "component": "friendly", "capabilities": { "state": true } }))
        .await;
    let calls = (0..10).map(|_| server.call("friendly/counter", json!({})));
    let ended = futures::future::join_all(calls).await;
    // Those that lost a race say so; those that won are all there.
    let won = ended.iter().filter(|call| call.outcome() == "ok").count();
    let next = server.call("friendly/counter", json!({})).await;
    assert_eq!(next.body["output"]["structured"]["count"], json!(won + 1));
}

#[tokio::test]
async fn a_tool_calls_its_granted_peers_under_their_own_grants() {
    let server = TestServer::start()
        .await
        .with_friendly()
        .await
        .with_hostile()
        .await;
    let ask = json!({ "name": "friendly/add", "input": { "left": 1, "right": 2 } });
    assert_eq!(
        server
            .call("friendly/ask_peer", ask.clone())
            .await
            .outcome(),
        "denied"
    );
    let capabilities = json!({ "peers": ["*"] });
    server
        .grant(json!({ "component": "friendly", "tool": "ask_peer", "capabilities": capabilities }))
        .await;
    let called = server.call("friendly/ask_peer", ask.clone()).await;
    assert_eq!(
        called.body["output"]["structured"],
        json!({ "sum": 3 }),
        "{called:?}"
    );
    // By the tool's name alone, where it is the only one.
    let by_tool = json!({ "name": "add", "input": { "left": 1, "right": 2 } });
    assert_eq!(
        server.call("friendly/ask_peer", by_tool).await.outcome(),
        "ok"
    );
    // The other tool's own grants count, not the caller's.
    let counter = server
        .call("friendly/ask_peer", json!({ "name": "counter" }))
        .await;
    assert_ne!(counter.outcome(), "ok");
    let absent = server
        .call("friendly/ask_peer", json!({ "name": "absent" }))
        .await;
    assert_ne!(absent.outcome(), "ok");
    // The other tool's budget is the caller's.
    let spin = json!({ "input": { "name": "hostile/spin" }, "limits": { "fuel": 50_000_000 } });
    let spun = server.call_with("friendly/ask_peer", spin).await;
    assert_ne!(spun.outcome(), "ok");
    assert!(
        spun.body["receipt"]["fuel"]["call"].as_u64().unwrap() <= 50_000_000,
        "{spun:?}"
    );
    // Each has a receipt.
    let receipts = server.get("/v1/receipts?tool=add").await;
    assert_eq!(receipts.body.as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn what_a_caller_does_not_pass_on_is_not_passed_on_to_peers_either() {
    let server = TestServer::start().await.with_friendly().await;
    server
        .grant(
            json!({ "component": "friendly", "capabilities": { "peers": ["*"], "state": true } }),
        )
        .await;
    let ask = |narrow: serde_json::Value| json!({ "input": { "name": "friendly/counter" }, "narrow": narrow });
    for (narrow, outcome) in [
        (json!({ "peers": ["*"], "state": true }), "ok"),
        (json!({ "peers": ["*"] }), "tool_error"),
        (json!({ "state": true }), "denied"),
    ] {
        let asked = server
            .call_with("friendly/ask_peer", ask(narrow.clone()))
            .await;
        assert_eq!(asked.outcome(), outcome, "{narrow}: {asked:?}");
    }
    let counted = server.get("/v1/receipts?tool=counter").await;
    let outcomes: Vec<_> = counted
        .body
        .as_array()
        .unwrap()
        .iter()
        .map(|r| &r["outcome"])
        .collect();
    assert_eq!(outcomes, ["denied", "ok"], "the newest first");
}

/// Hostile guest 29: names that shadow built-ins.
#[tokio::test]
async fn another_components_tool_of_the_same_name_shadows_neither_built_in_nor_own() {
    let server = TestServer::start().await.with_friendly().await;
    let capabilities = json!({ "peers": ["*"] });
    server
        .grant(json!({ "component": "friendly", "tool": "ask_peer", "capabilities": capabilities }))
        .await;
    let ask = json!({ "name": "add", "input": { "left": 1, "right": 2 } });
    let digest_of_add = async || {
        let called = server.call("friendly/ask_peer", ask.clone()).await;
        assert_eq!(called.outcome(), "ok", "{called:?}");
        let receipts = server.get("/v1/receipts?tool=add&limit=1").await.body;
        receipts[0]["digest"].as_str().unwrap().to_owned()
    };
    let own = server.get("/v1/components/friendly").await.body["digest"].clone();
    // The same tools in other bytes: each with an empty custom section of another name.
    let variant = |name: u8| {
        let section: &[u8] = &[0, 2, 1, name];
        [bulkhead_fixtures::FRIENDLY, section].concat()
    };
    server.push("a_shadow", variant(b'a')).await;
    assert_eq!(json!(digest_of_add().await), own);
    let built_in = server.push("web_search", variant(b'b')).await;
    assert_eq!(built_in.status, 201, "{built_in:?}");
    assert_eq!(json!(digest_of_add().await), built_in.body["digest"]);
}

#[tokio::test]
async fn only_granted_variables_of_the_settings_are_seen() {
    let server = TestServer::start_with(|config| {
        config.env.insert("GREETING".to_owned(), "hello".to_owned());
        config
            .env
            .insert("OTHER".to_owned(), "secret-other".to_owned());
    });
    let server = server.await.with_friendly().await;
    let greeting = json!({ "name": "GREETING" });
    assert_ne!(
        server
            .call("friendly/env", greeting.clone())
            .await
            .outcome(),
        "ok"
    );
    server
        .grant(json!({ "component": "friendly", "capabilities": { "env": ["*"] } }))
        .await;
    assert_eq!(
        server.call("friendly/env", greeting).await.body["text"],
        "hello"
    );
    let other = server
        .call("friendly/env", json!({ "name": "OTHER" }))
        .await;
    assert!(
        !other.text.contains("secret-other"),
        "not wished for: {other:?}"
    );
}

#[tokio::test]
async fn a_tool_learns_its_agent_and_its_retries() {
    let server = TestServer::start().await.with_friendly().await;
    let body = json!({ "agent_id": "agent-1", "idempotency_key": "once" });
    let called = server.call_with("friendly/whoami", body).await;
    let known = &called.body["output"]["structured"];
    assert_eq!(
        (&known["agent_id"], &known["idempotency_key"]),
        (&json!("agent-1"), &json!("once"))
    );
    assert_eq!(called.body["receipt"]["agent_id"], "agent-1");
}

#[tokio::test]
async fn a_tool_s_own_failure_is_kept_apart_from_the_host_s() {
    let server = TestServer::start().await.with_friendly().await;
    let failed = server
        .call("friendly/fail", json!({ "kind": "conflict" }))
        .await;
    assert_eq!(failed.outcome(), "tool_error");
    assert_eq!(failed.body["error"]["tool_error"]["kind"], "conflict");
    let forged = server
        .call("friendly/fail", json!({ "kind": "out_of_fuel" }))
        .await;
    assert_eq!(forged.outcome(), "tool_error");
}

#[tokio::test]
async fn where_all_slots_are_taken_calls_wait_and_then_are_refused_with_retry_after() {
    let server = TestServer::start_with(|config| {
        config.sandbox.slots = 1;
        config.sandbox.queue = 1;
        config.sandbox.queue_timeout = std::time::Duration::from_millis(100);
    });
    let server = server.await.with_friendly().await;
    let long = server.call("friendly/sleep", json!({ "ms": 1_000 }));
    let refused = async {
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        server
            .call("friendly/add", json!({ "left": 1, "right": 1 }))
            .await
    };
    let (long, refused) = futures::join!(long, refused);
    assert_eq!(long.outcome(), "ok");
    assert_eq!(refused.refusal(), (503, "overloaded"));
    assert!(refused.headers.contains_key("retry-after"));
    let later = server
        .call("friendly/add", json!({ "left": 1, "right": 1 }))
        .await;
    assert_eq!(later.outcome(), "ok");
}

#[tokio::test]
async fn a_plain_component_is_called_like_any_other() {
    let server = TestServer::start().await;
    let pushed = server.push("plain", bulkhead_fixtures::PLAIN).await;
    assert_eq!(pushed.body["kind"], "plain", "{pushed:?}");
    let tools = pushed.body["tools"].as_array().unwrap();
    let add = tools
        .iter()
        .find(|tool| tool["name"].as_str().unwrap().contains("add"))
        .unwrap();
    let name = add["name"].as_str().unwrap();
    let called = server
        .call(&format!("plain/{name}"), json!({ "a": 2, "b": 3 }))
        .await;
    assert_eq!(called.outcome(), "ok", "{called:?}");
    assert!(called.text.contains('5'));
}
