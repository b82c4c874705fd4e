//! While a tool runs: it is stopped, and what is known of its call is stored as its result.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{
    DENIED, active, busy_agent, cancel, ends_cancelled, is_cancelled, no_slot_is_taken, sent,
    slots_in_use,
};
use crate::{
    both::on_both,
    clients::read,
    live::Live,
    messages::{agent, kinds, path, stop, text, tool},
    support::{TestServer, has_python},
};

/// As slow as a test may find a call's end that takes some milliseconds: other tests share the
/// machine.
const SOON: Duration = Duration::from_secs(3);

/// Fails unless a message of results says that the first call was stopped and the second never
/// began.
async fn tells_of_both_calls(server: &TestServer, returned: &Value) {
    let returns = returned["tool_returns"].as_array().unwrap();
    assert_eq!(returns.len(), 2, "{returned}");
    let stopped = text(&returns[0]["tool_return"]);
    assert!(
        stopped.starts_with("Error executing function spin: Cancelled"),
        "{stopped}"
    );
    assert_eq!(returns[0]["status"], "error");
    assert_eq!(
        (&returns[1]["status"], &returns[1]["tool_return"]),
        (&json!("error"), &json!(DENIED))
    );
    let step = text(&returned["step_id"]);
    let receipts = read(server, &format!("/v1/steps/{step}/receipts")).await;
    let receipts = receipts.as_array().unwrap();
    assert_eq!(receipts.len(), 1, "{receipts:?}");
    assert_eq!(receipts[0]["receipt"]["outcome"], "cancelled");
    assert_eq!(receipts[0]["tool_call_id"], returns[0]["tool_call_id"]);
}

/// Tools that compute until they are stopped, by name: a component's, and one from source in each
/// language.
async fn endless(server: &TestServer) -> Vec<(&'static str, Value)> {
    let pushed = server.push("hostile", bulkhead_fixtures::HOSTILE).await;
    assert_eq!(pushed.status, 201, "{pushed:?}");
    let of_component = read(server, "/v1/tools/?name=spin").await;
    let mut tools = vec![
        ("spin", of_component[0]["id"].clone()),
        (
            "loops",
            tool(server, "loops", "while (true) {}").await.into(),
        ),
    ];
    if has_python() {
        let source = "def snake():\n    \"\"\"Computes.\"\"\"\n    while True:\n        pass\n";
        let saved = server
            .post("/v1/tools/", &json!({ "source_code": source }))
            .await;
        assert_eq!(saved.status, 200, "{saved:?}");
        tools.push(("snake", saved.body["id"].clone()));
    }
    for (component, tool) in [
        ("hostile", "spin"),
        ("source", "loops"),
        ("source", "snake"),
    ] {
        let limits = json!({ "fuel": 1_000_000_000_000_u64 });
        let grant = json!({
            "component": component, "tool": tool, "capabilities": {}, "limits": limits,
        });
        server.grant(grant).await;
    }
    tools
}

const INPUT: &str = "call spin\ncall twice with {\"a\":\"x\"}\nthen\nsay never";

on_both! {
    async fn a_streams_tool_is_stopped_and_its_result_says_so(server) {
        let agent = busy_agent(&server).await;
        for (tokens, background) in [(false, false), (true, false), (true, true)] {
            let body = json!({
                "input": INPUT, "stream_tokens": tokens, "background": background,
            });
            let mut stream = Live::open(&server, &agent, &body).await;
            let run = stream.run().await;
            stream.until("tool_call_message").await;
            slots_in_use(&server, 1).await;
            let asked = Instant::now();
            assert_eq!(cancel(&server, &agent).await, json!({ &run: "cancelled" }));
            let seen = stream.end().await;
            assert!(asked.elapsed() < SOON, "{:?}", asked.elapsed());
            ends_cancelled(&seen);
            let returned = &seen[seen.len() - 2].1;
            assert_eq!(returned["message_type"], "tool_return_message");
            tells_of_both_calls(&server, returned).await;
            slots_in_use(&server, 0).await;
            is_cancelled(&server, &agent, &run).await;
        }
    }

    async fn nothing_of_a_tool_runs_when_its_stream_has_ended_and_its_receipt_is_there(server) {
        let tools = endless(&server).await;
        let ids: Vec<&Value> = tools.iter().map(|(_, id)| id).collect();
        let agent = agent(&server, json!({ "tool_ids": ids })).await;
        for (name, _) in &tools {
            for background in [false, true] {
                let body = json!({ "input": format!("call {name}"), "background": background });
                let mut stream = Live::open(&server, &agent, &body).await;
                let run = stream.run().await;
                stream.until("tool_call_message").await;
                slots_in_use(&server, 1).await;
                let (asks, nothing) = (path(&agent, "/cancel"), json!({}));
                let cancelled = server.post(&asks, &nothing);
                // Whoever hears the end need not wait for the answer to the request to cancel.
                let ends = async {
                    let events = stream.end().await;
                    no_slot_is_taken(&server).await;
                    let returned = &events[events.len() - 2].1;
                    let step = format!("/v1/steps/{}/receipts", text(&returned["step_id"]));
                    (read(&server, &step).await, events)
                };
                let (cancelled, (receipts, events)) = futures::join!(cancelled, ends);
                assert_eq!(cancelled.body, json!({ &run: "cancelled" }));
                ends_cancelled(&events);
                let receipt = &receipts[0]["receipt"];
                assert_eq!(receipt["outcome"], "cancelled", "{name}: {receipts}");
                assert_eq!(receipt["tool"], *name);
                assert!(receipt["fuel"]["call"].as_u64() > Some(0), "{receipt}");
                is_cancelled(&server, &agent, &run).await;
            }
        }
    }

    async fn an_answer_as_a_whole_has_the_result_of_the_tool_that_was_stopped(server) {
        let agent = busy_agent(&server).await;
        let waiting = sent(&server, &agent, &json!({ "input": INPUT }));
        let run = active(&server, &agent, 1).await.remove(0);
        slots_in_use(&server, 1).await;
        // Many times what it takes from there to the first thing that the tool does.
        tokio::time::sleep(Duration::from_millis(500)).await;
        cancel(&server, &agent).await;
        let answer = waiting.await.unwrap().body;
        assert_eq!(stop(&answer), "cancelled");
        let messages = &answer["messages"];
        assert_eq!(kinds(messages), ["tool_call_message", "tool_return_message"]);
        tells_of_both_calls(&server, &messages[1]).await;
        // What it did before is told.
        assert_eq!(messages[1]["tool_returns"][0]["stdout"], json!(["begun\n"]));
        is_cancelled(&server, &agent, &run).await;
    }
}
