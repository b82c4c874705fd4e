//! The conversation in the vendor's form.

use bulkhead_domain::{ImageSource, Part};
use serde_json::{Map, Value, json};

use super::{model::Model, thinking::is_signed, tools::word};
use crate::turns::{self, Input, Picture, Said, ToolResult, Turn, UserTurn};

/// What stands in the place of an image whose data is not at hand.
const NO_IMAGE: &str = "(an image that is no longer available)";
/// What stands in the place of a failure without words, which the vendor refuses.
const NO_WORDS: &str = "The tool failed and said nothing.";

/// The messages: user and assistant take turns, each is a list of blocks that is not empty.
/// `send_back` says whether signed reasoning of this model goes with them.
pub(crate) fn messages(turns: &[Turn<'_>], model: &Model<'_>, send_back: bool) -> Vec<Value> {
    let mut messages: Vec<(&'static str, Vec<Value>)> = Vec::new();
    for turn in turns {
        let (role, blocks) = match turn {
            Turn::User(turn) => ("user", user(turn)),
            Turn::Model(said) => {
                let blocks = said
                    .iter()
                    .flat_map(|said| assistant(said, model, send_back));
                ("assistant", blocks.collect())
            }
        };
        match messages.last_mut() {
            _ if blocks.is_empty() => {}
            Some((last, known)) if *last == role => known.extend(blocks),
            _ => messages.push((role, blocks)),
        }
    }
    if let Some(("assistant", blocks)) = messages.last_mut() {
        trim(blocks);
        if blocks.is_empty() {
            messages.pop();
        }
    }
    messages
        .into_iter()
        .map(|(role, content)| json!({"role": role, "content": content}))
        .collect()
}

/// The vendor refuses white space at the end of an answer that it is to go on with.
fn trim(blocks: &mut Vec<Value>) {
    let Some(Value::String(text)) = blocks.last_mut().and_then(|block| block.get_mut("text"))
    else {
        return;
    };
    text.truncate(text.trim_end().len());
    if text.is_empty() {
        blocks.pop();
    }
}

fn user(turn: &UserTurn<'_>) -> Vec<Value> {
    let results = turn.results.iter().map(result);
    let inputs = turn.inputs.iter().map(|input| match input {
        Input::Text(said) => text(said),
        Input::Notice(said) => text(&turns::notice(said)),
        Input::Image(source) => image(source),
    });
    results.chain(inputs).collect()
}

fn result(result: &ToolResult<'_>) -> Value {
    let mut content = Vec::new();
    if !result.text.trim().is_empty() {
        content.push(text(result.text));
    }
    content.extend(result.images.iter().filter_map(|part| match part {
        Part::Image { source } => Some(image(source)),
        _ => None,
    }));
    if content.is_empty() && result.is_error {
        content.push(text(NO_WORDS));
    }
    let mut block = json!({"type": "tool_result", "tool_use_id": word(result.id)});
    if !content.is_empty() {
        block["content"] = Value::Array(content);
    }
    if result.is_error {
        block["is_error"] = Value::Bool(true);
    }
    block
}

fn assistant(said: &Said<'_>, model: &Model<'_>, send_back: bool) -> Vec<Value> {
    let own = send_back && said.model.is_some_and(|name| model.is_same(name));
    let content = said.content.iter().filter_map(|part| match part {
        Part::Text { text: said, .. } => (!said.trim().is_empty()).then(|| text(said)),
        part if own && is_signed(part) => thought(part),
        _ => None,
    });
    let calls = said.calls.iter().map(|call| {
        json!({
            "type": "tool_use",
            "id": word(&call.id),
            "name": word(&call.name),
            "input": turns::arguments(call),
        })
    });
    content.chain(calls).collect()
}

fn thought(part: &Part) -> Option<Value> {
    match part {
        Part::Reasoning {
            reasoning,
            signature,
            ..
        } => Some(json!({"type": "thinking", "thinking": reasoning, "signature": signature})),
        Part::OmittedReasoning { signature } => {
            Some(json!({"type": "thinking", "thinking": "", "signature": signature}))
        }
        Part::RedactedReasoning { data } => {
            Some(json!({"type": "redacted_thinking", "data": data}))
        }
        _ => None,
    }
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn image(source: &ImageSource) -> Value {
    let source = match Picture::of(source) {
        None => return text(NO_IMAGE),
        Some(Picture::Url(url)) => json!({"type": "url", "url": url}),
        Some(Picture::Inline { media_type, data }) => {
            json!({"type": "base64", "media_type": media_type, "data": data})
        }
    };
    json!({"type": "image", "source": source})
}

/// Marks a block as the end of what the vendor keeps for the next request.
pub(crate) fn cache(block: Option<&mut Value>) {
    let markable = |block: &&mut Map<String, Value>| {
        let kind = block.get("type").and_then(Value::as_str);
        !matches!(kind, Some("thinking" | "redacted_thinking"))
    };
    if let Some(block) = block.and_then(Value::as_object_mut).filter(markable) {
        block.insert("cache_control".to_owned(), json!({"type": "ephemeral"}));
    }
}
