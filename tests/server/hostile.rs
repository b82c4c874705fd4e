//! Hostile guests over HTTP: each ends in its outcome while the server answers others, and leaves
//! it as it was. The numbers are those of the list that the sandbox's own tests follow too.

use bulkhead_fixtures::{misdescribe, text};
use serde_json::{Value, json};

use crate::support::{Answer, TestServer};

/// Limits that end a hostile call soon.
fn tight() -> Value {
    json!({ "fuel": 200_000_000, "timeout_ms": 3_000, "memory_bytes": 64 << 20 })
}

fn wat(text: &str) -> Vec<u8> {
    wat::parse_str(text).unwrap()
}

impl TestServer {
    /// Something hostile happens; meanwhile and afterwards others are served.
    async fn survives(&self, harm: impl Future<Output = Answer>) -> Answer {
        let neighbour = || self.call("friendly/add", json!({ "left": 1, "right": 1 }));
        let (harm, meanwhile) = futures::join!(harm, neighbour());
        assert_eq!(meanwhile.outcome(), "ok");
        assert_eq!(
            neighbour().await.body["output"]["structured"],
            json!({ "sum": 2 })
        );
        assert_eq!(self.get("/v1/health/").await.body["status"], "ok");
        harm
    }
}

#[tokio::test]
async fn a_hostile_call_ends_with_its_outcome_and_harms_no_neighbour() {
    let server = TestServer::start()
        .await
        .with_friendly()
        .await
        .with_hostile()
        .await;
    let endless = json!({ "fuel": 100_000_000_000_u64, "timeout_ms": 200 });
    let short = json!({ "timeout_ms": 200 });
    let none = json!({});
    for (number, tool, input, limits, outcomes) in [
        (1, "spin", &none, tight(), &["out_of_fuel"][..]),
        (1, "spin", &none, endless, &["deadline_exceeded"]),
        (4, "memory_bomb", &none, tight(), &["out_of_memory"]),
        (8, "recurse", &none, tight(), &["trap"]),
        (
            9,
            "deep_value",
            &json!({ "depth": 500 }),
            tight(),
            &["invalid_output"],
        ),
        (
            10,
            "big_result",
            &json!({ "bytes": 3 << 20 }),
            tight(),
            &["ok"],
        ),
        (
            10,
            "big_result",
            &json!({ "bytes": 1_u32 << 30 }),
            tight(),
            &["out_of_memory"],
        ),
        (
            10,
            "big_error",
            &json!({ "bytes": 3 << 20 }),
            tight(),
            &["tool_error"],
        ),
        (
            11,
            "many_parts",
            &json!({ "count": 1_000_000 }),
            tight(),
            &["limit_exceeded", "out_of_memory", "out_of_fuel"],
        ),
        (
            11,
            "many_problems",
            &json!({ "count": 1_000_000 }),
            tight(),
            &["limit_exceeded", "out_of_memory", "out_of_fuel"],
        ),
        (
            12,
            "log_flood",
            &none,
            tight(),
            &["out_of_fuel", "deadline_exceeded"],
        ),
        (
            12,
            "progress_flood",
            &none,
            tight(),
            &["out_of_fuel", "deadline_exceeded"],
        ),
        (
            12,
            "emit_flood",
            &none,
            tight(),
            &["out_of_fuel", "deadline_exceeded"],
        ),
        (
            13,
            "stdout_flood",
            &none,
            tight(),
            &["out_of_fuel", "deadline_exceeded"],
        ),
        (
            16,
            "random",
            &json!({ "bytes": 2_u64 << 30 }),
            tight(),
            &["limit_exceeded"],
        ),
        (17, "sleep_forever", &none, short, &["deadline_exceeded"]),
        (22, "panic", &none, tight(), &["trap"]),
        (22, "exit", &json!({ "code": 0 }), tight(), &["exited"]),
    ] {
        let body = json!({ "input": input, "limits": limits });
        let tool = format!("hostile/{tool}");
        let harm = server.survives(server.call_with(&tool, body)).await;
        assert!(
            outcomes.contains(&harm.outcome()),
            "{number} {tool}: {harm:?}"
        );
        assert_eq!(harm.body["receipt"]["outcome"], harm.body["outcome"]);
        assert!(
            harm.text.len() < 4 << 20,
            "{number} {tool}: {}",
            harm.text.len()
        );
    }
}

#[tokio::test]
async fn a_component_that_no_compiler_makes_ends_with_its_outcome() {
    let server = TestServer::start().await.with_friendly().await;
    for (number, name, text, tool, outcome) in [
        (
            5,
            "memories",
            text::many_memories(3, 600),
            "grow0",
            "out_of_memory",
        ),
        (
            4,
            "memory",
            text::BIG_MEMORY.to_owned(),
            "f",
            "out_of_memory",
        ),
        (
            6,
            "table",
            text::TABLE_BOMB.to_owned(),
            "f",
            "out_of_memory",
        ),
        (
            11,
            "strings",
            text::STRING_LIST.to_owned(),
            "f",
            "limit_exceeded",
        ),
        (
            14,
            "handles",
            text::HANDLE_FLOOD.to_owned(),
            "f",
            "limit_exceeded",
        ),
        (28, "text", text::BROKEN_ABI.to_owned(), "bad_utf8", "trap"),
    ] {
        let pushed = server.push(name, wat(&text)).await;
        assert_eq!(pushed.status, 201, "{pushed:?}");
        let body = json!({ "limits": { "fuel": 200_000_000, "memory_bytes": 16 << 20 } });
        let tool = format!("{name}/{tool}");
        let harm = server.survives(server.call_with(&tool, body)).await;
        assert_eq!(harm.outcome(), outcome, "{number} {harm:?}");
    }
}

/// Hostile guest 26.
#[tokio::test]
async fn nothing_of_one_call_is_seen_by_the_next() {
    let server = TestServer::start_with(|config| config.sandbox.slots = 1).await;
    let pushed = server.push("canary", wat(text::CANARY)).await;
    assert_eq!(pushed.status, 201, "{pushed:?}");
    for _ in 0..5 {
        assert_eq!(server.call("canary/write", json!({})).await.outcome(), "ok");
        let looked = server.call("canary/look", json!({})).await;
        assert_eq!(
            looked.body["output"]["structured"],
            json!({ "result": 0 }),
            "{looked:?}"
        );
    }
}

#[tokio::test]
async fn a_component_that_harms_when_it_is_pushed_is_refused_by_type() {
    let server = TestServer::start().await.with_friendly().await;
    for (number, bytes, code) in [
        (2, misdescribe("spin"), "describe_failed"),
        (2, misdescribe("sleep"), "describe_failed"),
        (2, misdescribe("bomb"), "describe_failed"),
        (3, wat(text::START_LOOP), "describe_failed"),
        (5, wat(&text::many_memories(64, 1)), "compile_failed"),
        (7, wat(&text::many_instances(5_000)), "invalid_component"),
        (
            28,
            bulkhead_fixtures::FRIENDLY[..1_000].to_vec(),
            "not_a_component",
        ),
        (29, wat(text::WRONG_IMPORT), "unknown_imports"),
        (29, misdescribe("twice"), "invalid_description"),
        (29, misdescribe("hidden"), "invalid_description"),
        (29, misdescribe("huge"), "invalid_description"),
        (29, misdescribe("deep"), "invalid_description"),
    ] {
        let harm = server.survives(server.push("harm", bytes)).await;
        assert_eq!(harm.refusal(), (422, code), "{number}: {harm:?}");
        assert_eq!(server.get("/v1/components/harm").await.status, 404);
    }
}

#[tokio::test]
async fn a_component_that_describes_itself_otherwise_after_a_restart_runs_no_more() {
    let mut server = TestServer::start().await.with_friendly().await;
    for (name, mode) in [("honest", "honest"), ("changing", "clock")] {
        let pushed = server.push(name, misdescribe(mode)).await;
        assert_eq!(pushed.status, 201, "{pushed:?}");
        let called = server.call(&format!("{name}/nothing"), json!({})).await;
        assert_eq!(called.outcome(), "ok", "{called:?}");
    }
    let before = server.get("/v1/components/changing").await.body;
    server.restart().await;
    let called = server.call("honest/nothing", json!({})).await;
    assert_eq!(called.outcome(), "ok", "{called:?}");
    let called = server
        .survives(server.call("changing/nothing", json!({})))
        .await;
    assert_eq!(called.refusal(), (422, "invalid_component"), "{called:?}");
    // What a person saw is what stands there.
    assert_eq!(server.get("/v1/components/changing").await.body, before);
}

/// Hostile guest 9.
#[tokio::test]
async fn deep_json_is_refused_before_any_guest_sees_it() {
    let server = TestServer::start().await.with_friendly().await;
    let deep = format!(
        "{{\"input\":{{\"a\":{}{}}}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let call = server
        .request(
            reqwest::Method::POST,
            &crate::support::call_path("friendly/echo"),
        )
        .header("content-type", "application/json")
        .body(deep);
    let harm = server
        .survives(async { Answer::read(call.send().await.unwrap()).await })
        .await;
    assert!(harm.status.is_client_error(), "{harm:?}");
}

/// Hostile guest 30.
#[tokio::test]
async fn tools_that_call_tools_without_end_stop_at_a_depth_and_pay_from_one_purse() {
    let server = TestServer::start()
        .await
        .with_friendly()
        .await
        .with_hostile()
        .await;
    server
        .grant(json!({ "component": "friendly", "capabilities": { "peers": ["*"] } }))
        .await;
    let circle = (0..20).fold(
        json!({ "name": "friendly/ask_peer" }),
        |inner, _| json!({ "name": "friendly/ask_peer", "input": inner }),
    );
    let harm = server
        .survives(server.call("friendly/ask_peer", circle))
        .await;
    assert_eq!(harm.outcome(), "tool_error", "{harm:?}");
    let receipts = server.get("/v1/receipts?tool=ask_peer").await;
    assert!(receipts.body.as_array().unwrap().len() <= 4, "{receipts:?}");
    let spin = json!({ "input": { "name": "hostile/spin" }, "limits": { "fuel": 50_000_000 } });
    let harm = server
        .survives(server.call_with("friendly/ask_peer", spin))
        .await;
    assert!(
        harm.body["receipt"]["fuel"]["call"].as_u64().unwrap() <= 50_000_000,
        "{harm:?}"
    );
}
