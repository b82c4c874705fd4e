//! Anthropic's messages.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::{
    Format, Wire, named_events, pieces,
    plot::{EASY, KNOW, LOOK, Reply},
    talk::{Fault, Talk},
};

pub(super) const FORMAT: Format = Format {
    wire: Wire::Anthropic,
    key: ("x-api-key", ""),
    read,
    whole,
    events,
    refusal,
};

/// The list of models.
pub(super) fn models() -> Value {
    let id = "claude-sonnet-4-5-20250929";
    let model = json!({
        "type": "model", "id": id, "display_name": "Claude Sonnet 4.5",
        "created_at": "2025-09-29T00:00:00Z",
    });
    json!({"data": [model], "has_more": false, "first_id": id, "last_id": id})
}

fn read(body: &Value) -> Result<Talk, Fault> {
    let reasons = body["thinking"]["type"] == "enabled";
    let mut talk = Talk::new(reasons);
    let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    for (place, message) in messages.iter().enumerate() {
        let role = ["user", "assistant"][place % 2];
        let takes_turns = message["role"] == role;
        Fault::unless(takes_turns, || {
            format!("message {place} is not of the {role}")
        })?;
        let blocks = message["content"].as_array().map_or(&[][..], Vec::as_slice);
        Fault::unless(!blocks.is_empty(), || format!("message {place} is empty"))?;
        if role == "user" {
            user(&mut talk, blocks)?;
        } else {
            assistant(&mut talk, blocks)?;
        }
    }
    talk.end()?;
    budget(body, reasons)?;
    // With reasoning, an answer that waits for results begins with it.
    let waiting = messages.len() > 1 && !talk.results.is_empty();
    let first = waiting.then(|| &messages[messages.len() - 2]["content"][0]["type"]);
    let begins = first.is_none_or(|kind| !reasons || kind == "thinking");
    Fault::unless(begins, || format!("an answer that begins with {first:?}"))?;
    Ok(talk)
}

fn budget(body: &Value, reasons: bool) -> Result<(), Fault> {
    let most = body["max_tokens"].as_u64();
    let most = most.ok_or_else(|| Fault("no limit of tokens".to_owned()))?;
    let budget = body["thinking"]["budget_tokens"].as_u64().unwrap_or(0);
    Fault::unless(!reasons || (1_024..most).contains(&budget), || {
        format!("{budget} tokens of reasoning, {most} of the answer")
    })?;
    let is_warm = body["temperature"].is_null() || body["temperature"] == 1.0;
    Fault::unless(!reasons || is_warm, || {
        "reasoning with a temperature".to_owned()
    })
}

fn user(talk: &mut Talk, blocks: &[Value]) -> Result<(), Fault> {
    let mut text = Vec::new();
    for block in blocks {
        match block["type"].as_str() {
            Some("tool_result") => {
                Fault::unless(text.is_empty(), || "results after a text".to_owned())?;
                let id = block["tool_use_id"].as_str().unwrap_or_default();
                talk.result(id, &block["content"][0]["text"])?;
            }
            Some("text") => text.push(block["text"].as_str().unwrap_or_default()),
            _ => return Err(Fault(format!("an unknown block: {block}"))),
        }
    }
    if text.is_empty() {
        Ok(())
    } else {
        talk.user(&text.join("\n"))
    }
}

fn assistant(talk: &mut Talk, blocks: &[Value]) -> Result<(), Fault> {
    talk.model()?;
    for block in blocks {
        match block["type"].as_str() {
            Some("thinking") => {
                let known = [LOOK, KNOW, EASY].iter().any(|thought| {
                    block["thinking"] == thought.text && block["signature"] == thought.signature
                });
                Fault::unless(known, || format!("an invalid signature: {block}"))?;
            }
            Some("tool_use") => {
                talk.call(block["id"].as_str().unwrap_or_default(), &block["input"])?;
            }
            Some("text") => {}
            _ => return Err(Fault(format!("an unknown block: {block}"))),
        }
    }
    Ok(())
}

fn content(reply: &Reply) -> Vec<Value> {
    let mut blocks = Vec::new();
    if let Some(thought) = reply.thought {
        blocks.push(json!({
            "type": "thinking", "thinking": thought.text, "signature": thought.signature,
        }));
    }
    blocks.push(json!({"type": "text", "text": reply.text}));
    blocks.extend(reply.places.iter().map(|place| {
        let id = Reply::id(place);
        json!({"type": "tool_use", "id": id, "name": "look_up", "input": {"place": place}})
    }));
    blocks
}

fn whole(body: &Value, reply: &Reply) -> Value {
    let stop = if reply.places.is_empty() {
        "end_turn"
    } else {
        "tool_use"
    };
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": body["model"],
        "content": content(reply), "stop_reason": stop, "stop_sequence": null,
        "usage": {
            "input_tokens": 60, "cache_read_input_tokens": 40, "cache_creation_input_tokens": 10,
            "output_tokens": 20,
        },
    })
}

fn events(body: &Value, reply: &Reply) -> String {
    let message = whole(body, reply);
    let mut begun = message.clone();
    begun["content"] = json!([]);
    begun["stop_reason"] = Value::Null;
    begun["usage"]["output_tokens"] = json!(1);
    let mut events = vec![
        json!({"type": "message_start", "message": begun}),
        json!({"type": "ping"}),
    ];
    for (index, block) in content(reply).iter().enumerate() {
        let mut empty = block.clone();
        let (kind, field, text) = match block["type"].as_str() {
            Some("thinking") => ("thinking_delta", "thinking", &block["thinking"]),
            Some("text") => ("text_delta", "text", &block["text"]),
            _ => ("input_json_delta", "partial_json", &block["input"]),
        };
        let text = text
            .as_str()
            .map_or_else(|| text.to_string(), str::to_owned);
        for field in ["thinking", "signature", "text"] {
            if empty.get(field).is_some() {
                empty[field] = json!("");
            }
        }
        if empty.get("input").is_some() {
            empty["input"] = json!({});
        }
        let mut deltas: Vec<_> = pieces(&text)
            .iter()
            .map(|piece| json!({"type": kind, field: piece}))
            .collect();
        if let Some(signature) = block.get("signature") {
            deltas.push(json!({"type": "signature_delta", "signature": signature}));
        }
        events.push(json!({"type": "content_block_start", "index": index, "content_block": empty}));
        for delta in deltas {
            events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    let delta = json!({"stop_reason": message["stop_reason"], "stop_sequence": null});
    events.push(json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 20}}));
    events.push(json!({"type": "message_stop"}));
    named_events(&events)
}

/// An error.
pub(super) fn refusal(status: StatusCode, text: &str) -> Value {
    let kind = match status {
        StatusCode::UNAUTHORIZED => "authentication_error",
        _ => "invalid_request_error",
    };
    json!({"type": "error", "error": {"type": kind, "message": text}})
}
