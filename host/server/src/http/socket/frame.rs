//! The frames of a socket: what clients send, and what is no event of what they get.

use bulkhead_domain::id::RunId;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::contract::{
    Refusal,
    body::{self, Schema},
};

/// The fields of a decision; what else stands in its frame are those of the request.
const OF_DECISION: [&str; 7] = [
    "approvals",
    "approve",
    "approval_request_id",
    "reason",
    "tool_returns",
    "otid",
    "group_id",
];

/// What a client wants, with the body of the HTTP request that means the same.
#[derive(Debug, PartialEq)]
pub(super) enum Command {
    /// Messages, or a decision.
    Send(Value),
    /// To cancel runs.
    Cancel(Value),
    /// The events of a run in the background.
    Follow(Value),
}

/// How a client calls its frame, in what answers it.
pub(super) type RequestId = Option<String>;

/// What the schemas check of every frame.
#[derive(Deserialize)]
struct SocketFrame {
    r#type: Kind,
    request_id: RequestId,
}

impl Schema for SocketFrame {
    const NAME: &str = "SocketFrame";
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Message,
    Approval,
    ToolReturn,
    Cancel,
    Follow,
}

/// Reads a frame; what is wrong with it is said in answer to its `request_id`, where it has one.
pub(super) fn read(text: &str) -> (RequestId, Result<Command, Refusal>) {
    let value = match body::parsed(text.as_bytes()) {
        Ok(value) => value,
        Err(refusal) => return (None, Err(refusal)),
    };
    match body::read::<SocketFrame>(&value) {
        Ok(frame) => (frame.request_id, Ok(command(frame.r#type, value))),
        Err(refusal) => {
            // The frame's fault may lie elsewhere.
            let id = body::read::<Called>(&value).ok();
            (id.and_then(|called| called.request_id), Err(refusal))
        }
    }
}

/// What of a frame says how it is called.
#[derive(Deserialize)]
struct Called {
    request_id: RequestId,
}

impl Schema for Called {
    const NAME: &str = "SocketRequest";
}

fn command(kind: Kind, value: Value) -> Command {
    let mut fields = match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    fields.remove("request_id");
    let name = fields.remove("type").unwrap_or_default();
    match kind {
        Kind::Message => Command::Send(Value::Object(fields)),
        Kind::Approval | Kind::ToolReturn => Command::Send(decision(name, fields)),
        Kind::Cancel => Command::Cancel(Value::Object(fields)),
        Kind::Follow => Command::Follow(Value::Object(fields)),
    }
}

/// The body of a request that brings a decision, and after it the messages that ride along.
fn decision(name: Value, mut fields: Map<String, Value>) -> Value {
    let mut decision = Map::new();
    decision.insert("type".to_owned(), name);
    for field in OF_DECISION {
        if let Some(value) = fields.remove(field) {
            decision.insert(field.to_owned(), value);
        }
    }
    let mut messages = vec![Value::Object(decision)];
    match fields.remove("messages") {
        None | Some(Value::Null) => {}
        Some(Value::Array(more)) => messages.extend(more),
        // The schema of the request says what is wrong with it.
        Some(other) => {
            fields.insert("messages".to_owned(), other);
            return Value::Object(fields);
        }
    }
    fields.insert("messages".to_owned(), Value::Array(messages));
    Value::Object(fields)
}

/// An event of a stream: its JSON, an object, and in answer to what.
pub(super) fn event(data: &str, id: &RequestId) -> String {
    let (Some(id), Some(open)) = (id, data.strip_suffix('}')) else {
        return data.to_owned();
    };
    format!("{open},\"request_id\":{}}}", json!(id))
}

/// What answers a frame that is refused: what an HTTP request would have been answered.
pub(super) fn refusal(refusal: &Refusal, id: &RequestId) -> String {
    let (status, body) = refusal.parts();
    let frame = json!({ "message_type": "refusal", "status": status.as_u16(), "body": body });
    event(&frame.to_string(), id)
}

/// What answers a cancel: what became of each run.
pub(super) fn cancelled(runs: &Value, id: &RequestId) -> String {
    let frame = json!({ "message_type": "cancelled", "runs": runs });
    event(&frame.to_string(), id)
}

/// What follows the last event of a stream.
pub(super) fn end(run_id: RunId, id: &RequestId) -> String {
    let frame = json!({ "message_type": "stream_end", "run_id": run_id });
    event(&frame.to_string(), id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_is_a_message_with_those_that_ride_along_behind_it() {
        let frame = json!({
            "type": "approval", "request_id": "7", "approvals": [], "stream_tokens": true,
            "messages": [{ "role": "user", "content": "go on" }],
        });
        let (id, command) = read(&frame.to_string());
        assert_eq!(id.as_deref(), Some("7"));
        let expected = json!({
            "messages": [
                { "type": "approval", "approvals": [] }, { "role": "user", "content": "go on" },
            ],
            "stream_tokens": true,
        });
        assert_eq!(command.unwrap(), Command::Send(expected));
    }

    #[test]
    fn a_frame_that_is_wrong_is_answered_where_its_id_can_be_read() {
        for (text, id, status) in [
            ("{", None, 422),
            ("[]", None, 422),
            ("{}", None, 422),
            (r#"{"type": "dance", "request_id": "7"}"#, Some("7"), 422),
            (r#"{"type": "cancel", "request_id": 7}"#, None, 422),
        ] {
            let (found, command) = read(text);
            let refused = command.expect_err(text);
            assert_eq!(
                (found.as_deref(), refused.parts().0.as_u16()),
                (id, status),
                "{text}"
            );
        }
    }

    #[test]
    fn an_event_stays_as_it_is_but_for_the_id() {
        let data = r#"{"message_type":"ping","seq_id":null}"#;
        assert_eq!(event(data, &None), data);
        assert_eq!(
            event(data, &Some("a\"b".to_owned())),
            r#"{"message_type":"ping","seq_id":null,"request_id":"a\"b"}"#
        );
    }
}
