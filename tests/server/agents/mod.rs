//! Agents, and what hangs on them, as clients of the V1 API make, read and change them.
//!
//! - [`create`], [`read`], [`list`], [`update`]: agents, on both databases.
//! - [`blocks`], [`tools`], [`identities`], [`archival`]: what hangs on them.
//! - [`file`]: agents as files.
//! - [`bad_input`]: what is refused, in which words.

mod archival;
mod bad_input;
mod blocks;
mod create;
mod file;
mod identities;
mod list;
mod read;
mod tools;
mod update;

use bulkhead_store::testing::Kind;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, TestServer};

/// The model that needs no provider.
const SCRIPTED: &str = "bulkhead/scripted";
/// A random part of an id that nothing has.
const NOBODY: &str = "00000000-0000-4000-8000-000000000000";

/// A server on each database that there is.
async fn on_both_databases() -> Vec<TestServer> {
    let mut servers = Vec::new();
    for kind in [Kind::Sqlite, Kind::Postgres] {
        servers.extend(TestServer::start_kind(kind).await);
    }
    servers
}

/// Makes something that must be taken.
async fn made(server: &TestServer, path: &str, body: &Value) -> Value {
    let made = server.post(path, body).await;
    assert_eq!(made.status, 200, "{made:?}");
    made.body
}

/// Makes an agent that must be taken; it has the model that needs no provider.
async fn agent(server: &TestServer, mut body: Value) -> Value {
    if body["llm_config"].is_null() {
        body["model"] = json!(SCRIPTED);
    }
    made(server, "/v1/agents/", &body).await
}

/// The path of an agent.
fn path(agent: &Value) -> String {
    format!("/v1/agents/{}", text(&agent["id"]))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("a text: {value}"))
}

/// What an answer that must be there holds.
async fn read(server: &TestServer, path: &str) -> Value {
    let answer = server.get(path).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body
}

/// Changes something; it must be taken.
async fn patched(server: &TestServer, path: &str, body: &Value) -> Value {
    let answer = server.patch(path, body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body
}

/// As [`patched`], without a body.
async fn touched(server: &TestServer, path: &str) -> Answer {
    let request = server.request(Method::PATCH, path);
    Answer::read(request.send().await.unwrap()).await
}

/// The texts of a field of every entry.
fn each<'a>(list: &'a Value, field: &str) -> Vec<&'a str> {
    let entries = list.as_array().unwrap_or_else(|| panic!("a list: {list}"));
    entries.iter().map(|entry| text(&entry[field])).collect()
}

/// The same in alphabetical order, for lists that have none of their own.
fn sorted<'a>(list: &'a Value, field: &str) -> Vec<&'a str> {
    let mut texts = each(list, field);
    texts.sort_unstable();
    texts
}

/// Status and text of a refusal of the contract.
fn detail(answer: &Answer) -> (u16, &str) {
    let text = answer.body["detail"].as_str();
    let text = text.unwrap_or_else(|| panic!("{answer:?}"));
    (answer.status.as_u16(), text)
}

/// Saves a tool that needs no Python.
async fn tool(server: &TestServer, name: &str, more: Value) -> Value {
    let a = json!({ "type": "integer", "description": "The a." });
    let mut body = json!({
        "source_type": "javascript",
        "source_code": format!("function {name}(a) {{ return a + 1 }}"),
        "json_schema": {
            "name": name, "description": format!("Adds one, as {name}."),
            "parameters": { "type": "object", "properties": { "a": a }, "required": ["a"] },
        },
    });
    if let (Some(body), Value::Object(more)) = (body.as_object_mut(), more) {
        body.extend(more);
    }
    made(server, "/v1/tools/", &body).await
}

/// Status and text of the refusal of a body.
async fn post_detail(server: &TestServer, path: &str, body: &Value) -> (u16, String) {
    let refused = server.post(path, body).await;
    let (status, text) = detail(&refused);
    (status, text.to_owned())
}
