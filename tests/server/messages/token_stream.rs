//! An answer as events, each a piece of a message.

use serde_json::{Value, json};

use super::{Event, agent, events, outline, path, text, tool_with};
use crate::support::TestServer;

async fn stream(server: &TestServer, agent: &str, input: &str) -> Vec<Event> {
    let body = json!({ "input": input, "stream_tokens": true });
    events(&server.post(&path(agent, "/stream"), &body).await)
}

#[tokio::test]
async fn pieces_have_the_id_and_the_otid_of_what_will_be_stored() {
    let server = TestServer::start().await;
    let twice = tool_with(&server, "twice", "return a + a", json!({})).await;
    let agent = agent(&server, json!({ "tool_ids": [twice] })).await;
    let input = "think hm hm\nsay Look there:\ncall twice with {\"a\":\"x\"}\nthen\nsay Done.";
    let events = stream(&server, &agent, input).await;
    assert_eq!(
        outline(&events),
        [
            "ping",
            "reasoning_message \"hm \"",
            "reasoning_message \"hm\"",
            "assistant_message \"Look \"",
            "assistant_message \"there:\"",
            r#"tool_call_message {"name":"twice"}"#,
            r#"tool_call_message {"arguments":"{\"a\":\"x\"}"}"#,
            "tool_return_message \"xx\"",
            "assistant_message \"Done.\"",
            "stop_reason \"end_turn\"",
            "usage_statistics",
            "[DONE]",
        ]
    );
    assert_eq!(events[5].1["tool_call"], events[5].1["tool_calls"]);
    let key = |data: &Value| (text(&data["id"]).to_owned(), text(&data["otid"]).to_owned());
    let listed = server.get(&path(&agent, "?order=asc")).await;
    let stored: Vec<_> = listed
        .body
        .as_array()
        .unwrap()
        .iter()
        .skip(2)
        .map(key)
        .collect();
    let mut seen: Vec<_> = events[1..9].iter().map(|(_, data)| key(data)).collect();
    seen.dedup();
    assert_eq!(stored, seen);
}

#[tokio::test]
async fn pieces_of_a_call_that_waits_have_three_keys_and_the_id_of_the_request() {
    let server = TestServer::start().await;
    let more = json!({ "default_requires_approval": true });
    let secret = tool_with(&server, "secret", "return a", more).await;
    let agent = agent(&server, json!({ "tool_ids": [secret] })).await;
    let events = stream(&server, &agent, "say Look:\ncall secret with {\"a\":\"x\"}").await;
    assert_eq!(
        outline(&events),
        [
            "ping",
            "assistant_message \"Look:\"",
            r#"approval_request_message {"arguments":null,"name":"secret"}"#,
            r#"approval_request_message {"arguments":"{\"a\":\"x\"}","name":null}"#,
            "stop_reason \"requires_approval\"",
            "usage_statistics",
            "[DONE]",
        ]
    );
    let request = &events[2].1;
    assert_eq!(request["otid"], request["id"]);
    assert_ne!(request["id"], events[1].1["id"]);
    let listed = server.get(&path(&agent, "?order=asc")).await.body;
    assert_eq!(listed[2]["id"], events[1].1["id"]);
    assert_eq!(
        (&listed[3]["id"], &listed[3]["otid"]),
        (&request["id"], &request["otid"])
    );
}

#[tokio::test]
async fn a_failure_in_the_middle_of_an_answer_breaks_the_stream_off() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({})).await;
    let events = stream(&server, &agent, "say a b c d\nfail server after 2 pieces").await;
    assert_eq!(
        outline(&events),
        [
            "ping",
            "assistant_message \"a \"",
            "assistant_message \"b \"",
            "stop_reason \"llm_api_error\"",
            "error: error_message \"internal_error\"",
        ]
    );
    let listed = server.get(&path(&agent, "")).await;
    assert_eq!(super::kinds(&listed.body), ["system_message"]);
}

#[tokio::test]
async fn what_an_agent_says_by_its_tool_is_shown_as_said_in_pieces_too() {
    let server = super::memory::with_tools().await;
    let input = "call send_message with {\"message\": \"Hi there.\"}\nthen\nsay Done.";
    for (kind, said) in [("letta_v1_agent", 2), ("memgpt_v2_agent", 1)] {
        let more = json!({ "agent_type": kind, "tools": ["send_message"], "tool_rules": [] });
        let agent = agent(&server, more).await;
        for tokens in [true, false] {
            let body = json!({ "input": input, "stream_tokens": tokens });
            let events = events(&server.post(&path(&agent, "/stream"), &body).await);
            let lines = outline(&events);
            assert_eq!(
                lines[1], "assistant_message \"Hi there.\"",
                "{kind} {lines:?}"
            );
            let calls = lines.iter().filter(|line| line.starts_with("tool_"));
            assert_eq!(calls.count(), 0, "{kind} {lines:?}");
            let told = lines
                .iter()
                .filter(|line| line.starts_with("assistant_message"));
            assert_eq!(told.count(), said, "{kind} {lines:?}");
            let listed = server.get(&path(&agent, "?order=asc&limit=100")).await.body;
            let mut listed = listed.as_array().unwrap().iter();
            let first = &events[1].1;
            let same = listed
                .find(|entry| (&entry["id"], &entry["otid"]) == (&first["id"], &first["otid"]));
            assert_eq!(same.unwrap()["content"], "Hi there.", "{kind}");
        }
    }
    // Whoever wants the calls gets them, in pieces.
    let agent = agent(&server, json!({ "tools": ["send_message"] })).await;
    let body = json!({
        "input": input, "stream_tokens": true, "use_assistant_message": false,
    });
    let events = events(&server.post(&path(&agent, "/stream"), &body).await);
    assert_eq!(
        outline(&events)[1],
        r#"tool_call_message {"name":"send_message"}"#
    );
}
