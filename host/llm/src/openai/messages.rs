//! A conversation as `messages`.

use bulkhead_domain::{Part, ToolCall};
use serde_json::{Map, Value, json};

use super::{
    dialect::Dialect,
    ids, images,
    paired::{self, Entry},
    tools::sent_name,
};
use crate::chat::{ChatMessage, ChatRequest};

/// The system prompt and the conversation.
pub(super) fn messages(request: &ChatRequest, dialect: Dialect) -> Vec<Value> {
    let mut sent = Vec::with_capacity(request.messages.len() + 1);
    if !request.system.is_empty() {
        sent.push(json!({"role": "system", "content": request.system}));
    }
    for entry in paired::entries(&request.messages) {
        match entry {
            Entry::Message(ChatMessage::Assistant {
                content,
                tool_calls,
                model,
            }) => {
                let own = model
                    .as_ref()
                    .is_none_or(|model| *model == request.config.model);
                sent.extend(assistant(content, tool_calls, own, dialect));
            }
            Entry::Message(ChatMessage::System(text)) => {
                sent.push(json!({"role": "system", "content": text}));
            }
            Entry::Message(ChatMessage::User(parts)) => {
                sent.push(json!({"role": "user", "content": content(parts)}));
            }
            // Their results come as entries of their own.
            Entry::Message(ChatMessage::Tool { .. }) => {}
            Entry::Result { id, text } => {
                let id = ids::sent(id, dialect.short_ids);
                sent.push(json!({"role": "tool", "tool_call_id": id, "content": text}));
            }
            Entry::Shown(parts) => {
                sent.push(json!({"role": "user", "content": content(&parts)}));
            }
        }
    }
    sent
}

/// One text where there are only texts, else the parts in order.
fn content(parts: &[Part]) -> Value {
    if !parts.iter().any(|part| matches!(part, Part::Image { .. })) {
        return Value::from(joined(parts));
    }
    parts.iter().filter_map(part).collect()
}

fn part(part: &Part) -> Option<Value> {
    match part {
        Part::Text { text, .. } => Some(json!({"type": "text", "text": text})),
        Part::Image { .. } => Some(match images::url(part) {
            Some((url, Some(detail))) => {
                json!({"type": "image_url", "image_url": {"url": url, "detail": detail}})
            }
            Some((url, None)) => json!({"type": "image_url", "image_url": {"url": url}}),
            None => json!({"type": "text", "text": images::MISSING}),
        }),
        _ => None,
    }
}

/// The texts, joined by blank lines.
pub(crate) fn joined(parts: &[Part]) -> String {
    let texts: Vec<&str> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Text { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    texts.join("\n\n")
}

/// None for a message of reasoning alone, which no endpoint takes.
fn assistant(parts: &[Part], calls: &[ToolCall], own: bool, dialect: Dialect) -> Option<Value> {
    let text = joined(parts);
    if text.is_empty() && calls.is_empty() {
        return None;
    }
    let mut message = Map::new();
    message.insert("role".to_owned(), Value::from("assistant"));
    let text = (!text.is_empty()).then_some(text);
    message.insert("content".to_owned(), Value::from(text));
    if let Some(field) = dialect.reasoning {
        let reasoning = if own { reasoning(parts) } else { String::new() };
        let wanted = dialect.reasoning_with_calls && !calls.is_empty();
        if wanted || !reasoning.is_empty() {
            message.insert(field.to_owned(), Value::from(reasoning));
        }
    }
    if !calls.is_empty() {
        let calls = calls.iter().map(|call| tool_call(call, dialect));
        message.insert("tool_calls".to_owned(), calls.collect());
    }
    Some(Value::Object(message))
}

/// What the model thought by itself, in the clear.
fn reasoning(parts: &[Part]) -> String {
    parts
        .iter()
        .filter_map(|part| match part {
            Part::Reasoning {
                is_native: true,
                reasoning,
                ..
            } => Some(reasoning.as_str()),
            _ => None,
        })
        .collect()
}

fn tool_call(call: &ToolCall, dialect: Dialect) -> Value {
    json!({
        "id": ids::sent(&call.id, dialect.short_ids),
        "type": "function",
        "function": {
            "name": sent_name(&call.name),
            "arguments": arguments(&call.arguments, dialect.parses_arguments),
        },
    })
}

/// Arguments that are no JSON object go to servers that parse them as an object that quotes them:
/// one such call in its history would end every further request.
fn arguments(text: &str, parsed: bool) -> String {
    if text.trim().is_empty() {
        return "{}".to_owned();
    }
    if !parsed || serde_json::from_str::<Map<String, Value>>(text).is_ok() {
        return text.to_owned();
    }
    json!({"invalid_arguments": text}).to_string()
}
