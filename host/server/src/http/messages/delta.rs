//! Pieces of an answer as events of a stream.

use bulkhead_agent::{Delta, Piece};
use bulkhead_domain::id::MessageId;
use serde_json::{Value, json};
use uuid::Uuid;

use super::view::{date, otid, source};

/// A piece with the fields of the contract. A call that waits is shown under the id of the request
/// for approval that will be stored: the answer's, less one.
pub(super) fn event(delta: &Delta) -> Value {
    let own = (delta.message_id, otid(delta.message_id, delta.index));
    let request = || {
        let id = before(delta.message_id);
        (id, id.to_string())
    };
    let (kind, (id, otid), fields) = match &delta.piece {
        Piece::Reasoning { text, native } => (
            "reasoning_message",
            own,
            json!({ "source": source(*native), "reasoning": text, "signature": null }),
        ),
        Piece::Text(text) => ("assistant_message", own, json!({ "content": text })),
        Piece::Call {
            id,
            name,
            waits: false,
        } => {
            let call = json!({ "name": name, "tool_call_id": id });
            ("tool_call_message", own, twice(&call))
        }
        Piece::Arguments {
            id,
            json,
            waits: false,
        } => {
            let call = json!({ "arguments": json, "tool_call_id": id });
            ("tool_call_message", own, twice(&call))
        }
        Piece::Call { id, name, .. } => {
            let call = json!({ "name": name, "arguments": null, "tool_call_id": id });
            ("approval_request_message", request(), twice(&call))
        }
        Piece::Arguments { id, json, .. } => {
            let call = json!({ "name": null, "arguments": json, "tool_call_id": id });
            ("approval_request_message", request(), twice(&call))
        }
    };
    let mut event = json!({
        "id": id,
        "date": date(delta.at),
        "name": null,
        "message_type": kind,
        "otid": otid,
        "sender_id": null,
        "step_id": delta.step_id,
        "is_err": null,
        "seq_id": null,
        "run_id": delta.run_id,
    });
    if let (Some(event), Value::Object(fields)) = (event.as_object_mut(), fields) {
        event.extend(fields);
    }
    event
}

/// Newer and older clients look for the piece in different places.
fn twice(call: &Value) -> Value {
    json!({ "tool_call": call, "tool_calls": call })
}

/// The id before this one, taken as a number.
fn before(id: MessageId) -> MessageId {
    MessageId::from_uuid(Uuid::from_u128(id.uuid().as_u128().wrapping_sub(1)))
}

#[cfg(test)]
mod tests {
    use bulkhead_domain::{
        Timestamp,
        id::{RunId, StepId},
    };

    use super::*;

    fn shown(index: u8, piece: Piece) -> Value {
        event(&Delta {
            message_id: MessageId::from_uuid(Uuid::from_u128(0x73)),
            step_id: StepId::random(),
            run_id: RunId::random(),
            at: Timestamp::from_micros(0),
            index,
            piece,
        })
    }

    #[test]
    fn a_call_that_runs_carries_only_what_is_new() {
        let (id, name) = ("1".to_owned(), "roll".to_owned());
        let first = shown(
            1,
            Piece::Call {
                id: id.clone(),
                name,
                waits: false,
            },
        );
        assert_eq!(
            first["tool_call"],
            json!({ "name": "roll", "tool_call_id": "1" })
        );
        assert_eq!(first["tool_call"], first["tool_calls"]);
        assert_eq!(first["otid"], "00000000-0000-0000-0000-000000000001");
        let next = shown(
            1,
            Piece::Arguments {
                id,
                json: "{".to_owned(),
                waits: false,
            },
        );
        assert_eq!(
            next["tool_call"],
            json!({ "arguments": "{", "tool_call_id": "1" })
        );
        assert_eq!(next["id"], first["id"]);
    }

    #[test]
    fn a_call_that_waits_has_the_id_of_its_request() {
        let (id, name) = ("1".to_owned(), "roll".to_owned());
        let first = shown(
            1,
            Piece::Call {
                id,
                name,
                waits: true,
            },
        );
        assert_eq!(first["id"], "message-00000000-0000-0000-0000-000000000072");
        assert_eq!(first["otid"], first["id"]);
        assert_eq!(first["tool_call"]["arguments"], Value::Null);
    }
}
