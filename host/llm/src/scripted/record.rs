//! What was asked and answered, as traces show it, and what it would have cost.

use bulkhead_domain::{Part, ToolCall, Usage, digest::Hasher};
use serde_json::{Value, json};

use super::{
    MODEL,
    grammar::{Reply, Said},
};
use crate::{
    catalog::tokens::{self, Breakdown},
    chat::{ChatMessage, ChatRequest, Finish, ToolChoice},
};

/// Reasoning and text in order; neighbours of a kind are one part, a line each.
pub(super) fn content(reply: &Reply) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for said in &reply.said {
        match (said, parts.last_mut()) {
            (
                Said::Think(more),
                Some(Part::Reasoning {
                    reasoning: text, ..
                }),
            )
            | (Said::Say(more), Some(Part::Text { text, .. })) => {
                text.push('\n');
                text.push_str(more);
            }
            (Said::Think(text), _) => parts.push(Part::Reasoning {
                is_native: true,
                reasoning: text.clone(),
                signature: None,
            }),
            (Said::Say(text), _) => parts.push(Part::text(text.as_str())),
        }
    }
    parts
}

/// The calls, with ids that the same request always gets. They differ within a conversation because
/// each depends on the ids of the answer before it, on what came after that, and on the system
/// prompt, which names the agent.
pub(super) fn tool_calls(request: &ChatRequest, reply: &Reply) -> Vec<ToolCall> {
    let mut hasher = Hasher::default();
    let mut add = |text: &str| {
        hasher.update(&(text.len() as u64).to_be_bytes());
        hasher.update(text.as_bytes());
    };
    add(&request.system);
    add(&request.messages.len().to_string());
    let last = request
        .messages
        .iter()
        .rposition(|message| matches!(message, ChatMessage::Assistant { .. }));
    for message in &request.messages[last.unwrap_or(0)..] {
        add(&format!("{message:?}"));
    }
    let seed = hasher.finish();
    reply
        .calls
        .iter()
        .enumerate()
        .map(|(index, call)| {
            let mut hasher = Hasher::default();
            hasher.update(seed.as_bytes());
            hasher.update(&(index as u64).to_be_bytes());
            let mut id = hasher.finish().hex();
            id.truncate(24);
            ToolCall {
                id: format!("call_{id}"),
                name: call.name.clone(),
                arguments: call.arguments.clone(),
                signature: None,
            }
        })
        .collect()
}

/// Tokens by the estimate of [`tokens`]; nothing is cached.
pub(super) fn usage(prompt: Breakdown, content: &[Part], calls: &[ToolCall]) -> Usage {
    let mut reasoning = 0;
    let mut text = 0;
    for part in content {
        match part {
            Part::Text { text: said, .. } => text += tokens::count(said),
            part => reasoning += tokens::of_part(part),
        }
    }
    for call in calls {
        text += tokens::of_call(call);
    }
    let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    let (prompt, completion) = (number(prompt.total()), number(reasoning + text));
    Usage {
        completion_tokens: completion,
        prompt_tokens: prompt,
        total_tokens: prompt.saturating_add(completion),
        cached_input_tokens: Some(0),
        cache_write_tokens: None,
        reasoning_tokens: Some(number(reasoning)),
    }
}

/// The request in a form of its own: no provider has seen it. Images are told by their size.
pub(super) fn request_json(request: &ChatRequest, stream: bool) -> Value {
    let tools: Vec<Value> = request
        .tools
        .iter()
        .map(|tool| {
            json!({"name": tool.name, "description": tool.description,
                   "parameters": tool.parameters})
        })
        .collect();
    let choice = match &request.tool_choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::Required => json!("required"),
        ToolChoice::Tool(name) => json!({"tool": name}),
    };
    json!({
        "model": MODEL,
        "system": request.system,
        "messages": request.messages.iter().map(message).collect::<Vec<_>>(),
        "tools": tools,
        "tool_choice": choice,
        "parallel_tool_calls": request.parallel_tool_calls,
        "response_format": request.config.response_format,
        "script": request.script,
        "user": request.user,
        "stream": stream,
    })
}

fn message(message: &ChatMessage) -> Value {
    let parts = |parts: &[Part]| parts.iter().map(part).collect::<Vec<_>>();
    match message {
        ChatMessage::System(text) => json!({"role": "system", "content": text}),
        ChatMessage::User(content) => json!({"role": "user", "content": parts(content)}),
        ChatMessage::Assistant {
            content,
            tool_calls,
            ..
        } => json!({"role": "assistant", "content": parts(content), "tool_calls": tool_calls}),
        ChatMessage::Tool {
            tool_call_id,
            name,
            text,
            images,
            is_error,
        } => json!({"role": "tool", "tool_call_id": tool_call_id, "name": name, "content": text,
                    "images": parts(images), "is_error": is_error}),
    }
}

fn part(part: &Part) -> Value {
    use bulkhead_domain::ImageSource;
    match part {
        Part::Image {
            source: ImageSource::Url { url },
        } => json!({"type": "image", "url": url}),
        Part::Image {
            source: ImageSource::Base64 {
                media_type, data, ..
            },
        } => json!({"type": "image", "media_type": media_type, "base64_length": data.len()}),
        Part::Image {
            source: ImageSource::Letta { file_id, .. },
        } => json!({"type": "image", "file_id": file_id}),
        part => serde_json::to_value(part).unwrap_or(Value::Null),
    }
}

/// The answer in the same form.
pub(super) fn response_json(
    content: &[Part],
    calls: &[ToolCall],
    finish: &Finish,
    usage: &Usage,
) -> Value {
    let finish = match finish {
        Finish::Stop if calls.is_empty() => "stop",
        Finish::Stop => "tool_calls",
        Finish::Length => "length",
        Finish::Filtered => "filtered",
        Finish::Other(other) => other,
    };
    json!({"model": MODEL, "content": content, "tool_calls": calls, "finish": finish,
           "usage": usage})
}
