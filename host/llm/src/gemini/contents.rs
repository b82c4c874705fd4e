//! The conversation in the vendor's form.

use bulkhead_domain::{ImageSource, Part, ToolCall};
use serde_json::{Value, json};

use super::model::Model;
use crate::{
    call_ids::MADE,
    turns::{self, Input, Picture, Said, ToolResult, Turn, UserTurn},
};

/// What the vendor takes in place of a signature for calls that another model made.
const UNSIGNED: &str = "skip_thought_signature_validator";
/// What stands in the place of an image whose data is not at hand.
const NO_IMAGE: &str = "(an image that is no longer available)";

/// The contents: roles `user` and `model`, the user first; none without parts. Results of calls are
/// a content of their own, right after the calls.
pub(crate) fn contents(turns: &[Turn<'_>], model: &Model<'_>) -> Vec<Value> {
    let mut contents = Vec::new();
    let mut push = |role: &str, parts: Vec<Value>| {
        if !parts.is_empty() {
            contents.push(json!({"role": role, "parts": parts}));
        }
    };
    for turn in turns {
        match turn {
            Turn::User(turn) => {
                push("user", results(turn));
                push("user", turn.inputs.iter().map(input).collect());
            }
            Turn::Model(neighbours) => {
                let parts = neighbours.iter().flat_map(|said| spoken(said, model));
                push("model", parts.collect());
            }
        }
    }
    contents
}

/// All results, then all their images: the vendor wants the results of parallel calls together.
fn results(turn: &UserTurn<'_>) -> Vec<Value> {
    let results = turn.results.iter().map(result);
    let images = turn.results.iter().flat_map(|result| result.images);
    let images = images.filter_map(|part| match part {
        Part::Image { source } => Some(image(source)),
        _ => None,
    });
    results.chain(images).collect()
}

fn result(result: &ToolResult<'_>) -> Value {
    // Text that is JSON is easier to read as such than in quotes.
    let said = serde_json::from_str(result.text)
        .ok()
        .filter(Value::is_object)
        .unwrap_or_else(|| Value::from(result.text));
    let key = if result.is_error { "error" } else { "output" };
    let mut response = json!({"name": result.name, "response": {key: said}});
    identify(&mut response, result.id);
    json!({"functionResponse": response})
}

/// The vendor gets its own ids back. Those that were made here, it never gave.
fn identify(value: &mut Value, id: &str) {
    if !id.is_empty() && !id.starts_with(MADE) {
        value["id"] = Value::from(id);
    }
}

fn input(input: &Input<'_>) -> Value {
    match input {
        Input::Text(said) => json!({"text": said}),
        Input::Notice(said) => json!({"text": turns::notice(said)}),
        Input::Image(source) => image(source),
    }
}

fn spoken(said: &Said<'_>, model: &Model<'_>) -> Vec<Value> {
    let own = said.model.is_some_and(|name| model.is_same(name));
    let mut parts: Vec<Value> = said
        .content
        .iter()
        .filter_map(|part| spoken_part(part, own))
        .collect();
    for (place, call) in said.calls.iter().enumerate() {
        let mut part = json!({"functionCall": function_call(call)});
        let signature = call.signature.as_deref().filter(|_| own);
        // Of parallel calls only the first has one.
        let fallback = (place == 0 && model.wants_signatures()).then_some(UNSIGNED);
        if let Some(signature) = signature.or(fallback) {
            part["thoughtSignature"] = Value::from(signature);
        }
        parts.push(part);
    }
    parts
}

fn function_call(call: &ToolCall) -> Value {
    let mut value = json!({"name": call.name, "args": turns::arguments(call)});
    identify(&mut value, &call.id);
    value
}

/// Reasoning goes back only where the vendor signed it: the rest is a summary for people.
fn spoken_part(part: &Part, own: bool) -> Option<Value> {
    let signed = |signature: &Option<String>| signature.clone().filter(|_| own);
    let mut value = match part {
        Part::Text { text, signature } => {
            if text.is_empty() && signed(signature).is_none() {
                return None;
            }
            json!({"text": text})
        }
        Part::Reasoning {
            reasoning,
            signature,
            ..
        } => {
            signed(signature)?;
            json!({"text": reasoning, "thought": true})
        }
        Part::OmittedReasoning { signature } => {
            signed(signature)?;
            json!({"text": ""})
        }
        _ => return None,
    };
    let (Part::Text { signature, .. }
    | Part::Reasoning { signature, .. }
    | Part::OmittedReasoning { signature }) = part
    else {
        return Some(value);
    };
    if let Some(signature) = signed(signature) {
        value["thoughtSignature"] = Value::from(signature);
    }
    Some(value)
}

fn image(source: &ImageSource) -> Value {
    match Picture::of(source) {
        None => json!({"text": NO_IMAGE}),
        Some(Picture::Inline { media_type, data }) => {
            json!({"inlineData": {"mimeType": media_type, "data": data}})
        }
        Some(Picture::Url(url)) => {
            let mut file = json!({"fileUri": url});
            if let Some(media_type) = media_type_of(url) {
                file["mimeType"] = Value::from(media_type);
            }
            json!({"fileData": file})
        }
    }
}

/// The media type that an address ends like.
fn media_type_of(url: &str) -> Option<&'static str> {
    let path = url.split(['?', '#']).next()?;
    let (_, extension) = path.rsplit_once('.')?;
    match extension.to_ascii_lowercase().as_str() {
        "png" => Some("image/png"),
        "jpg" | "jpeg" => Some("image/jpeg"),
        "webp" => Some("image/webp"),
        "gif" => Some("image/gif"),
        "heic" => Some("image/heic"),
        "heif" => Some("image/heif"),
        _ => None,
    }
}
