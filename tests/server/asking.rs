//! Agents whose tools ask other agents, where there is one slot for the tools of all.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    cancellation::{active, sent, slots_in_use},
    clients::read,
    messages::{agent, calls, say, stop, text, tool},
    support::TestServer,
};

const ASK: &str = "send_message_to_agent_and_wait_for_reply";
/// How long a call waits for a slot: much longer than any of these tests takes.
const QUEUE: Duration = Duration::from_secs(60);
/// As long as a test may take that waits for no slot.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server with one slot, the id of a tool that asks, and that of one that answers twice its argument.
async fn narrow() -> (TestServer, String, String) {
    let server = TestServer::start_with(|config| {
        config.sandbox.slots = 1;
        config.sandbox.queue_timeout = QUEUE;
    })
    .await;
    let pushed = server.push("asking", bulkhead_tools::MESSAGES).await;
    assert_eq!(pushed.status, 201, "{pushed:?}");
    let grant = json!({ "component": "asking", "capabilities": { "agents": ["*"] } });
    server.grant(grant).await;
    let listed = read(&server, &format!("/v1/tools/?name={ASK}")).await;
    let asks = text(&listed[0]["id"]).to_owned();
    let twice = tool(&server, "twice", "return a + a").await;
    (server, asks, twice)
}

/// An agent that follows this script whenever it is asked.
async fn scripted(server: &TestServer, tools: &[&str], reply: &str) -> String {
    let script = json!([{ "when": "Incoming message", "reply": reply }]);
    let metadata = json!({ "script": script });
    agent(server, json!({ "tool_ids": tools, "metadata": metadata })).await
}

fn asking(other: &str) -> String {
    let call = json!({ "message": "hello", "other_agent_id": other });
    format!("call {ASK} with {call}\nthen\nsay heard")
}

/// What a tool that asked was answered.
fn answered(answer: &Value) -> &str {
    assert_eq!(stop(answer), "end_turn", "{answer}");
    let [(name, returned)] = calls(answer)[..] else {
        panic!("one call: {answer}")
    };
    assert_eq!(name, ASK);
    returned
}

#[tokio::test]
async fn the_tools_of_agents_that_ask_each_other_in_a_row_share_one_slot() {
    let (server, asks, twice) = narrow().await;
    let reply = "call twice with {\"a\":\"x\"}\nthen\nsay it is done";
    let mut last = scripted(&server, &[&twice], reply).await;
    for _ in 0..3 {
        last = scripted(&server, &[&asks], &asking(&last)).await;
    }
    let first = agent(&server, json!({ "tool_ids": [asks] })).await;
    let input = asking(&last);
    let answer = tokio::time::timeout(PATIENCE, say(&server, &first, &input));
    let answer = answer.await.expect("no call waits for a slot");
    assert!(answered(&answer).contains("heard"), "{answer}");
    slots_in_use(&server, 0).await;
    // The one that was asked last used its tool.
    let runs = read(&server, "/v1/runs/?limit=1&order=desc").await;
    let run = text(&runs[0]["id"]);
    let told = read(&server, &format!("/v1/runs/{run}/messages?order=asc")).await;
    assert!(told.to_string().contains("xx"), "{told}");
}

#[tokio::test]
async fn an_agent_that_works_when_it_is_asked_has_the_slot_for_its_own_tools() {
    let (server, asks, twice) = narrow().await;
    let asked = scripted(&server, &[&twice], "say now I can").await;
    let input = "wait 1s\ncall twice with {\"a\":\"x\"}\nthen\nsay done";
    let works = sent(&server, &asked, &json!({ "input": input }));
    active(&server, &asked, 1).await;
    let asks = agent(&server, json!({ "tool_ids": [asks] })).await;
    // Its question waits for the other one's turn to end, which needs a slot before.
    let input = asking(&asked);
    let both = futures::future::join(say(&server, &asks, &input), works);
    let both = tokio::time::timeout(PATIENCE, both).await;
    let (answer, worked) = both.expect("no call waits for a slot");
    assert!(answered(&answer).contains("now I can"), "{answer}");
    assert_eq!(calls(&worked.unwrap().body), [("twice", "xx")]);
    slots_in_use(&server, 0).await;
}
