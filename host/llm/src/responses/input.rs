//! A conversation as `input`.

use bulkhead_domain::{Part, ToolCall, message::SummaryPart};
use serde_json::{Value, json};

use crate::{
    chat::{ChatMessage, ChatRequest},
    openai::{
        ids, images,
        messages::joined,
        paired::{self, Entry},
        tools::sent_name,
    },
};

/// The system prompt and the conversation.
pub(super) fn items(request: &ChatRequest) -> Vec<Value> {
    let mut items = Vec::with_capacity(request.messages.len() + 1);
    if !request.system.is_empty() {
        items.push(json!({"role": "developer", "content": request.system}));
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
                    .is_none_or(|model| is_same(model, &request.config.model));
                assistant(content, tool_calls, own, &mut items);
            }
            Entry::Message(ChatMessage::System(text)) => {
                items.push(json!({"role": "developer", "content": text}));
            }
            Entry::Message(ChatMessage::User(parts)) => items.push(user(parts)),
            // Their results come as entries of their own.
            Entry::Message(ChatMessage::Tool { .. }) => {}
            Entry::Result { id, text } => items.push(json!({
                "type": "function_call_output",
                "call_id": ids::sent(id, false),
                "output": text,
            })),
            Entry::Shown(parts) => items.push(user(&parts)),
        }
    }
    items
}

/// Whether two names are of one model, of which one may have a date: `o3` and `o3-2025-04-16`.
fn is_same(one: &str, other: &str) -> bool {
    let dated = |long: &str, short: &str| {
        long.strip_prefix(short)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with("-20"))
    };
    dated(one, other) || dated(other, one)
}

fn user(parts: &[Part]) -> Value {
    if !parts.iter().any(|part| matches!(part, Part::Image { .. })) {
        return json!({"role": "user", "content": joined(parts)});
    }
    let content: Vec<Value> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Text { text, .. } => Some(json!({"type": "input_text", "text": text})),
            Part::Image { .. } => Some(match images::url(part) {
                Some((url, detail)) => json!({
                    "type": "input_image",
                    "image_url": url,
                    "detail": detail.unwrap_or("auto"),
                }),
                None => json!({"type": "input_text", "text": images::MISSING}),
            }),
            _ => None,
        })
        .collect();
    json!({"role": "user", "content": content})
}

/// Reasoning goes back only in front of what it led to, and only to the model whose it is: OpenAI
/// refuses a reasoning item alone, and can't read another model's.
fn assistant(parts: &[Part], calls: &[ToolCall], own: bool, items: &mut Vec<Value>) {
    let mut thoughts = Vec::new();
    for part in parts {
        match part {
            Part::SummarizedReasoning {
                id,
                summary,
                encrypted_content: Some(encrypted),
            } if own => thoughts.push(reasoning(id, summary, encrypted)),
            Part::Text { text, .. } if !text.is_empty() => {
                items.append(&mut thoughts);
                items.push(json!({"role": "assistant", "content": text}));
            }
            _ => {}
        }
    }
    if !calls.is_empty() {
        items.append(&mut thoughts);
    }
    items.extend(calls.iter().map(|call| {
        json!({
            "type": "function_call",
            "call_id": ids::sent(&call.id, false),
            "name": sent_name(&call.name),
            "arguments": call.arguments,
        })
    }));
}

fn reasoning(id: &str, summary: &[SummaryPart], encrypted: &str) -> Value {
    let summary: Vec<Value> = summary
        .iter()
        .map(|part| json!({"type": "summary_text", "text": part.text}))
        .collect();
    json!({
        "type": "reasoning",
        "id": id,
        "summary": summary,
        "encrypted_content": encrypted,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_does_not_make_another_model() {
        assert!(is_same("o3", "o3-2025-04-16"));
        assert!(is_same("gpt-5.1", "gpt-5.1"));
        assert!(!is_same("gpt-5", "gpt-5-mini"));
        assert!(!is_same("o3-mini-2025-01-31", "o3"));
    }
}
