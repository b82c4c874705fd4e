//! Calls that wait for a person, or for the client to run them; on both databases.
//!
//! - [`answers`]: what becomes of calls that are approved, denied, or answered by the client.
//! - [`client_tools`]: tools of the client. [`streamed`]: requests and answers in streams.
//! - [`seen`]: what clients see of an open request. [`switched`]: when calls wait.
//! - [`kept`]: what can't be done to an open request but by answering it. [`refused`]: answers that fit no request. [`failing`]: a model that fails after an answer.

mod answers;
mod client_tools;
mod failing;
mod kept;
mod refused;
mod seen;
mod streamed;
mod switched;

use serde_json::{Value, json};

use crate::{
    messages::{agent, detail, kinds, say, send, stop, text, tool, tool_with},
    support::{Answer, TestServer},
};

/// A request that has the agent call its secret and then say that it is done.
const ASK: &str = "call secret with {\"a\":\"x\"}\nthen\nsay Done.";

/// An agent with a tool that waits (`secret`) and one that does not (`dice`).
async fn careful(server: &TestServer) -> String {
    careful_with(server, json!({})).await
}

async fn careful_with(server: &TestServer, more: Value) -> String {
    let waits = json!({ "default_requires_approval": true });
    let secret = tool_with(server, "secret", "return 'the secret ' + a", waits).await;
    let dice = tool(server, "dice", "return 'four'").await;
    let mut body = json!({ "tool_ids": [secret, dice], "parallel_tool_calls": true });
    if let (Some(body), Value::Object(more)) = (body.as_object_mut(), more) {
        body.extend(more);
    }
    agent(server, body).await
}

/// Has the agent call a tool that waits; its answer.
async fn ask(server: &TestServer, agent: &str, input: &str) -> Value {
    let asked = say(server, agent, input).await;
    assert_eq!(stop(&asked), "requires_approval", "{asked}");
    asked
}

/// The request for approval of an answer.
fn request(answer: &Value) -> &Value {
    let messages = answer["messages"].as_array().unwrap();
    let last = messages.last().unwrap();
    assert_eq!(last["message_type"], "approval_request_message", "{answer}");
    last
}

/// The calls of an answer that wait.
fn waiting(answer: &Value) -> Vec<&str> {
    let calls = request(answer)["tool_calls"].as_array().unwrap();
    calls
        .iter()
        .map(|call| text(&call["tool_call_id"]))
        .collect()
}

fn approve(call: &str) -> Value {
    json!({ "type": "approval", "tool_call_id": call, "approve": true })
}

fn deny(call: &str, reason: &str) -> Value {
    json!({ "type": "approval", "tool_call_id": call, "approve": false, "reason": reason })
}

/// A result that the client computed itself.
fn computed(call: &str, result: &str) -> Value {
    json!({ "type": "tool", "tool_call_id": call, "tool_return": result, "status": "success" })
}

/// A body that answers waiting calls.
fn answers(approvals: &[Value]) -> Value {
    json!({ "messages": [{ "type": "approval", "approvals": approvals }] })
}

/// As [`answers`], with a message of the user that rides along.
fn answers_and_says(approvals: &[Value], input: &str) -> Value {
    let mut body = answers(approvals);
    let says = json!({ "type": "message", "role": "user", "content": input });
    body["messages"].as_array_mut().unwrap().push(says);
    body
}

/// Answers waiting calls; what comes of it.
async fn answer(server: &TestServer, agent: &str, approvals: &[Value]) -> Value {
    taken(send(server, agent, answers(approvals)).await)
}

fn taken(answer: Answer) -> Value {
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body
}

/// The results in the message of results that begins an answer: each call's id, status and text.
fn results(answer: &Value) -> Vec<(&str, &str, &str)> {
    let message = &answer["messages"][0];
    assert_eq!(message["message_type"], "tool_return_message", "{answer}");
    let returns = message["tool_returns"].as_array().unwrap();
    returns
        .iter()
        .map(|one| {
            (
                text(&one["tool_call_id"]),
                text(&one["status"]),
                text(&one["tool_return"]),
            )
        })
        .collect()
}

/// The kinds of all messages of an agent after the system message.
async fn stored_kinds(server: &TestServer, agent: &str) -> Vec<String> {
    let history = crate::consistency::history(server, agent).await;
    let kinds = kinds(&history).into_iter().skip(1);
    kinds.map(str::to_owned).collect()
}

/// How often a tool ran, as the receipts say.
async fn ran(server: &TestServer, tool: &str) -> usize {
    let receipts = crate::clients::read(server, "/v1/receipts").await;
    let receipts = receipts.as_array().unwrap().iter();
    receipts.filter(|receipt| receipt["tool"] == tool).count()
}

/// The text of a denial.
fn denied(reason: &str) -> String {
    format!("Error: request to call tool denied. User reason: {reason}")
}

/// A refusal, which must have this status and text.
fn refused(answer: &Answer, status: u16, expected: &str) {
    assert_eq!(detail(answer), (status, expected));
}
