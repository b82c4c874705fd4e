//! Calls that wait for a person, or for the client to run them.

use serde_json::{Value, json};

use super::{
    agent, calls, detail, events, kinds, outline, path, say, send, stop, text, tool, tool_with,
};
use crate::support::TestServer;

/// An agent with a tool that waits (`secret`) and one that does not (`dice`).
async fn careful(server: &TestServer) -> String {
    let more = json!({ "default_requires_approval": true });
    let secret = tool_with(server, "secret", "return 'the secret ' + a", more).await;
    let dice = tool(server, "dice", "return 'four'").await;
    let more = json!({ "tool_ids": [secret, dice], "parallel_tool_calls": true });
    agent(server, more).await
}

fn decision(call: &str, approve: bool) -> Value {
    let decided = json!({
        "type": "approval", "tool_call_id": call, "approve": approve, "reason": "no way",
    });
    json!({ "messages": [{ "type": "approval", "approvals": [decided] }] })
}

/// The request for approval of an answer.
fn request(answer: &Value) -> &Value {
    let messages = answer["messages"].as_array().unwrap();
    messages
        .iter()
        .find(|message| message["message_type"] == "approval_request_message")
        .unwrap_or_else(|| panic!("{answer}"))
}

fn waiting(answer: &Value) -> &str {
    text(&request(answer)["tool_call"]["tool_call_id"])
}

#[tokio::test]
async fn an_approved_call_runs_in_the_step_that_asked() {
    let server = TestServer::start().await;
    let agent = careful(&server).await;
    let asked = say(
        &server,
        &agent,
        "call secret with {\"a\":\"x\"}\nthen\nsay Done.",
    )
    .await;
    assert_eq!(kinds(&asked["messages"]), ["approval_request_message"]);
    assert_eq!(stop(&asked), "requires_approval");
    let call = waiting(&asked);
    let answer = send(&server, &agent, decision(call, true)).await.body;
    assert_eq!(calls(&answer), [("secret", "the secret x")]);
    assert_eq!(answer["messages"][0]["step_id"], request(&asked)["step_id"]);
    assert_ne!(answer["messages"][0]["run_id"], request(&asked)["run_id"]);
    assert_eq!(stop(&answer), "end_turn");
    let listed = server.get(&path(&agent, "?order=asc")).await.body;
    assert_eq!(
        kinds(&listed)[1..],
        [
            "user_message",
            "approval_request_message",
            "approval_response_message",
            "tool_return_message",
            "assistant_message",
        ]
    );
    assert_eq!(listed[3]["approval_request_id"], call);
}

#[tokio::test]
async fn a_denied_call_does_not_run_and_those_beside_it_do() {
    let server = TestServer::start().await;
    let agent = careful(&server).await;
    let asked = say(&server, &agent, "say Look:\ncall secret\ncall dice").await;
    assert_eq!(
        kinds(&asked["messages"]),
        [
            "assistant_message",
            "tool_call_message",
            "approval_request_message"
        ]
    );
    assert_ne!(request(&asked)["id"], asked["messages"][0]["id"]);
    let mut body = decision(waiting(&asked), false);
    let more = json!({ "role": "user", "content": "say Fine." });
    body["messages"].as_array_mut().unwrap().push(more);
    let answer = send(&server, &agent, body).await.body;
    let returns = answer["messages"][0]["tool_returns"].as_array().unwrap();
    let texts: Vec<_> = returns
        .iter()
        .map(|one| text(&one["tool_return"]))
        .collect();
    assert_eq!(
        texts,
        [
            "Error: request to call tool denied. User reason: no way",
            "four"
        ]
    );
    assert_eq!(answer["messages"][1]["content"], "Fine.");
}

#[tokio::test]
async fn an_open_request_takes_nothing_but_its_own_decisions() {
    let server = TestServer::start().await;
    let agent = careful(&server).await;
    let early = send(&server, &agent, decision("call_1", true)).await;
    assert_eq!(
        detail(&early),
        (
            400,
            "Cannot process approval response: No tool call is currently awaiting approval. Please send a regular message to interact with the agent."
        )
    );
    let asked = say(&server, &agent, "call secret").await;
    let call = waiting(&asked);
    let other = send(&server, &agent, json!({ "input": "hi" })).await;
    assert_eq!(other.status, 409, "{other:?}");
    assert_eq!(other.body["detail"]["code"], "PENDING_APPROVAL");
    assert_eq!(
        other.body["detail"]["pending_request_id"],
        request(&asked)["id"]
    );
    let streamed = server
        .post(&path(&agent, "/stream"), &json!({ "input": "hi" }))
        .await;
    assert_eq!(
        outline(&events(&streamed)),
        [
            "ping",
            "stop_reason \"error\"",
            "error: error_message \"internal_error\"",
            "[DONE]"
        ]
    );
    let wrong = send(&server, &agent, decision("x", true)).await;
    let expected = format!("Invalid tool call IDs. Expected '['{call}']', but received '['x']'.");
    assert_eq!(detail(&wrong), (400, expected.as_str()));
    let state = format!("/v1/agents/{agent}?include=agent.pending_approval");
    let state = server.get(&state).await.body;
    assert_eq!(state["pending_approval"], *request(&asked));
    // A client that tries an answered decision again goes on.
    assert_eq!(
        send(&server, &agent, decision(call, true)).await.status,
        200
    );
    assert_eq!(
        send(&server, &agent, decision(call, true)).await.status,
        200
    );
}

#[tokio::test]
async fn cancelling_closes_an_open_request_with_denials() {
    let server = TestServer::start().await;
    let agent = careful(&server).await;
    let asked = say(&server, &agent, "call secret\ncall dice").await;
    let cancelled = server.post(&path(&agent, "/cancel"), &json!({})).await;
    let run = text(&request(&asked)["run_id"]);
    assert_eq!(cancelled.body, json!({ run: "cancelled" }));
    let listed = server.get(&path(&agent, "?limit=1")).await.body;
    let returns = listed[0]["tool_returns"].as_array().unwrap();
    assert_eq!(returns.len(), 2, "{listed}");
    assert!(returns.iter().all(|one| one["tool_return"]
        == "Error: request to call tool denied. User reason: The user cancelled the request, so the tool call was denied."));
    assert_eq!(stop(&say(&server, &agent, "say hi").await), "end_turn");
}

#[tokio::test]
async fn the_client_runs_its_own_tools() {
    let server = TestServer::start().await;
    let agent = careful(&server).await;
    let body = json!({
        "input": "call mine with {\"x\": 1}", "client_tools": [{ "name": "mine", "description": "Mine." }],
    });
    let asked = send(&server, &agent, body).await.body;
    assert_eq!(stop(&asked), "requires_approval");
    let returned = json!({
        "tool_call_id": waiting(&asked), "tool_return": "forty", "status": "success",
    });
    let body = json!({ "messages": [{ "type": "tool_return", "tool_returns": [returned] }] });
    let answer = send(&server, &agent, body).await.body;
    assert_eq!(calls(&answer), [("mine", "forty")]);
    assert_eq!(answer["messages"][0]["stdout"], Value::Null);
    assert!(
        text(&answer["messages"][1]["content"]).contains("forty"),
        "{answer}"
    );
}

#[tokio::test]
async fn a_decision_in_the_older_form_is_understood() {
    let server = TestServer::start().await;
    let agent = careful(&server).await;
    let asked = say(&server, &agent, "call secret\nthen\nsay Done.").await;
    let body = json!({ "messages": [{
        "approve": false, "approval_request_id": request(&asked)["id"], "reason": "later",
    }] });
    let answer = send(&server, &agent, body).await.body;
    assert_eq!(
        calls(&answer),
        [(
            "secret",
            "Error: request to call tool denied. User reason: later"
        )]
    );
}
