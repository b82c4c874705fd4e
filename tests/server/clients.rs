//! What clients of the V1 API do again and again.

use bulkhead_store::testing::Kind;
use serde_json::{Value, json};

use crate::support::{Answer, TestServer};

/// The model that needs no provider.
pub(crate) const SCRIPTED: &str = "bulkhead/scripted";
/// A random part of an id that nothing has.
pub(crate) const NOBODY: &str = "00000000-0000-4000-8000-000000000000";

/// A server on each database that there is.
pub(crate) async fn on_both_databases() -> Vec<TestServer> {
    let mut servers = Vec::new();
    for kind in [Kind::Sqlite, Kind::Postgres] {
        servers.extend(TestServer::start_kind(kind).await);
    }
    servers
}

/// Posts what must be taken.
pub(crate) async fn made(server: &TestServer, path: &str, body: &Value) -> Value {
    let made = server.post(path, body).await;
    assert_eq!(made.status, 200, "{path}: {made:?}");
    made.body
}

/// Reads what must be there.
pub(crate) async fn read(server: &TestServer, path: &str) -> Value {
    let answer = server.get(path).await;
    assert_eq!(answer.status, 200, "{path}: {answer:?}");
    answer.body
}

/// Changes what must be taken.
pub(crate) async fn patched(server: &TestServer, path: &str, body: &Value) -> Value {
    let answer = server.patch(path, body).await;
    assert_eq!(answer.status, 200, "{path}: {answer:?}");
    answer.body
}

/// The id of a new agent with the model that needs no provider.
pub(crate) async fn agent(server: &TestServer, mut body: Value) -> String {
    if body["model"].is_null() {
        body["model"] = json!(SCRIPTED);
    }
    let made = made(server, "/v1/agents/", &body).await;
    text(&made["id"]).to_owned()
}

/// Sends a text to a path of messages and waits for what comes of it.
pub(crate) async fn told(server: &TestServer, path: &str, input: &str) -> Value {
    let body = json!({ "input": input, "streaming": false });
    made(server, path, &body).await
}

/// What an answer's assistant says.
pub(crate) fn said(response: &Value) -> Vec<&str> {
    let messages = response["messages"].as_array().unwrap();
    let said = messages
        .iter()
        .filter(|message| message["message_type"] == "assistant_message");
    said.map(|message| text(&message["content"])).collect()
}

/// The data of the events of a stream that has ended; what is no JSON as a text.
pub(crate) fn events(answer: &Answer) -> Vec<Value> {
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(
        answer.headers["content-type"],
        "text/event-stream; charset=utf-8"
    );
    let lines = answer
        .text
        .lines()
        .filter_map(|line| line.strip_prefix("data: "));
    lines
        .map(|data| serde_json::from_str(data).unwrap_or_else(|_| json!(data)))
        .collect()
}

pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("a text: {value}"))
}

/// The texts of a field of every entry.
pub(crate) fn each<'a>(list: &'a Value, field: &str) -> Vec<&'a str> {
    let entries = list.as_array().unwrap_or_else(|| panic!("a list: {list}"));
    entries.iter().map(|entry| text(&entry[field])).collect()
}

/// Status and text of a refusal.
pub(crate) fn detail(answer: &Answer) -> (u16, &str) {
    let text = answer.body["detail"].as_str();
    let text = text.unwrap_or_else(|| panic!("{answer:?}"));
    (answer.status.as_u16(), text)
}
