//! What providers were asked in the scripts' talks: the whole history goes back to the model in each
//! vendor's form, with nothing lost and nothing added.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::providers::{Asked, Wire, unpacked};

/// The talks of the scripts, by format: of each the messages of its last request.
pub(crate) fn talks(asked: &[Asked]) -> BTreeMap<Wire, Vec<Value>> {
    let mut talks: BTreeMap<(Wire, String), Value> = BTreeMap::new();
    for asked in asked {
        let (system, messages) = parts(asked);
        // The address of an agent tells talks apart.
        let Some(agent) = agent_id(&system) else {
            continue;
        };
        let text = messages.to_string();
        if text.contains("Look up Paris") && text.contains("Thank you.") {
            assert!(system.contains("<memory_blocks>"), "{system}");
            assert!(system.contains("Name: Ada"), "{system}");
            talks.insert((asked.wire, agent), plain(messages));
        }
    }
    let mut by_wire: BTreeMap<Wire, Vec<Value>> = BTreeMap::new();
    for ((wire, _), messages) in talks {
        by_wire.entry(wire).or_default().push(messages);
    }
    by_wire
}

/// What the last request of a talk holds, in a format.
pub(crate) fn expected(wire: Wire) -> Value {
    match wire {
        Wire::Chat => chat(),
        Wire::Responses => responses(),
        Wire::Anthropic => anthropic(),
        Wire::Gemini => gemini(),
    }
}

fn agent_id(system: &str) -> Option<String> {
    let (_, after) = system.split_once("- AGENT_ID: ")?;
    Some(after.lines().next()?.to_owned())
}

/// The system prompt and the rest of a conversation.
fn parts(asked: &Asked) -> (String, Value) {
    let body = &asked.body;
    let first_of = |list: &Value| {
        let mut rest = list.as_array().cloned().unwrap_or_default();
        let first = if rest.is_empty() {
            Value::Null
        } else {
            rest.remove(0)
        };
        (
            first["content"].as_str().unwrap_or_default().to_owned(),
            json!(rest),
        )
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match asked.wire {
        Wire::Chat => first_of(&body["messages"]),
        Wire::Responses => first_of(&body["input"]),
        Wire::Anthropic => (text(&body["system"][0]["text"]), body["messages"].clone()),
        Wire::Gemini => {
            let system = text(&body["systemInstruction"]["parts"][0]["text"]);
            (system, body["contents"].clone())
        }
    }
}

/// Results without their time, calls' arguments without spaces, and no marks for the vendor's cache.
fn plain(value: Value) -> Value {
    if let Some(message) = unpacked(&value) {
        return json!(message);
    }
    match value {
        Value::Array(items) => items.into_iter().map(plain).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .filter(|(key, _)| key != "cache_control")
            .map(|(key, value)| match value {
                Value::String(text) if key == "arguments" => (key, json!(text.replace(' ', ""))),
                value => (key, plain(value)),
            })
            .collect(),
        other => other,
    }
}

const ASK: &str = "Look up Paris and Rome.";
const FOUND: &str = "Paris: sun; Rome: rain.";
const THANKS: &str = "Thank you.";
const SIGNATURE_OF_LOOK: &str = "c2lnbmF0dXJlLW9mLWxvb2s=";
const SIGNATURE_OF_KNOW: &str = "c2lnbmF0dXJlLW9mLWtub3c=";

fn chat() -> Value {
    let call = |id: &str, place: &str| {
        let arguments = format!("{{\"place\":\"{place}\"}}");
        json!({
            "id": id, "type": "function",
            "function": {"name": "look_up", "arguments": arguments},
        })
    };
    let calls = [call("call_paris", "Paris"), call("call_rome", "Rome")];
    json!([
        {"role": "user", "content": ASK},
        {"role": "assistant", "content": "Looking.", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "call_paris", "content": "sun"},
        {"role": "tool", "tool_call_id": "call_rome", "content": "rain"},
        {"role": "assistant", "content": FOUND},
        {"role": "user", "content": THANKS},
    ])
}

fn responses() -> Value {
    let reasoning = |text: &str, signature: &str| {
        json!({
            "type": "reasoning", "id": "rs_1",
            "summary": [{"type": "summary_text", "text": text}],
            "encrypted_content": signature,
        })
    };
    let call = |id: &str, place: &str| {
        let arguments = format!("{{\"place\":\"{place}\"}}");
        json!({
            "type": "function_call", "call_id": id, "name": "look_up", "arguments": arguments,
        })
    };
    let output = |id: &str, text: &str| json!({"type": "function_call_output", "call_id": id, "output": text});
    json!([
        {"role": "user", "content": ASK},
        reasoning("I must look at both.", SIGNATURE_OF_LOOK),
        {"role": "assistant", "content": "Looking."},
        call("call_paris", "Paris"),
        call("call_rome", "Rome"),
        output("call_paris", "sun"),
        output("call_rome", "rain"),
        reasoning("Now I know.", SIGNATURE_OF_KNOW),
        {"role": "assistant", "content": FOUND},
        {"role": "user", "content": THANKS},
    ])
}

fn anthropic() -> Value {
    let text = |text: &str| json!({"type": "text", "text": text});
    let thinking = |text: &str, signature: &str| json!({"type": "thinking", "thinking": text, "signature": signature});
    let call = |id: &str, place: &str| json!({"type": "tool_use", "id": id, "name": "look_up", "input": {"place": place}});
    let result = |id: &str, said: &str| json!({"type": "tool_result", "tool_use_id": id, "content": [text(said)]});
    json!([
        {"role": "user", "content": [text(ASK)]},
        {"role": "assistant", "content": [
            thinking("I must look at both.", SIGNATURE_OF_LOOK),
            text("Looking."),
            call("call_paris", "Paris"),
            call("call_rome", "Rome"),
        ]},
        {"role": "user", "content": [result("call_paris", "sun"), result("call_rome", "rain")]},
        {"role": "assistant", "content": [
            thinking("Now I know.", SIGNATURE_OF_KNOW),
            text(FOUND),
        ]},
        {"role": "user", "content": [text(THANKS)]},
    ])
}

fn gemini() -> Value {
    let call = |place: &str| json!({"name": "look_up", "args": {"place": place}});
    let result =
        |said: &str| json!({"functionResponse": {"name": "look_up", "response": {"output": said}}});
    json!([
        {"role": "user", "parts": [{"text": ASK}]},
        {"role": "model", "parts": [
            {"text": "Looking."},
            {"functionCall": call("Paris"), "thoughtSignature": SIGNATURE_OF_LOOK},
            {"functionCall": call("Rome")},
        ]},
        {"role": "user", "parts": [result("sun"), result("rain")]},
        {"role": "model", "parts": [{"text": FOUND, "thoughtSignature": SIGNATURE_OF_KNOW}]},
        {"role": "user", "parts": [{"text": THANKS}]},
    ])
}
