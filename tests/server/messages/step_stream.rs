//! An answer as events, each a whole message.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use super::{agent, events, outline, path, say, stop, text, tool};
use crate::support::{Answer, TestServer};

async fn stream(server: &TestServer, agent: &str, input: &str) -> Answer {
    server
        .post(&path(agent, "/stream"), &json!({ "input": input }))
        .await
}

#[tokio::test]
async fn messages_come_whole_between_a_ping_and_the_end() {
    let server = TestServer::start().await;
    let twice = tool(&server, "twice", "return a + a").await;
    let agent = agent(&server, json!({ "tool_ids": [twice] })).await;
    let input = "think hm\nsay Look:\ncall twice with {\"a\":\"x\"}\nthen\nsay Done.";
    let answer = stream(&server, &agent, input).await;
    let events = events(&answer);
    assert_eq!(
        outline(&events),
        [
            "ping",
            "reasoning_message \"hm\"",
            "assistant_message \"Look:\"",
            r#"tool_call_message {"arguments":"{\"a\":\"x\"}","name":"twice"}"#,
            "tool_return_message \"xx\"",
            "assistant_message \"Done.\"",
            "stop_reason \"end_turn\"",
            "usage_statistics",
            "[DONE]",
        ]
    );
    let (ping, first, call) = (&events[0].1, &events[1].1, &events[3].1);
    assert_eq!(ping["run_id"], first["run_id"]);
    assert_eq!(
        (&ping["seq_id"], &first["seq_id"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(first["id"], call["id"]);
    assert!(call["tool_calls"].is_array());
    assert_eq!(events[7].1["step_count"], 2);
    // What was seen is what is stored.
    let listed = server.get(&path(&agent, "?order=asc")).await;
    let stored: Vec<&Value> = listed.body.as_array().unwrap().iter().skip(2).collect();
    let seen: Vec<&Value> = events[1..6].iter().map(|(_, data)| data).collect();
    assert_eq!(stored, seen);
}

#[tokio::test]
async fn a_client_may_do_without_pings_and_without_some_kinds() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({})).await;
    let body = json!({
        "input": "think hm\nsay hi", "streaming": true, "include_pings": false,
        "include_return_message_types": ["assistant_message"],
    });
    let answer = server.post(&path(&agent, ""), &body).await;
    assert_eq!(
        outline(&events(&answer)),
        [
            "assistant_message \"hi\"",
            "stop_reason \"end_turn\"",
            "usage_statistics",
            "[DONE]",
        ]
    );
}

#[tokio::test]
async fn a_failure_before_anything_was_said_ends_the_stream_properly() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({})).await;
    for (kind, reason, name) in [
        ("rate_limit", "llm_api_error", "llm_rate_limit"),
        ("timeout", "llm_api_error", "llm_timeout"),
        ("authentication", "llm_api_error", "llm_authentication"),
        ("credits", "llm_api_error", "llm_error"),
        ("empty", "invalid_llm_response", "llm_empty_response"),
    ] {
        let answer = stream(&server, &agent, &format!("fail {kind}")).await;
        let events = events(&answer);
        let expected = [
            "ping".to_owned(),
            format!("stop_reason \"{reason}\""),
            format!("error: error_message \"{name}\""),
            "[DONE]".to_owned(),
        ];
        assert_eq!(outline(&events), expected, "{kind}");
        let error = &events[2].1;
        let run = text(&error["run_id"]);
        let run = server.get(&format!("/v1/runs/{run}")).await.body;
        assert_eq!(run["metadata"]["error"], *error, "{kind}");
        assert_eq!(
            (&run["status"], &run["stop_reason"]),
            (&json!("failed"), &json!(reason))
        );
    }
    assert_eq!(stop(&say(&server, &agent, "say hi").await), "end_turn");
}

#[tokio::test]
async fn a_failure_after_something_was_said_breaks_the_stream_off() {
    let server = TestServer::start().await;
    let twice = tool(&server, "twice", "return a + a").await;
    let agent = agent(&server, json!({ "tool_ids": [twice] })).await;
    let answer = stream(
        &server,
        &agent,
        "call twice with {\"a\":\"x\"}\nthen\nfail server",
    )
    .await;
    let events = events(&answer);
    assert_eq!(
        outline(&events)[2..],
        [
            "tool_return_message \"xx\"",
            "stop_reason \"llm_api_error\"",
            "error: error_message \"internal_error\"",
        ]
    );
    let error = &events[4].1;
    assert_eq!(
        error["message"],
        "An error occurred during agent execution."
    );
    assert!(
        text(&error["detail"]).starts_with("INTERNAL_SERVER_ERROR: "),
        "{error}"
    );
    // What earlier steps stored stays, and no call is without its result.
    let listed = server.get(&path(&agent, "?order=asc")).await;
    assert_eq!(
        super::kinds(&listed.body),
        [
            "system_message",
            "user_message",
            "tool_call_message",
            "tool_return_message"
        ]
    );
}

#[tokio::test]
async fn what_is_wrong_before_the_stream_begins_is_an_ordinary_refusal() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({})).await;
    let nobody = "agent-00000000-0000-4000-8000-000000000000";
    let answer = stream(&server, nobody, "hi").await;
    assert_eq!(
        super::detail(&answer),
        (
            404,
            "Agent with ID agent-00000000-0000-4000-8000-000000000000 not found"
        )
    );
    let body = json!({ "input": "hi", "override_model": "bulkhead/nope" });
    let answer = server.post(&path(&agent, "/stream"), &body).await;
    let (status, reason) = super::detail(&answer);
    assert_eq!(status, 404);
    assert!(
        reason.starts_with(
            "NOT_FOUND: Handle bulkhead/nope not found, must be one of ['bulkhead/scripted'"
        ),
        "{reason}"
    );
}

/// The body of a stream as it comes.
async fn open(server: &TestServer, agent: &str, body: Value) -> reqwest::Response {
    let request = server.request(Method::POST, &path(agent, "/stream"));
    request.json(&body).send().await.unwrap()
}

#[tokio::test]
async fn a_cancelled_stream_ends_at_once_and_nothing_of_its_step_is_stored() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({})).await;
    let mut stream = open(&server, &agent, json!({ "input": "wait 60s\nsay late" })).await;
    let ping = stream.chunk().await.unwrap().unwrap();
    assert!(ping.starts_with(b"data: {"), "{ping:?}");
    let cancelled = server.post(&path(&agent, "/cancel"), &json!({})).await;
    assert_eq!(cancelled.status, 200, "{cancelled:?}");
    let (run, status) = cancelled.body.as_object().unwrap().iter().next().unwrap();
    assert_eq!(*status, "cancelled");
    let rest = tokio::time::timeout(Duration::from_secs(5), stream.text()).await;
    assert_eq!(
        rest.unwrap().unwrap(),
        "data: {\"message_type\":\"stop_reason\",\"stop_reason\":\"cancelled\"}\n\n"
    );
    let run = server.get(&format!("/v1/runs/{run}")).await.body;
    assert_eq!(
        (&run["status"], &run["stop_reason"]),
        (&json!("cancelled"), &json!("cancelled"))
    );
    let listed = server.get(&path(&agent, "")).await;
    assert_eq!(super::kinds(&listed.body), ["system_message"]);
    let state = server.get(&format!("/v1/agents/{agent}")).await.body;
    assert_eq!(state["last_stop_reason"], "cancelled");
    assert_eq!(stop(&say(&server, &agent, "say hi").await), "end_turn");
    let nothing = server.post(&path(&agent, "/cancel"), &json!({})).await;
    let expected = format!("CONFLICT: No active runs to cancel for agent {agent}");
    assert_eq!(super::detail(&nothing), (409, expected.as_str()));
    assert_eq!(nothing.headers["x-should-retry"], "false");
}

#[tokio::test]
async fn a_run_ends_with_its_stream_unless_it_is_in_the_background() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({})).await;
    for (background, expected) in [(false, "cancelled"), (true, "completed")] {
        let body = json!({ "input": "wait 300ms\nsay late", "background": background });
        let mut stream = open(&server, &agent, body).await;
        let ping = stream.chunk().await.unwrap().unwrap();
        let ping: Value = serde_json::from_slice(&ping["data: ".len()..]).unwrap();
        assert_eq!(
            ping["seq_id"],
            if background { json!(1) } else { Value::Null }
        );
        drop(stream);
        let run = format!("/v1/runs/{}", text(&ping["run_id"]));
        let ended = async {
            loop {
                let run = server.get(&run).await.body;
                if !run["completed_at"].is_null() {
                    return run;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let ended = tokio::time::timeout(Duration::from_secs(5), ended)
            .await
            .unwrap();
        assert_eq!(ended["status"], expected, "{ended}");
        assert_eq!(ended["background"], background);
    }
}
