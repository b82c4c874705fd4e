//! OpenAI's Responses API, without state on its side.

use serde_json::{Value, json};

use super::{
    Format, Wire, chat, named_events, pieces,
    plot::{EASY, KNOW, LOOK, Reply},
    talk::{Fault, Talk},
};

pub(super) const FORMAT: Format = Format {
    wire: Wire::Responses,
    key: ("authorization", "Bearer "),
    read,
    whole: |body, reply| whole(body, reply, "completed"),
    events,
    refusal: chat::refusal,
};

fn read(body: &Value) -> Result<Talk, Fault> {
    let stateless =
        body["store"] == false && body["include"] == json!(["reasoning.encrypted_content"]);
    Fault::unless(stateless, || "reasoning would be lost".to_owned())?;
    Fault::unless(body["max_output_tokens"].is_u64(), || {
        "no limit of tokens".to_owned()
    })?;
    let mut talk = Talk::new(body["reasoning"]["summary"] == "auto");
    let items = body["input"].as_array().map_or(&[][..], Vec::as_slice);
    let mut after_reasoning = false;
    for item in items {
        match (item["type"].as_str(), item["role"].as_str()) {
            (Some("reasoning"), _) => reasoning(item)?,
            (Some("function_call"), _) => call(&mut talk, item)?,
            (Some("function_call_output"), _) => {
                let id = item["call_id"].as_str().unwrap_or_default();
                talk.result(id, &item["output"])?;
            }
            (_, Some("user")) => talk.user(item["content"].as_str().unwrap_or_default())?,
            (_, Some("assistant")) => talk.model()?,
            (_, Some("developer")) => {}
            _ => return Err(Fault(format!("an unknown item: {item}"))),
        }
        let own = item["type"] == "function_call" || item["role"] == "assistant";
        Fault::unless(own || !after_reasoning, || {
            format!("reasoning without what it led to, before {item}")
        })?;
        after_reasoning = item["type"] == "reasoning";
    }
    talk.end()?;
    Ok(talk)
}

fn reasoning(item: &Value) -> Result<(), Fault> {
    let known = [LOOK, KNOW, EASY].iter().any(|thought| {
        item["summary"] == json!([{"type": "summary_text", "text": thought.text}])
            && item["encrypted_content"] == thought.signature
    });
    Fault::unless(known, || format!("reasoning that was never given: {item}"))
}

fn call(talk: &mut Talk, item: &Value) -> Result<(), Fault> {
    let arguments = item["arguments"].as_str().unwrap_or_default();
    let arguments = serde_json::from_str(arguments)
        .map_err(|error| Fault(format!("arguments that are no JSON: {error}")))?;
    talk.call(item["call_id"].as_str().unwrap_or_default(), &arguments)
}

/// The items of an answer.
fn output(reply: &Reply) -> Vec<Value> {
    let mut items = Vec::new();
    if let Some(thought) = reply.thought {
        items.push(json!({
            "type": "reasoning", "id": "rs_1",
            "summary": [{"type": "summary_text", "text": thought.text}],
            "encrypted_content": thought.signature,
        }));
    }
    let part = json!({"type": "output_text", "text": reply.text, "annotations": []});
    items.push(json!({
        "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
        "content": [part],
    }));
    items.extend(reply.places.iter().map(|place| {
        json!({
            "type": "function_call", "id": format!("fc_{place}"), "call_id": Reply::id(place),
            "name": "look_up", "arguments": Reply::arguments(place), "status": "completed",
        })
    }));
    items
}

fn whole(body: &Value, reply: &Reply, status: &str) -> Value {
    json!({
        "id": "resp_1", "object": "response", "created_at": 1, "status": status, "error": null,
        "model": body["model"], "output": output(reply),
        "usage": {
            "input_tokens": 100, "input_tokens_details": {"cached_tokens": 40},
            "output_tokens": 20, "output_tokens_details": {"reasoning_tokens": 5},
            "total_tokens": 120,
        },
    })
}

fn events(body: &Value, reply: &Reply) -> String {
    let mut begun = whole(body, reply, "in_progress");
    begun["output"] = json!([]);
    begun["usage"] = Value::Null;
    let mut events = vec![json!({"type": "response.created", "response": begun})];
    for (at, item) in output(reply).into_iter().enumerate() {
        let mut empty = item.clone();
        // What comes in pieces is not there at first.
        for field in ["summary", "content"] {
            if empty.get(field).is_some() {
                empty[field] = json!([]);
            }
        }
        if empty.get("arguments").is_some() {
            empty["arguments"] = json!("");
        }
        let (kind, text) = match item["type"].as_str() {
            Some("reasoning") => ("reasoning_summary_text", &item["summary"][0]["text"]),
            Some("message") => ("output_text", &item["content"][0]["text"]),
            _ => ("function_call_arguments", &item["arguments"]),
        };
        events
            .push(json!({"type": "response.output_item.added", "output_index": at, "item": empty}));
        for piece in pieces(text.as_str().unwrap_or_default()) {
            events.push(json!({
                "type": format!("response.{kind}.delta"), "item_id": item["id"],
                "output_index": at, "content_index": 0, "summary_index": 0, "delta": piece,
            }));
        }
        events.push(json!({"type": "response.output_item.done", "output_index": at, "item": item}));
    }
    let response = whole(body, reply, "completed");
    events.push(json!({"type": "response.completed", "response": response}));
    named_events(&events)
}
