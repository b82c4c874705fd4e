//! Gemini's content generation. Calls have no ids here: results follow in the order of the calls.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::{
    Format, Wire, pieces,
    plot::{EASY, KNOW, LOOK, Reply},
    talk::{Fault, Talk},
};

pub(super) const FORMAT: Format = Format {
    wire: Wire::Gemini,
    key: ("x-goog-api-key", ""),
    read,
    whole,
    events,
    refusal,
};

/// What stands for the signature of a call that another model made.
const UNSIGNED: &str = "skip_thought_signature_validator";

/// The list of models. The newer one wants a signature with every first call.
pub(super) fn models() -> Value {
    let models = ["gemini-2.5-flash", "gemini-3-pro-preview"].map(|name| {
        json!({
            "name": format!("models/{name}"), "displayName": name,
            "inputTokenLimit": 1_048_576, "outputTokenLimit": 65_536, "thinking": true,
            "supportedGenerationMethods": ["generateContent", "countTokens"],
        })
    });
    json!({"models": models})
}

fn read(body: &Value) -> Result<Talk, Fault> {
    let mut talk = Talk::new(body["generationConfig"]["thinkingConfig"]["includeThoughts"] == true);
    let name = body["model"].as_str().unwrap_or_default();
    let wants_signatures = name.starts_with("gemini-3");
    let contents = body["contents"].as_array().map_or(&[][..], Vec::as_slice);
    for content in contents {
        let parts = content["parts"].as_array().map_or(&[][..], Vec::as_slice);
        Fault::unless(!parts.is_empty(), || "a content without parts".to_owned())?;
        match content["role"].as_str() {
            Some("user") => user(&mut talk, parts)?,
            Some("model") => model(&mut talk, parts, wants_signatures)?,
            _ => return Err(Fault(format!("an unknown role: {content}"))),
        }
    }
    talk.end()?;
    Ok(talk)
}

fn user(talk: &mut Talk, parts: &[Value]) -> Result<(), Fault> {
    let results: Vec<_> = parts
        .iter()
        .filter_map(|part| part.get("functionResponse"))
        .collect();
    if results.is_empty() {
        return talk.user(parts[0]["text"].as_str().unwrap_or_default());
    }
    let fits = results.len() == parts.len() && results.len() == talk.open();
    Fault::unless(fits, || {
        let calls = talk.open();
        format!(
            "{} results of {calls} calls in {} parts",
            results.len(),
            parts.len()
        )
    })?;
    for (place, result) in results.into_iter().enumerate() {
        Fault::unless(result["name"] == "look_up", || {
            format!("a result of {result}")
        })?;
        talk.result(&place.to_string(), &result["response"]["output"])?;
    }
    Ok(())
}

fn model(talk: &mut Talk, parts: &[Value], wants_signatures: bool) -> Result<(), Fault> {
    talk.model()?;
    let mut calls = 0;
    for part in parts {
        let signature = part["thoughtSignature"].as_str();
        let thoughts = [LOOK, KNOW, EASY];
        let own = thoughts
            .iter()
            .any(|thought| signature == Some(thought.signature));
        let known = signature.is_none() || own || signature == Some(UNSIGNED);
        Fault::unless(known, || format!("an invalid signature: {part}"))?;
        if let Some(call) = part.get("functionCall") {
            let signed = signature.is_some() || calls > 0 || !wants_signatures;
            Fault::unless(signed, || format!("a call without its signature: {part}"))?;
            talk.call(&calls.to_string(), &call["args"])?;
            calls += 1;
        }
    }
    Ok(())
}

/// The parts of an answer. The first call has the signature, else the text.
fn parts(reply: &Reply) -> Vec<Value> {
    let mut parts = Vec::new();
    if let Some(thought) = reply.thought {
        parts.push(json!({"text": thought.text, "thought": true}));
    }
    let mut text = json!({"text": reply.text});
    if reply.places.is_empty() {
        text["thoughtSignature"] = json!(reply.signature);
    }
    parts.push(text);
    for (index, place) in reply.places.iter().enumerate() {
        let mut part = json!({"functionCall": {"name": "look_up", "args": {"place": place}}});
        if index == 0 {
            part["thoughtSignature"] = json!(reply.signature);
        }
        parts.push(part);
    }
    parts
}

fn chunk(body: &Value, parts: &[Value], finish: Option<&str>) -> Value {
    let mut candidate = json!({"index": 0, "content": {"role": "model", "parts": parts}});
    if let Some(finish) = finish {
        candidate["finishReason"] = json!(finish);
    }
    json!({
        "candidates": [candidate], "modelVersion": body["model"], "responseId": "r-1",
        "usageMetadata": {
            "promptTokenCount": 100, "cachedContentTokenCount": 40, "candidatesTokenCount": 15,
            "thoughtsTokenCount": 5, "totalTokenCount": 120,
        },
    })
}

fn whole(body: &Value, reply: &Reply) -> Value {
    chunk(body, &parts(reply), Some("STOP"))
}

fn events(body: &Value, reply: &Reply) -> String {
    let mut chunks = Vec::new();
    for part in parts(reply) {
        let Some(text) = part["text"].as_str() else {
            chunks.push(chunk(body, &[part], None));
            continue;
        };
        let [first, second] = pieces(text).map(|piece| {
            let mut half = part.clone();
            half["text"] = json!(piece);
            half
        });
        let mut unsigned = first;
        if let Some(fields) = unsigned.as_object_mut() {
            fields.remove("thoughtSignature");
        }
        chunks.extend([chunk(body, &[unsigned], None), chunk(body, &[second], None)]);
    }
    chunks.push(chunk(body, &[json!({"text": ""})], Some("STOP")));
    let event = |chunk: &Value| format!("data: {chunk}\r\n\r\n");
    chunks.iter().map(event).collect()
}

fn refusal(status: StatusCode, text: &str) -> Value {
    let (kind, code) = match status {
        StatusCode::UNAUTHORIZED => ("UNAUTHENTICATED", 401),
        _ => ("INVALID_ARGUMENT", 400),
    };
    json!({"error": {"code": code, "message": text, "status": kind}})
}
