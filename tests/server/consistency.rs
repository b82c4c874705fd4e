//! What must hold of an agent whatever became of its runs, and whether anything changed at all.

use serde_json::Value;

use crate::{
    clients::read,
    messages::{path, text},
    support::TestServer,
};

/// An agent with its open request for approval.
pub(crate) async fn state(server: &TestServer, agent: &str) -> Value {
    read(
        server,
        &format!("/v1/agents/{agent}?include=agent.pending_approval"),
    )
    .await
}

/// All messages of an agent's own thread, the oldest first.
pub(crate) async fn history(server: &TestServer, agent: &str) -> Value {
    let all = "?order=asc&limit=1000&conversation_id=default";
    read(server, &path(agent, all)).await
}

/// A run, as soon as it has ended.
pub(crate) async fn ended(server: &TestServer, run: &str) -> Value {
    for _ in 0..1_000 {
        let run = read(server, &format!("/v1/runs/{run}")).await;
        if !run["completed_at"].is_null() {
            return run;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("the run {run} does not end");
}

/// Fails unless the messages that are stored are those that the agent has in its context, in their
/// order, each call has one result or waits with an open request, and the context can be read. For
/// an agent whose context was never made shorter, and of which no run goes on.
pub(crate) async fn agrees(server: &TestServer, agent: &str) {
    let state = state(server, agent).await;
    let history = history(server, agent).await;
    let mut stored = texts(&history, "id");
    // One stored message may be shown as several.
    stored.dedup();
    let in_context = list(&state["message_ids"]);
    assert_eq!(stored, in_context.iter().map(text).collect::<Vec<_>>());

    let mut open = Vec::new();
    for message in list(&history) {
        match text(&message["message_type"]) {
            "tool_call_message" | "approval_request_message" => {
                open.extend(texts(&message["tool_calls"], "tool_call_id"));
            }
            "tool_return_message" => {
                for id in texts(&message["tool_returns"], "tool_call_id") {
                    let called = open.iter().position(|call| *call == id);
                    open.remove(called.unwrap_or_else(|| panic!("nobody called {id}")));
                }
            }
            _ => {}
        }
    }
    let request = &state["pending_approval"];
    if request.is_null() {
        assert!(open.is_empty(), "without a result: {open:?} in {history}");
    } else {
        let last = list(&history).last().unwrap();
        assert_eq!(last, request);
        let waiting = texts(&last["tool_calls"], "tool_call_id");
        assert!(open.ends_with(&waiting), "{open:?} in {history}");
    }
    has_context(server, agent, &stored).await;
}

/// Fails unless the context can be read, holds these messages, and its numbers add up.
async fn has_context(server: &TestServer, agent: &str, ids: &[&str]) {
    let context = read(server, &format!("/v1/agents/{agent}/context")).await;
    assert_eq!(context["num_messages"], ids.len(), "{context}");
    assert_eq!(texts(&context["messages"], "id"), ids[1..], "{context}");
    let tokens = context.as_object().unwrap().iter();
    let tokens = tokens.filter(|(name, _)| name.starts_with("num_tokens_"));
    let sum: i64 = tokens.map(|(_, count)| count.as_i64().unwrap()).sum();
    assert_eq!(context["context_window_size_current"], sum, "{context}");
}

/// What clients can see of an agent at one moment.
pub(crate) struct Snapshot {
    agent: String,
    state: Value,
    history: Value,
    runs: Value,
}

impl Snapshot {
    /// Of this agent, now.
    pub(crate) async fn of(server: &TestServer, agent: &str) -> Self {
        Self {
            agent: agent.to_owned(),
            state: state(server, agent).await,
            history: history(server, agent).await,
            runs: runs(server, agent).await,
        }
    }

    /// Fails if anything changed since.
    pub(crate) async fn is_now(&self, server: &TestServer) {
        let new = self.is_now_but_for_runs(server).await;
        assert!(new.is_empty(), "{new:?}");
    }

    /// Fails if anything changed since but that there are new runs, which it gives, the oldest
    /// first: a request that is refused by the agent has one that failed.
    pub(crate) async fn is_now_but_for_runs(&self, server: &TestServer) -> Vec<Value> {
        let now = Self::of(server, &self.agent).await;
        assert_eq!(now.history, self.history);
        assert_eq!(now.state, self.state);
        let (before, now) = (list(&self.runs), list(&now.runs));
        assert!(now.starts_with(before), "{before:?}, now {now:?}");
        now[before.len()..].to_vec()
    }
}

async fn runs(server: &TestServer, agent: &str) -> Value {
    let all = format!("/v1/runs/?agent_id={agent}&order=asc&limit=1000");
    read(server, &all).await
}

fn list(value: &Value) -> &Vec<Value> {
    value
        .as_array()
        .unwrap_or_else(|| panic!("a list: {value}"))
}

fn texts<'a>(value: &'a Value, field: &str) -> Vec<&'a str> {
    list(value)
        .iter()
        .map(|entry| text(&entry[field]))
        .collect()
}
