//! Messages to agents and what comes of them, with the offline model, which does what it is told.
//!
//! - [`blocking`], [`step_stream`], [`token_stream`]: the three forms of an answer.

mod blocking;

use serde_json::{Value, json};

use crate::support::{Answer, TestServer};

/// An agent without tools that come with the server.
async fn agent(server: &TestServer, more: Value) -> String {
    let mut body = json!({
        "name": "Ada", "model": "bulkhead/scripted", "include_base_tools": false,
    });
    if let (Some(body), Value::Object(more)) = (body.as_object_mut(), more) {
        body.extend(more);
    }
    let made = server.post("/v1/agents/", &body).await;
    assert_eq!(made.status, 200, "{made:?}");
    made.body["id"].as_str().unwrap().to_owned()
}

/// Sends a text and gives the whole answer.
async fn say(server: &TestServer, agent: &str, text: &str) -> Answer {
    let body = json!({ "input": text });
    server.post(&format!("/v1/agents/{agent}/messages"), &body).await
}

/// The kinds of messages, in order.
fn kinds(messages: &Value) -> Vec<&str> {
    let messages = messages.as_array().unwrap();
    messages
        .iter()
        .map(|message| message["message_type"].as_str().unwrap())
        .collect()
}

/// A JavaScript tool of this name; its body sees the argument `a`.
async fn tool(server: &TestServer, name: &str, body: &str) -> String {
    let saved = server
        .post(
            "/v1/tools/",
            &json!({
                "source_type": "javascript",
                "source_code": format!("function {name}(a) {{ {body} }}"),
                "json_schema": {
                    "name": name, "description": format!("Does {name}."),
                    "parameters": {
                        "type": "object",
                        "properties": { "a": { "type": "string", "description": "The a." } },
                    },
                },
            }),
        )
        .await;
    assert_eq!(saved.status, 200, "{saved:?}");
    saved.body["id"].as_str().unwrap().to_owned()
}
