//! The body of a request.

use serde_json::{Map, Value, json};

use super::{contents::contents, model::Model, schema};
use crate::{
    chat::{ChatRequest, ToolChoice, ToolSpec},
    turns::{self, Turn},
};

/// The request in the vendor's form; streamed or not makes no difference to it.
///
/// Schemas go as `parametersJsonSchema`, not as `parameters`. The older field takes a dialect of
/// `OpenAPI` that knows neither maps nor enums of numbers nor a missing type, and refuses a whole
/// request for one keyword that it does not know; the newer one takes JSON Schema.
pub(crate) fn body(request: &ChatRequest) -> Value {
    let config = &request.config;
    let model = Model::of(&config.model);
    let mut turns = turns::of(&request.messages);
    if matches!(turns.last(), Some(Turn::Model(_))) {
        // The vendor answers a user only.
        turns.push(turns::go_on());
    }
    let mut body = json!({
        "contents": contents(&turns, &model),
        "generationConfig": generation(request, &model),
    });
    if !request.system.trim().is_empty() {
        body["systemInstruction"] = json!({"parts": [{"text": request.system}]});
    }
    if !request.tools.is_empty() {
        let functions: Vec<Value> = request.tools.iter().map(function).collect();
        body["tools"] = json!([{"functionDeclarations": functions}]);
        body["toolConfig"] = json!({"functionCallingConfig": choice(&request.tool_choice)});
    }
    body
}

fn function(tool: &ToolSpec) -> Value {
    let mut function = json!({"name": tool.name, "description": tool.description});
    let has_parameters = tool.parameters["properties"]
        .as_object()
        .is_some_and(|properties| !properties.is_empty())
        || tool.parameters["additionalProperties"].is_object()
        || tool.parameters.get("$ref").is_some();
    // A function without parameters is declared without a schema.
    if has_parameters {
        function["parametersJsonSchema"] = schema::clean(&tool.parameters);
    }
    function
}

fn choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!({"mode": "AUTO"}),
        ToolChoice::Required => json!({"mode": "ANY"}),
        ToolChoice::Tool(name) => json!({"mode": "ANY", "allowedFunctionNames": [name]}),
    }
}

fn generation(request: &ChatRequest, model: &Model<'_>) -> Map<String, Value> {
    let config = &request.config;
    let mut generation = Map::new();
    let mut set = |key: &str, value: Value| generation.insert(key.to_owned(), value);
    set("temperature", Value::from(config.temperature));
    if let Some(tokens) = config.max_tokens.filter(|tokens| *tokens > 0) {
        set("maxOutputTokens", Value::from(tokens));
    }
    if let Some(thinking) = model.thinking(config) {
        set("thinkingConfig", thinking);
    }
    let format = config
        .response_format
        .as_ref()
        .filter(|_| request.tools.is_empty() || model.takes_schema_beside_tools());
    if let Some(format) = format {
        match format["type"].as_str() {
            Some("json_object") => {
                set("responseMimeType", Value::from("application/json"));
            }
            Some("json_schema") => {
                set("responseMimeType", Value::from("application/json"));
                if let Some(wanted) = format.pointer("/json_schema/schema") {
                    set("responseJsonSchema", schema::clean(wanted));
                }
            }
            _ => {}
        }
    }
    generation
}
