//! The streaming form of a call, and clients that go away.

use std::time::Duration;

use futures::StreamExt as _;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, TestServer, call_path};

/// The events of a finished stream, each with its name and data.
fn events(text: &str) -> Vec<(String, Value)> {
    let blocks = text.split("\n\n").filter(|block| block.contains("data:"));
    let field = |block: &str, name: &str| {
        let line = block.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap().trim().to_owned()
    };
    blocks
        .map(|block| {
            (
                field(block, "event:"),
                serde_json::from_str(&field(block, "data:")).unwrap(),
            )
        })
        .collect()
}

#[tokio::test]
async fn events_come_in_order_and_the_result_last() {
    let server = TestServer::start().await.with_friendly().await;
    for accept in [None, Some("text/event-stream")] {
        let mut call = server.request(Method::POST, &call_path("friendly/greet"));
        if let Some(accept) = accept {
            call = call.header("accept", accept);
        }
        let body = json!({ "input": { "name": "Ada" }, "stream": accept.is_none() });
        let answer = Answer::read(call.json(&body).send().await.unwrap()).await;
        assert_eq!(answer.headers["content-type"], "text/event-stream");
        let events = events(&answer.text);
        let names: Vec<_> = events.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            [
                "progress", "emit", "log", "log", "log", "log", "progress", "result"
            ]
        );
        assert_eq!(events[0].1["message"], "greeting");
        assert_eq!(events[1].1["part"]["text"], "Hello, Ada");
        assert_eq!(events[6].1["done"], 1.0);
        let result = &events[7].1;
        assert_eq!(
            (&result["outcome"], &result["text"]),
            (&json!("ok"), &json!("Hello, Ada!"))
        );
        let id = result["receipt"]["id"].as_str().unwrap();
        assert_eq!(server.get(&format!("/v1/receipts/{id}")).await.status, 200);
    }
}

#[tokio::test]
async fn events_arrive_while_the_call_runs() {
    let server = TestServer::start().await.with_hostile().await;
    let call = server.request(Method::POST, &call_path("hostile/progress_flood"));
    let body =
        json!({ "stream": true, "limits": { "timeout_ms": 1_500, "fuel": 100_000_000_000_u64 } });
    let answer = call.json(&body).send().await.unwrap();
    let mut chunks = answer.bytes_stream();
    let first = tokio::time::timeout(Duration::from_millis(1_000), chunks.next()).await;
    let first = first.unwrap().unwrap().unwrap();
    assert!(first.starts_with(b"event: progress"), "{first:?}");
    let mut rest = Vec::new();
    while let Some(chunk) = chunks.next().await {
        rest.extend_from_slice(&chunk.unwrap());
    }
    let rest = String::from_utf8(rest).unwrap();
    assert!(
        rest.contains("event: truncated"),
        "the flood is cut and marked"
    );
    assert!(
        rest.trim_end()
            .rsplit("\n\n")
            .next()
            .unwrap()
            .starts_with("event: result")
    );
}

#[tokio::test]
async fn what_keeps_a_call_from_running_is_an_ordinary_error() {
    let server = TestServer::start().await.with_friendly().await;
    for (tool, input, expected) in [
        ("friendly/absent", json!({}), (404, "unknown_tool")),
        ("absent/add", json!({}), (404, "unknown_component")),
        ("friendly/add", json!({ "left": 1 }), (422, "invalid_input")),
    ] {
        let answer = server
            .call_with(tool, json!({ "input": input, "stream": true }))
            .await;
        assert_eq!(answer.refusal(), expected);
    }
}

#[tokio::test]
async fn wrong_input_is_refused_alike_in_both_forms() {
    let server = TestServer::start().await.with_friendly().await;
    for body in [
        json!({ "input": { "left": "one" } }),
        json!({ "input": { "left": 1, "right": 2 }, "limits": { "input_bytes": 3 } }),
    ] {
        let plain = server.call_with("friendly/add", body.clone()).await;
        let mut streamed = body;
        streamed["stream"] = json!(true);
        let streamed = server.call_with("friendly/add", streamed).await;
        assert_eq!(streamed.refusal(), (422, "invalid_input"));
        assert_eq!(streamed.body["error"], plain.body["error"]);
        let id = streamed.body["receipt"]["id"].as_str().unwrap();
        let receipt = server.get(&format!("/v1/receipts/{id}")).await;
        assert_eq!(receipt.body["outcome"], "invalid_input", "{receipt:?}");
    }
}

/// Hostile guest 21, as far as it is the server's.
#[tokio::test]
async fn a_client_that_goes_away_cancels_its_call_and_leaves_a_receipt() {
    let server = TestServer::start().await.with_hostile().await;
    for stream in [false, true] {
        for tool in ["hostile/sleep_forever", "hostile/spin"] {
            let limits = json!({ "timeout_ms": 60_000, "fuel": 100_000_000_000_u64 });
            let agent = format!("agent-{stream}-{}", &tool[8..]);
            let body = json!({ "stream": stream, "limits": limits, "agent_id": agent });
            let call = server.request(Method::POST, &call_path(tool)).json(&body);
            let gone = tokio::time::timeout(Duration::from_millis(300), async {
                let answer = call.send().await.unwrap();
                answer.bytes().await
            });
            assert!(gone.await.is_err(), "the call runs until its client goes");
            let receipt = receipt_of(&server, &agent).await;
            assert_eq!(receipt["outcome"], "cancelled");
            assert!(receipt["wall_us"].as_u64().unwrap() < 10_000_000);
        }
    }
}

/// The receipt of this agent's only call, once it is there.
async fn receipt_of(server: &TestServer, agent: &str) -> Value {
    for _ in 0..100 {
        let found = server.get(&format!("/v1/receipts?agent_id={agent}")).await;
        if let Some(receipt) = found.body.as_array().unwrap().first() {
            return receipt.clone();
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{agent}: no receipt within 5 s");
}
