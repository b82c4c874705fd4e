//! OpenAI's chat completions.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::{
    Format, Wire, pieces,
    plot::Reply,
    talk::{Fault, Talk},
};

pub(super) const FORMAT: Format = Format {
    wire: Wire::Chat,
    key: ("authorization", "Bearer "),
    read,
    whole,
    events,
    refusal,
};

/// The list of models, of both of OpenAI's formats.
pub(super) fn models() -> Value {
    let model = |id: &str| json!({"id": id, "object": "model", "created": 1, "owned_by": "openai"});
    json!({"object": "list", "data": [model("gpt-4o-mini"), model("gpt-5-mini")]})
}

fn read(body: &Value) -> Result<Talk, Fault> {
    let mut talk = Talk::new(false);
    let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    let begins = messages
        .first()
        .is_some_and(|first| first["role"] == "system");
    Fault::unless(begins, || {
        "the first message is no system prompt".to_owned()
    })?;
    for message in &messages[1..] {
        match message["role"].as_str() {
            Some("user") => talk.user(message["content"].as_str().unwrap_or_default())?,
            Some("assistant") => assistant(&mut talk, message)?,
            Some("tool") => {
                let id = message["tool_call_id"].as_str().unwrap_or_default();
                talk.result(id, &message["content"])?;
            }
            _ => return Err(Fault(format!("an unknown role: {message}"))),
        }
    }
    talk.end()?;
    Fault::unless(body["max_completion_tokens"].is_u64(), || {
        "no limit of tokens".to_owned()
    })?;
    let counts = body["stream"] != true || body["stream_options"]["include_usage"] == true;
    Fault::unless(counts, || "a stream without usage".to_owned())?;
    Ok(talk)
}

fn assistant(talk: &mut Talk, message: &Value) -> Result<(), Fault> {
    talk.model()?;
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
        let arguments = serde_json::from_str(arguments)
            .map_err(|error| Fault(format!("arguments that are no JSON: {error}")))?;
        talk.call(call["id"].as_str().unwrap_or_default(), &arguments)?;
    }
    Ok(())
}

fn finish(reply: &Reply) -> &'static str {
    if reply.places.is_empty() {
        "stop"
    } else {
        "tool_calls"
    }
}

fn usage() -> Value {
    json!({
        "prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120,
        "prompt_tokens_details": {"cached_tokens": 40},
        "completion_tokens_details": {"reasoning_tokens": 5},
    })
}

fn whole(body: &Value, reply: &Reply) -> Value {
    let mut message = json!({"role": "assistant", "content": reply.text, "refusal": null});
    if !reply.places.is_empty() {
        let calls = reply.places.iter().map(|place| {
            let function = json!({"name": "look_up", "arguments": Reply::arguments(place)});
            json!({"id": Reply::id(place), "type": "function", "function": function})
        });
        message["tool_calls"] = calls.collect();
    }
    let choice = json!({"index": 0, "message": message, "finish_reason": finish(reply)});
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": body["model"],
        "choices": [choice], "usage": usage(),
    })
}

fn events(body: &Value, reply: &Reply) -> String {
    let chunk = |choices: Value, usage: Value| {
        let chunk = json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1,
            "model": body["model"], "choices": choices, "usage": usage,
        });
        format!("data: {chunk}\n\n")
    };
    let delta = |delta: Value| {
        chunk(
            json!([{"index": 0, "delta": delta, "finish_reason": null}]),
            Value::Null,
        )
    };
    let mut events = delta(json!({"role": "assistant", "content": ""}));
    for piece in pieces(&reply.text) {
        events += &delta(json!({"content": piece}));
    }
    for (index, place) in reply.places.iter().enumerate() {
        let function = json!({"name": "look_up", "arguments": ""});
        let begun = json!({
            "index": index, "id": Reply::id(place), "type": "function", "function": function,
        });
        events += &delta(json!({"tool_calls": [begun]}));
        for piece in pieces(&Reply::arguments(place)) {
            let piece = json!({"index": index, "function": {"arguments": piece}});
            events += &delta(json!({"tool_calls": [piece]}));
        }
    }
    let last = json!([{"index": 0, "delta": {}, "finish_reason": finish(reply)}]);
    events += &chunk(last, Value::Null);
    events += &chunk(json!([]), usage());
    events + "data: [DONE]\n\n"
}

/// An error, of both of OpenAI's formats.
pub(super) fn refusal(status: StatusCode, text: &str) -> Value {
    let code = (status == StatusCode::UNAUTHORIZED).then_some("invalid_api_key");
    let error = json!({
        "message": text, "type": "invalid_request_error", "param": null, "code": code,
    });
    json!({"error": error})
}
