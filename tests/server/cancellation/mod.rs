//! Runs that are cancelled, at every moment at which they can be; on both databases.
//!
//! - [`before`], [`model`], [`between`], [`tool`], [`waiting`]: while a run waits for its turn, for
//!   the model, for nothing, for a tool, for an approval.
//! - [`fetch`]: while a tool waits for an answer over HTTP.
//! - [`at_once`]: at the moment at which an answer to a request for approval arrives.
//! - [`refused`]: what is over, unknown, or of somebody else. [`often`]: at random moments.
//!   [`elsewhere`]: by another server.

mod at_once;
mod before;
mod between;
mod elsewhere;
mod fetch;
mod model;
mod often;
mod refused;
mod tool;
mod waiting;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::{
    clients::read,
    consistency::{agrees, ended, state},
    messages::{Event, agent, outline, path, say, stop, text, tool, tool_with},
    support::{Answer, TestServer},
};

/// The text of the result of a call that was denied because its run was cancelled.
const DENIED: &str = "Error: request to call tool denied. User reason: The user cancelled the \
    request, so the tool call was denied.";

/// An agent with a tool that gives its argument twice, one that waits for an approval, one that
/// computes until it is stopped, and more time for that than a test takes.
async fn busy_agent(server: &TestServer) -> String {
    let waits = json!({ "default_requires_approval": true });
    let tools = [
        tool(server, "twice", "return a + a").await,
        tool_with(server, "secret", "return 'the secret ' + a", waits).await,
        tool(server, "spin", "console.log('begun'); while (true) {}").await,
    ];
    let limits = json!({ "fuel": 1_000_000_000_000_u64 });
    let grant = json!({
        "component": "source", "tool": "spin", "capabilities": {}, "limits": limits,
    });
    server.grant(grant).await;
    agent(
        server,
        json!({ "tool_ids": tools, "parallel_tool_calls": true }),
    )
    .await
}

/// Cancels what goes on.
async fn cancel(server: &TestServer, agent: &str) -> Value {
    let cancelled = server.post(&path(agent, "/cancel"), &json!({})).await;
    assert_eq!(cancelled.status, 200, "{cancelled:?}");
    cancelled.body
}

/// Sends a body whose answer is waited for elsewhere.
pub(crate) fn sent(server: &TestServer, agent: &str, body: &Value) -> JoinHandle<Answer> {
    let request = server.request(Method::POST, &path(agent, "")).json(body);
    tokio::spawn(async move { Answer::read(request.send().await.unwrap()).await })
}

/// The runs of an agent that go on, as soon as there are so many.
pub(crate) async fn active(server: &TestServer, agent: &str, count: usize) -> Vec<String> {
    let active = format!("/v1/runs/?agent_id={agent}&active=true&order=asc");
    for _ in 0..1_000 {
        let runs = read(server, &active).await;
        let runs = crate::clients::each(&runs, "id");
        if runs.len() == count {
            return runs.into_iter().map(str::to_owned).collect();
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("there are never {count} runs that go on");
}

/// Waits until so many calls run in the sandbox.
pub(crate) async fn slots_in_use(server: &TestServer, count: usize) {
    let expected = format!("bulkhead_slots_in_use {count}\n");
    for _ in 0..1_000 {
        if server.get("/metrics").await.text.contains(&expected) {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("{expected} is never told");
}

/// Fails unless no call runs in the sandbox, not even for a moment longer.
async fn no_slot_is_taken(server: &TestServer) {
    let metrics = server.get("/metrics").await.text;
    assert!(metrics.contains("bulkhead_slots_in_use 0\n"), "{metrics}");
}

/// Fails unless a stream has ended as a cancelled one does: with this reason, once, and no more.
fn ends_cancelled(events: &[Event]) {
    let shown = outline(events);
    let reasons = shown
        .iter()
        .filter(|event| event.starts_with("stop_reason"));
    assert_eq!(reasons.count(), 1, "{shown:?}");
    assert_eq!(
        shown.last().unwrap(),
        "stop_reason \"cancelled\"",
        "{shown:?}"
    );
}

/// Fails unless a run was cancelled, the agent says so, everything agrees, and the next message is
/// taken at once.
async fn is_cancelled(server: &TestServer, agent: &str, run: &str) {
    let run = ended(server, run).await;
    let (status, reason) = (&run["status"], &run["stop_reason"]);
    assert_eq!(
        (status, reason),
        (&json!("cancelled"), &json!("cancelled")),
        "{run}"
    );
    let state = state(server, agent).await;
    assert_eq!(state["last_stop_reason"], "cancelled");
    assert_eq!(state["pending_approval"], Value::Null);
    agrees(server, agent).await;
    let next = say(server, agent, "say Fine.").await;
    assert_eq!(stop(&next), "end_turn");
    assert_eq!(text(&next["messages"][0]["content"]), "Fine.");
    agrees(server, agent).await;
}
