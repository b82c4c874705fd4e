//! The body of a request.

use bulkhead_domain::LlmConfig;
use serde_json::{Value, json};

use super::{
    messages::{cache, messages},
    model::Model,
    thinking::Thinking,
    tools,
};
use crate::{
    chat::ChatRequest,
    turns::{self, Turn},
};

/// Reasoning between the calls of one answer, for models that have it behind a header.
const INTERLEAVED: &str = "interleaved-thinking-2025-05-14";
/// Effort, for the one model that has it behind a header.
const EFFORT: &str = "effort-2025-11-24";

/// A body and what it needs beside it.
pub(crate) struct Prepared {
    /// The body.
    pub(crate) body: Value,
    /// The value of the header `anthropic-beta`; empty for none.
    pub(crate) betas: String,
}

/// The request in the vendor's form.
///
/// Up to three points of it are marked for the vendor's cache: the tools, the system prompt and the
/// whole conversation, which is the beginning of the next request.
pub(crate) fn prepare(request: &ChatRequest, stream: bool) -> Prepared {
    let config = &request.config;
    let model = Model::of(&config.model);
    let mut turns = turns::of(&request.messages);
    let thinking = Thinking::of(config, &model, &turns);
    if matches!(turns.last(), Some(Turn::Model(_)))
        && (thinking != Thinking::Off || model.refuses_prefill())
    {
        turns.push(turns::go_on());
    }
    let (max_tokens, thinking) = thinking.with_max_tokens(config, &model);

    let mut messages = messages(&turns, &model, thinking.sends_back(&model));
    let newest = messages
        .last_mut()
        .and_then(|message| message["content"].as_array_mut());
    cache(newest.and_then(|blocks| blocks.last_mut()));
    let mut body = json!({
        "model": config.model,
        "max_tokens": max_tokens,
        "messages": messages,
    });
    if !request.system.trim().is_empty() {
        let mut block = json!({"type": "text", "text": request.system});
        cache(Some(&mut block));
        body["system"] = json!([block]);
    }
    if let Some((mut tools, choice)) = tools::offered(request, &model, thinking, &turns) {
        cache(tools.last_mut());
        body["tools"] = Value::Array(tools);
        body["tool_choice"] = choice;
    }
    if let Some(thinking) = thinking.to_json() {
        body["thinking"] = thinking;
    }
    if let Some(temperature) = temperature(config, &model, thinking) {
        body["temperature"] = Value::from(temperature);
    }
    if let Some(output) = output_config(config, &model) {
        body["output_config"] = output;
    }
    if let Some(user) = &request.user {
        body["metadata"] = json!({"user_id": user});
    }
    if stream {
        body["stream"] = Value::Bool(true);
    }
    Prepared {
        body,
        betas: betas(config, &model, thinking),
    }
}

/// None for models that take none. The vendor's range ends at 1.
fn temperature(config: &LlmConfig, model: &Model<'_>, thinking: Thinking) -> Option<f64> {
    match thinking {
        _ if model.is_adaptive() => None,
        Thinking::Off => Some(config.temperature.clamp(0.0, 1.0)),
        Thinking::Budget(_) | Thinking::Adaptive => Some(1.0),
    }
}

/// The effort and the schema of the answer, where they are wanted and the model takes them.
fn output_config(config: &LlmConfig, model: &Model<'_>) -> Option<Value> {
    let effort = config.effort.as_ref().filter(|_| model.takes_effort());
    let schema = config
        .response_format
        .as_ref()
        .filter(|format| format["type"] == "json_schema" && model.takes_schemas())
        .and_then(|format| format.pointer("/json_schema/schema"));
    let mut output = json!({});
    if let Some(effort) = effort {
        output["effort"] = Value::from(effort.as_str());
    }
    if let Some(schema) = schema {
        output["format"] = json!({"type": "json_schema", "schema": schema});
    }
    (effort.is_some() || schema.is_some()).then_some(output)
}

fn betas(config: &LlmConfig, model: &Model<'_>, thinking: Thinking) -> String {
    let interleaved = matches!(thinking, Thinking::Budget(_)) && model.interleaves();
    let effort = config.effort.is_some() && model.needs_effort_beta();
    let wanted = [(interleaved, INTERLEAVED), (effort, EFFORT)];
    let wanted: Vec<_> = wanted.into_iter().filter(|(wanted, _)| *wanted).collect();
    let names: Vec<_> = wanted.into_iter().map(|(_, name)| name).collect();
    names.join(",")
}
