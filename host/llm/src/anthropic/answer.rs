//! A whole answer.

use bulkhead_domain::{Part, ToolCall, Usage};
use serde_json::Value;

use crate::{call_ids::CallIds, chat::Finish};

/// What an answer says.
#[derive(Debug, PartialEq)]
pub(crate) struct Answer {
    /// Reasoning and text, in order.
    pub(crate) content: Vec<Part>,
    /// Calls, in order.
    pub(crate) calls: Vec<ToolCall>,
    /// Why it ended.
    pub(crate) finish: Finish,
    /// What it cost.
    pub(crate) usage: Usage,
    /// The model that answered.
    pub(crate) model: Option<String>,
}

/// Reads a message; none where it is not one. Blocks of kinds that were not asked for are passed
/// over.
pub(crate) fn read(message: &Value) -> Option<Answer> {
    let blocks = message.get("content")?.as_array()?;
    let mut ids = CallIds::default();
    let mut content = Vec::new();
    let mut calls = Vec::new();
    for block in blocks {
        if block["type"] == "tool_use" {
            calls.push(ToolCall {
                id: ids.claim(block["id"].as_str()),
                name: block["name"].as_str().unwrap_or_default().to_owned(),
                arguments: arguments(&block["input"]),
                signature: None,
            });
        } else {
            content.extend(part(block));
        }
    }
    Some(Answer {
        content,
        calls,
        finish: finish(message["stop_reason"].as_str()),
        usage: usage(&message["usage"]),
        model: message["model"].as_str().map(str::to_owned),
    })
}

/// The arguments of a call as text; a text is one that was no JSON.
pub(crate) fn arguments(input: &Value) -> String {
    match input {
        Value::Null => "{}".to_owned(),
        Value::String(text) => text.clone(),
        input => input.to_string(),
    }
}

fn part(block: &Value) -> Option<Part> {
    let text = |key: &str| block[key].as_str().filter(|text| !text.is_empty());
    let signature = || text("signature").map(str::to_owned);
    match block["type"].as_str()? {
        "text" => text("text").map(Part::text),
        "thinking" => match text("thinking") {
            Some(reasoning) => Some(Part::Reasoning {
                is_native: true,
                reasoning: reasoning.to_owned(),
                signature: signature(),
            }),
            None => signature().map(|signature| Part::OmittedReasoning {
                signature: Some(signature),
            }),
        },
        "redacted_thinking" => text("data").map(|data| Part::RedactedReasoning {
            data: data.to_owned(),
        }),
        _ => None,
    }
}

fn finish(reason: Option<&str>) -> Finish {
    match reason {
        None | Some("end_turn" | "tool_use" | "stop_sequence") => Finish::Stop,
        Some("max_tokens" | "model_context_window_exceeded") => Finish::Length,
        Some("refusal") => Finish::Filtered,
        Some(other) => Finish::Other(other.to_owned()),
    }
}

/// The vendor counts what it read from its cache and what it wrote there apart from the rest of the
/// prompt.
fn usage(usage: &Value) -> Usage {
    let read = usage["cache_read_input_tokens"].as_i64();
    let written = usage["cache_creation_input_tokens"].as_i64();
    let fresh = usage["input_tokens"].as_i64().unwrap_or(0);
    let prompt_tokens = fresh
        .saturating_add(read.unwrap_or(0))
        .saturating_add(written.unwrap_or(0));
    let completion_tokens = usage["output_tokens"].as_i64().unwrap_or(0);
    Usage {
        completion_tokens,
        prompt_tokens,
        total_tokens: prompt_tokens.saturating_add(completion_tokens),
        cached_input_tokens: read,
        cache_write_tokens: written,
        reasoning_tokens: None,
    }
}
