//! Messages to agents and what comes of them, with the offline model, which does what it is told.
//!
//! - [`blocking`], [`step_stream`], [`token_stream`], [`later`]: the forms of an answer.
//! - [`tools`], [`rules`], [`memory`]: what tools do and may do; what they wait for stands in
//!   [`crate::approvals`], and what stops them in [`crate::cancellation`].
//! - [`list`], [`runs`]: what is stored. [`rejoin`]: streams that are left and rejoined. [`leaving`]:
//!   clients that go away, and slow ones.
//! - [`preview`]: what a provider would get; [`skills`]: what one request adds to it. [`bad_input`]:
//!   what is refused, in which words.

mod bad_input;
mod blocking;
mod later;
mod leaving;
mod list;
pub(crate) mod memory;
mod preview;
mod rejoin;
mod rules;
mod runs;
mod skills;
mod step_stream;
mod token_stream;
mod tools;

use serde_json::{Value, json};

use crate::support::{Answer, TestServer};

/// Makes an agent; without tools that come with the server unless `more` says otherwise.
pub(crate) async fn agent(server: &TestServer, more: Value) -> String {
    let mut body = json!({
        "name": "Ada", "model": "bulkhead/scripted", "include_base_tools": false,
    });
    if let (Some(body), Value::Object(more)) = (body.as_object_mut(), more) {
        body.extend(more);
    }
    let made = server.post("/v1/agents/", &body).await;
    assert_eq!(made.status, 200, "{made:?}");
    text(&made.body["id"]).to_owned()
}

pub(crate) fn path(agent: &str, rest: &str) -> String {
    format!("/v1/agents/{agent}/messages{rest}")
}

/// Sends a body to an agent.
pub(crate) async fn send(server: &TestServer, agent: &str, body: Value) -> Answer {
    server.post(&path(agent, ""), &body).await
}

/// Sends a text that must be answered, and gives the answer.
pub(crate) async fn say(server: &TestServer, agent: &str, input: &str) -> Value {
    let answer = send(server, agent, json!({ "input": input })).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body
}

pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("a text: {value}"))
}

/// The kinds of messages, in order.
pub(crate) fn kinds(messages: &Value) -> Vec<&str> {
    let messages = messages.as_array().unwrap();
    messages
        .iter()
        .map(|message| text(&message["message_type"]))
        .collect()
}

/// Why an answer ended.
pub(crate) fn stop(answer: &Value) -> &str {
    text(&answer["stop_reason"]["stop_reason"])
}

/// The tools that were called and what each gave, in order.
pub(crate) fn calls(answer: &Value) -> Vec<(&str, &str)> {
    let messages = answer["messages"].as_array().unwrap();
    let returns = messages
        .iter()
        .filter(|message| message["message_type"] == "tool_return_message");
    returns
        .map(|message| (text(&message["name"]), text(&message["tool_return"])))
        .collect()
}

/// A JavaScript tool of this name; its body sees the argument `a`, a text that may be left out.
pub(crate) async fn tool(server: &TestServer, name: &str, body: &str) -> String {
    tool_with(server, name, body, json!({})).await
}

pub(crate) async fn tool_with(server: &TestServer, name: &str, body: &str, more: Value) -> String {
    let mut tool = json!({
        "source_type": "javascript",
        "source_code": format!("function {name}(a = '') {{ {body} }}"),
        "json_schema": {
            "name": name, "description": format!("Does {name}."),
            "parameters": {
                "type": "object",
                "properties": { "a": { "type": "string", "description": "The a." } },
                "required": [],
            },
        },
    });
    if let (Some(tool), Value::Object(more)) = (tool.as_object_mut(), more) {
        tool.extend(more);
    }
    let saved = server.post("/v1/tools/", &tool).await;
    assert_eq!(saved.status, 200, "{saved:?}");
    text(&saved.body["id"]).to_owned()
}

/// One event of a stream: its name, where it has one, and its data.
pub(crate) type Event = (Option<String>, Value);

/// The events of a stream that has ended; data that is no JSON as a text.
pub(crate) fn events(answer: &Answer) -> Vec<Event> {
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(
        answer.headers["content-type"],
        "text/event-stream; charset=utf-8"
    );
    assert!(answer.text.ends_with("\n\n"), "{answer:?}");
    answer.text.trim_end().split("\n\n").map(event).collect()
}

/// One event, as it was sent.
pub(crate) fn event(sent: &str) -> Event {
    let mut lines = sent.lines();
    let mut first = lines.next().unwrap();
    let name = first.strip_prefix("event: ").map(str::to_owned);
    if name.is_some() {
        first = lines.next().unwrap();
    }
    let data = first.strip_prefix("data: ").unwrap();
    assert_eq!(lines.next(), None, "{sent}");
    (
        name,
        serde_json::from_str(data).unwrap_or_else(|_| json!(data)),
    )
}

/// What each event is, and what it carries.
pub(crate) fn outline(events: &[Event]) -> Vec<String> {
    let events = events.iter().map(|(name, data)| {
        let kind = match data.as_str() {
            Some(end) => return end.to_owned(),
            None => text(&data["message_type"]),
        };
        let content = match kind {
            "reasoning_message" => data["reasoning"].to_string(),
            "assistant_message" | "user_message" => data["content"].to_string(),
            "tool_call_message" | "approval_request_message" => {
                let mut call = data["tool_call"].clone();
                call.as_object_mut().unwrap().remove("tool_call_id");
                call.to_string()
            }
            "tool_return_message" => data["tool_return"].to_string(),
            "stop_reason" => data["stop_reason"].to_string(),
            "error_message" => data["error_type"].to_string(),
            _ => String::new(),
        };
        let name = name
            .as_ref()
            .map_or_else(String::new, |name| format!("{name}: "));
        format!("{name}{kind} {content}").trim_end().to_owned()
    });
    events.collect()
}

/// Status and text of a refusal.
pub(crate) fn detail(answer: &Answer) -> (u16, &str) {
    let text = answer.body["detail"].as_str();
    let text = text.unwrap_or_else(|| panic!("{answer:?}"));
    (answer.status.as_u16(), text)
}
