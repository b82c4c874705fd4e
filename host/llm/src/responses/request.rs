//! The body of a request.

use serde_json::{Map, Value, json};

use super::input;
use crate::{
    chat::{ChatRequest, ToolChoice},
    openai::strict,
};

/// What is posted. Reasoning models choose their own temperature and refuse to be told.
pub(super) fn body(request: &ChatRequest, stream: bool) -> Value {
    let config = &request.config;
    let mut body = Map::new();
    let mut set = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            body.insert(name.to_owned(), value);
        }
    };
    set("model", Some(config.model.as_str().into()));
    set("input", Some(input::items(request).into()));
    set("store", Some(Value::Bool(false)));
    // The chat variant of GPT-5 does not reason and refuses settings of it.
    if !config.model.contains("-chat") {
        set("include", Some(json!(["reasoning.encrypted_content"])));
        set("reasoning", reasoning(request));
    }
    set("max_output_tokens", config.max_tokens.map(Value::from));
    set("text", text(request));
    set("user", request.user.clone().map(Value::from));
    if !request.tools.is_empty() {
        set("tools", Some(tools(request)));
        set("tool_choice", Some(choice(&request.tool_choice)));
        set(
            "parallel_tool_calls",
            Some(Value::Bool(request.parallel_tool_calls)),
        );
    }
    if stream {
        set("stream", Some(Value::Bool(true)));
    }
    Value::Object(body)
}

/// How much to reason, and whether to tell of it. Summaries can be switched off, since OpenAI gives
/// them to verified organisations alone.
fn reasoning(request: &ChatRequest) -> Option<Value> {
    let mut reasoning = Map::new();
    if let Some(effort) = &request.config.reasoning_effort {
        reasoning.insert("effort".to_owned(), Value::from(effort.as_str()));
    }
    if request.config.enable_reasoner {
        reasoning.insert("summary".to_owned(), Value::from("auto"));
    }
    (!reasoning.is_empty()).then_some(Value::Object(reasoning))
}

/// The form of the text and how much of it.
fn text(request: &ChatRequest) -> Option<Value> {
    let mut text = Map::new();
    if let Some(format) = request.config.response_format.as_ref().map(format) {
        text.insert("format".to_owned(), format);
    }
    if let Some(verbosity) = &request.config.verbosity {
        text.insert("verbosity".to_owned(), Value::from(verbosity.as_str()));
    }
    (!text.is_empty()).then_some(Value::Object(text))
}

/// `{"type": "json_schema", "json_schema": {...}}` is written flat here.
fn format(format: &Value) -> Value {
    let Some(inner) = format["json_schema"].as_object() else {
        return format.clone();
    };
    let mut flat = inner.clone();
    flat.insert("type".to_owned(), Value::from("json_schema"));
    Value::Object(flat)
}

fn tools(request: &ChatRequest) -> Value {
    request
        .tools
        .iter()
        .map(|tool| {
            let strict = request.config.strict;
            let schema = strict.then(|| strict::schema(&tool.parameters)).flatten();
            json!({
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                // This API is strict where nothing is said, and then refuses optional properties.
                "strict": schema.is_some(),
                "parameters": schema.unwrap_or_else(|| tool.parameters.clone()),
            })
        })
        .collect()
}

fn choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::Required => json!("required"),
        ToolChoice::Tool(name) => json!({"type": "function", "name": name}),
    }
}
