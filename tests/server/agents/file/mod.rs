//! Agents as files, out of a server and into one.
//!
//! - [`export`], [`import`]: what is written, and what becomes of it. [`tools`]: the file's tools.
//! - [`sleeptime`]: agents that look after others. [`waiting`]: an open request for approval. [`bad_input`]: what is refused, in which words.

mod bad_input;
mod export;
mod import;
mod sleeptime;
mod tools;
mod waiting;

use reqwest::Method;
use serde_json::{Value, json};

use super::{SCRIPTED, agent, detail, each, made, on_both_databases, path, read, sorted, text};
use crate::support::{Answer, TestServer};

const BOUNDARY: &str = "a-line-between-parts";

/// The body of a form: the file, where there is one, and texts.
fn form(file: Option<&[u8]>, fields: &[(&str, &str)]) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, value) in fields {
        let part = format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
        );
        body.extend_from_slice(part.as_bytes());
    }
    if let Some(file) = file {
        let head = format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.af\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n"
        );
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(file);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
    body
}

/// Sends a form to the route of imports.
async fn send(server: &TestServer, body: Vec<u8>) -> Answer {
    let request = server.request(Method::POST, "/v1/agents/import");
    let request = request.header(
        "content-type",
        format!("multipart/form-data; boundary={BOUNDARY}"),
    );
    Answer::read(request.body(body).send().await.unwrap()).await
}

async fn import(server: &TestServer, document: &Value, fields: &[(&str, &str)]) -> Answer {
    send(server, form(Some(document.to_string().as_bytes()), fields)).await
}

/// Imports a document that must be taken, and gives its first agent with all that hangs on it.
async fn imported(server: &TestServer, document: &Value, fields: &[(&str, &str)]) -> Value {
    let answer = import(server, document, fields).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let id = text(&answer.body["agent_ids"][0]);
    let include = ["blocks", "tools", "tags", "secrets", "pending_approval"];
    let include = include.map(|relation| format!("include=agent.{relation}"));
    read(server, &format!("/v1/agents/{id}?{}", include.join("&"))).await
}

/// The document of an agent.
async fn exported(server: &TestServer, agent: &Value, query: &str) -> Value {
    read(server, &format!("{}/export{query}", path(agent))).await
}

/// A document of one agent that needs no provider; `more` are fields of the agent.
fn document(more: Value) -> Value {
    let mut agent = json!({
        "id": "agent-0", "name": "Ada", "include_base_tools": false, "model": SCRIPTED,
    });
    if let (Some(agent), Value::Object(more)) = (agent.as_object_mut(), more) {
        agent.extend(more);
    }
    json!({
        "agents": [agent], "groups": [], "blocks": [], "files": [], "sources": [], "tools": [],
        "mcp_servers": [],
    })
}

/// Says something to an agent, and gives the messages of the answer.
async fn say(server: &TestServer, agent: &Value, input: &str) -> Value {
    let messages = format!("{}/messages", path(agent));
    made(server, &messages, &json!({ "input": input })).await["messages"].clone()
}

/// How many things of each kind there are.
async fn counts(server: &TestServer) -> [Value; 3] {
    [
        read(server, "/v1/agents/count").await,
        read(server, "/v1/blocks/count").await,
        read(server, "/v1/tools/count").await,
    ]
}
