//! What a model may call, and whether it must.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{model::Model, thinking::Thinking};
use crate::{
    chat::{ChatRequest, ToolChoice, ToolSpec},
    turns::{Said, Turn},
};

/// Combinators that the vendor refuses at the root of a schema. Arguments are checked against the
/// whole schema when they come back.
const NOT_AT_ROOT: [&str; 3] = ["oneOf", "anyOf", "allOf"];

/// The `tools` and the `tool_choice` of a request; none without tools.
pub(crate) fn offered(
    request: &ChatRequest,
    model: &Model<'_>,
    thinking: Thinking,
    turns: &[Turn<'_>],
) -> Option<(Vec<Value>, Value)> {
    if request.tools.is_empty() {
        return remembered(turns).map(|tools| (tools, json!({"type": "none"})));
    }
    let strict = request.config.strict && model.takes_schemas();
    let describe = |tool| describe(tool, strict);
    // A model that reasons can't be forced; it gets nothing else to choose from.
    let forced = thinking == Thinking::Off;
    let mut tools: Vec<Value> = request.tools.iter().map(describe).collect();
    let mut choice = match &request.tool_choice {
        ToolChoice::Required if forced => json!({"type": "any"}),
        ToolChoice::Tool(name) if forced => json!({"type": "tool", "name": name}),
        ToolChoice::Auto | ToolChoice::Required => json!({"type": "auto"}),
        ToolChoice::Tool(name) => {
            tools.retain(|tool| tool["name"] == *name);
            json!({"type": "auto"})
        }
    };
    if tools.is_empty() {
        // A tool was named that is not offered.
        tools = request.tools.iter().map(describe).collect();
    }
    choice["disable_parallel_tool_use"] = Value::Bool(!request.parallel_tool_calls);
    Some((tools, choice))
}

fn describe(tool: &ToolSpec, strict: bool) -> Value {
    let mut described = json!({"name": tool.name, "input_schema": schema(&tool.parameters)});
    if !tool.description.is_empty() {
        described["description"] = Value::from(tool.description.as_str());
    }
    if strict {
        described["strict"] = Value::Bool(true);
    }
    described
}

fn schema(parameters: &Value) -> Value {
    let mut schema = parameters.as_object().cloned().unwrap_or_else(Map::new);
    schema.retain(|key, _| !NOT_AT_ROOT.contains(&key.as_str()));
    schema.insert("type".to_owned(), Value::from("object"));
    schema
        .entry("properties")
        .or_insert_with(|| Value::Object(Map::new()));
    Value::Object(schema)
}

/// The tools of earlier calls: the vendor wants every tool declared that a conversation mentions.
fn remembered(turns: &[Turn<'_>]) -> Option<Vec<Value>> {
    let said = turns.iter().flat_map(|turn| match turn {
        Turn::Model(said) => said.as_slice(),
        Turn::User(_) => &[],
    });
    let names: BTreeSet<String> = said
        .flat_map(|said: &Said<'_>| said.calls)
        .map(|call| word(&call.name))
        .collect();
    let tools = names.into_iter().map(|name| {
        let nothing = schema(&Value::Null);
        json!({"name": name, "input_schema": nothing})
    });
    let tools: Vec<Value> = tools.collect();
    (!tools.is_empty()).then_some(tools)
}

/// A name or an id in the letters that the vendor allows; other vendors allow more, and models
/// invent names.
pub(crate) fn word(text: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let word: String = text
        .chars()
        .map(|c| if allowed(c) { c } else { '_' })
        .take(MAX_WORD)
        .collect();
    if word.is_empty() {
        "_".to_owned()
    } else {
        word
    }
}

/// Characters of a tool's name that the vendor allows. Ids are shorter.
const MAX_WORD: usize = 128;
