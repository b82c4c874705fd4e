//! The functions that a model may call.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::{dialect::Dialect, strict};
use crate::chat::{ChatRequest, ToolChoice, ToolSpec};

/// Characters of a function's name at most.
const MAX_NAME: usize = 64;

/// `tools`, `tool_choice` and `parallel_tool_calls`; nothing where no tool is offered, since
/// endpoints refuse them then.
pub(super) fn insert(body: &mut Map<String, Value>, request: &ChatRequest, dialect: Dialect) {
    if request.tools.is_empty() {
        return;
    }
    let mut offered: Vec<&ToolSpec> = request.tools.iter().collect();
    let choice = match &request.tool_choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::Required => json!("required"),
        ToolChoice::Tool(name) if dialect.named_choice => {
            json!({"type": "function", "function": {"name": name}})
        }
        // Where names are not taken, the tool is the only one that is offered.
        ToolChoice::Tool(name) => {
            if offered.iter().any(|tool| tool.name == *name) {
                offered.retain(|tool| tool.name == *name);
            }
            json!("required")
        }
    };
    let strict = request.config.strict;
    let tools = offered.iter().map(|tool| {
        let mut function = json!({"name": tool.name, "description": tool.description});
        let schema = strict.then(|| strict::schema(&tool.parameters)).flatten();
        if let Some(schema) = schema {
            function["parameters"] = schema;
            function["strict"] = Value::Bool(true);
        } else {
            function["parameters"] = tool.parameters.clone();
        }
        json!({"type": "function", "function": function})
    });
    body.insert("tools".to_owned(), tools.collect());
    body.insert("tool_choice".to_owned(), choice);
    body.insert(
        "parallel_tool_calls".to_owned(),
        Value::Bool(request.parallel_tool_calls),
    );
}

/// The name of a call that was made, in the letters that endpoints take: models invent names, and
/// one such call in its history would end every further request.
pub(crate) fn sent_name(name: &str) -> Cow<'_, str> {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    if !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(fits) {
        return Cow::Borrowed(name);
    }
    let name: String = name
        .chars()
        .take(MAX_NAME)
        .map(|letter| if fits(letter) { letter } else { '_' })
        .collect();
    Cow::Owned(if name.is_empty() {
        "_".to_owned()
    } else {
        name
    })
}
