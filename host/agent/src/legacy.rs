//! What differs for agents of the older types, which run on the same loop: every reply is a tool
//! call, they think in an argument, and a call goes on only where it asks to.

use bulkhead_domain::{Part, ToolCall};
use serde_json::{Map, Value, json};

const HEARTBEAT: &str = "request_heartbeat";
const THINKING: &str = "thinking";

/// Adds the parameters that older types have beside a tool's own.
pub(crate) fn extend(parameters: &mut Value, exits: bool, thinking: bool) {
    let Some(schema) = parameters.as_object_mut() else {
        return;
    };
    let mut required = Vec::new();
    let mut properties = Map::new();
    if thinking {
        properties.insert(
            THINKING.to_owned(),
            json!({"type": "string", "description":
                "Your private thoughts about this call. Nobody else reads them."}),
        );
        required.push(json!(THINKING));
    }
    if let Some(Value::Object(own)) = schema.remove("properties") {
        properties.extend(own);
    }
    if let Some(Value::Array(own)) = schema.remove("required") {
        required.extend(own);
    }
    if !exits {
        properties.insert(
            HEARTBEAT.to_owned(),
            json!({"type": "boolean", "description":
                "Set to true to be asked again right after this call, for example to use its result."}),
        );
        required.push(json!(HEARTBEAT));
    }
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    schema.insert("required".to_owned(), Value::Array(required));
}

/// A call of an agent of an older type, taken apart.
pub(crate) struct Taken {
    /// As it is stored: without thoughts, with the wish to go on.
    pub(crate) call: ToolCall,
    /// The thoughts.
    pub(crate) thinking: Option<Part>,
    /// Whether the model wants to be asked again.
    pub(crate) heartbeat: bool,
}

/// Takes thoughts and the wish to go on out of a call. A call whose arguments are no JSON object
/// stays as it is.
pub(crate) fn take(call: ToolCall) -> Taken {
    let Ok(mut arguments) = serde_json::from_str::<Map<String, Value>>(&call.arguments) else {
        return Taken {
            call,
            thinking: None,
            heartbeat: false,
        };
    };
    let thinking = match arguments.remove(THINKING) {
        Some(Value::String(text)) if !text.is_empty() => Some(Part::Reasoning {
            is_native: false,
            reasoning: text,
            signature: None,
        }),
        _ => None,
    };
    let heartbeat = is_wish(arguments.get(HEARTBEAT));
    arguments.insert(HEARTBEAT.to_owned(), Value::Bool(heartbeat));
    Taken {
        call: ToolCall {
            arguments: Value::Object(arguments).to_string(),
            ..call
        },
        thinking,
        heartbeat,
    }
}

/// Models write truth values as text now and then.
fn is_wish(value: Option<&Value>) -> bool {
    match value {
        Some(Value::Bool(wish)) => *wish,
        Some(Value::String(wish)) => wish.eq_ignore_ascii_case("true"),
        _ => false,
    }
}

/// Whether the model wants to be asked again after this call, which is stored.
pub(crate) fn wants_heartbeat(call: &ToolCall) -> bool {
    let arguments = serde_json::from_str::<Map<String, Value>>(&call.arguments);
    arguments.is_ok_and(|arguments| is_wish(arguments.get(HEARTBEAT)))
}

/// The arguments that the tool itself gets.
pub(crate) fn strip(arguments: &mut Map<String, Value>) {
    arguments.remove(HEARTBEAT);
    arguments.remove(THINKING);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts_and_heartbeats_are_parameters_of_older_types() {
        let mut parameters = json!({"type": "object",
            "properties": {"x": {"type": "string"}}, "required": ["x"]});
        extend(&mut parameters, false, true);
        assert_eq!(
            parameters["required"],
            json!(["thinking", "x", "request_heartbeat"])
        );
        let mut exit = json!({"type": "object", "properties": {}});
        extend(&mut exit, true, false);
        assert_eq!(exit["required"], json!([]));
    }

    #[test]
    fn a_call_is_stored_without_its_thoughts() {
        let call = |arguments: &str| ToolCall {
            id: "1".to_owned(),
            name: "t".to_owned(),
            arguments: arguments.to_owned(),
            signature: None,
        };
        let taken = take(call(
            r#"{"thinking":"hm","x":1,"request_heartbeat":"true"}"#,
        ));
        assert!(taken.heartbeat && taken.thinking.is_some());
        assert_eq!(taken.call.arguments, r#"{"request_heartbeat":true,"x":1}"#);
        let plain = take(call("{}"));
        assert!(!plain.heartbeat && plain.thinking.is_none());
        assert_eq!(plain.call.arguments, r#"{"request_heartbeat":false}"#);
        assert_eq!(take(call("no json")).call.arguments, "no json");
    }
}
