//! What a component may say of its tools. A description is text from a stranger that a model
//! will read, so its size and its characters are bounded here, once.

use std::collections::BTreeSet;

use bulkhead_domain::{Problem, ToolInfo};
use serde_json::Value;

use crate::InstallError;

/// Tools of one component; a model chooses badly among more.
const MAX_TOOLS: usize = 256;
/// Bytes of a description. Longer ones crowd out the conversation.
const MAX_DESCRIPTION_BYTES: usize = 8 * 1024;
/// Bytes of a title.
const MAX_TITLE_BYTES: usize = 200;
/// Bytes of a schema as JSON.
const MAX_SCHEMA_BYTES: usize = 64 * 1024;
/// Levels of a schema.
const MAX_SCHEMA_DEPTH: usize = 64;
/// Characters of a name, as model providers allow it.
const MAX_NAME_CHARS: usize = 64;

/// Checks everything that a component says of its tools; every problem is named.
pub(super) fn check(tools: &[&ToolInfo]) -> Result<(), InstallError> {
    let mut problems = Vec::new();
    if tools.is_empty() {
        return Err(InstallError::NoTools("its describe names none".to_owned()));
    }
    if tools.len() > MAX_TOOLS {
        let message = format!("{} tools, more than {MAX_TOOLS}", tools.len());
        return Err(InstallError::Description(vec![Problem {
            at: String::new(),
            message,
        }]));
    }
    let mut names = BTreeSet::new();
    for (at, tool) in tools.iter().enumerate() {
        let mut problem = |field: &str, message: String| {
            problems.push(Problem {
                at: format!("/{at}/{field}"),
                message,
            });
        };
        if !is_name(&tool.name) {
            let message = "a name has 1 to 64 of the characters a-z A-Z 0-9 _ -";
            problem("name", message.to_owned());
        } else if !names.insert(tool.name.as_str()) {
            problem("name", format!("\"{}\" is there twice", tool.name));
        }
        if let Some(message) = text_problem(&tool.description, MAX_DESCRIPTION_BYTES) {
            problem("description", message);
        }
        if tool.description.trim().is_empty() {
            problem("description", "a model needs a description".to_owned());
        }
        let title = tool.annotations.title.as_deref().unwrap_or_default();
        if let Some(message) = text_problem(title, MAX_TITLE_BYTES) {
            problem("title", message);
        }
        if let Some(message) = schema_problem(&tool.input_schema) {
            problem("input_schema", message);
        }
        if let Some(message) = tool.output_schema.as_ref().and_then(schema_problem) {
            problem("output_schema", message);
        }
    }
    if problems.is_empty() {
        Ok(())
    } else {
        Err(InstallError::Description(problems))
    }
}

fn is_name(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    !name.is_empty() && name.len() <= MAX_NAME_CHARS && name.chars().all(allowed)
}

fn text_problem(text: &str, max_bytes: usize) -> Option<String> {
    if text.len() > max_bytes {
        return Some(format!("{} bytes, more than {max_bytes}", text.len()));
    }
    let hidden = text.chars().find(|c| is_hidden(*c))?;
    Some(format!(
        "the character U+{:04X} is not shown to people",
        u32::from(hidden)
    ))
}

/// Characters by which a text reads differently to a model than to the person who consents:
/// controls, directional overrides, zero-width and tag characters.
fn is_hidden(c: char) -> bool {
    matches!(c,
        '\0'..='\x08' | '\x0b'..='\x1f' | '\x7f'..='\u{9f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

fn schema_problem(schema: &Value) -> Option<String> {
    let bytes = schema.to_string();
    if bytes.len() > MAX_SCHEMA_BYTES {
        return Some(format!(
            "{} bytes, more than {MAX_SCHEMA_BYTES}",
            bytes.len()
        ));
    }
    if bytes.chars().any(is_hidden) {
        return Some("a character in it is not shown to people".to_owned());
    }
    if depth(schema) > MAX_SCHEMA_DEPTH {
        return Some(format!("deeper than {MAX_SCHEMA_DEPTH} levels"));
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("object") => None,
        _ => Some("the root must say \"type\": \"object\"".to_owned()),
    }
}

/// Recursion is bounded: JSON text is parsed to at most 128 levels.
fn depth(value: &Value) -> usize {
    let children: Box<dyn Iterator<Item = &Value>> = match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(fields) => Box::new(fields.values()),
        _ => return 1,
    };
    1 + children.map(depth).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str) -> ToolInfo {
        ToolInfo {
            name: name.to_owned(),
            description: "Does something.".to_owned(),
            input_schema: json!({"type": "object"}),
            output_schema: None,
            annotations: Default::default(),
        }
    }

    fn places(tools: &[ToolInfo]) -> Vec<String> {
        match check(&tools.iter().collect::<Vec<_>>()) {
            Err(InstallError::Description(found)) => found.into_iter().map(|p| p.at).collect(),
            Ok(()) => Vec::new(),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn names_are_plain_and_unique() {
        assert!(places(&[tool("a"), tool("b-c_9")]).is_empty());
        let bad = [
            tool("a"),
            tool("a"),
            tool(""),
            tool("a b"),
            tool(&"x".repeat(65)),
            tool("ä"),
        ];
        let expected = ["/1/name", "/2/name", "/3/name", "/4/name", "/5/name"];
        assert_eq!(places(&bad), expected);
    }

    #[test]
    fn hidden_and_endless_descriptions_are_refused() {
        for text in ["", "a\u{202e}b", "a\u{e0041}", "\u{7}", &"x".repeat(9_000)] {
            let tool = ToolInfo {
                description: text.to_owned(),
                ..tool("a")
            };
            assert!(
                places(&[tool]).contains(&"/0/description".to_owned()),
                "{text:?}"
            );
        }
    }

    #[test]
    fn hostile_schemas_are_refused() {
        let mut deep = json!({"type": "object"});
        for _ in 0..100 {
            deep = json!({"type": "object", "properties": {"a": deep}});
        }
        for schema in [json!(true), json!({"type": "string"}), json!([]), deep] {
            let tool = ToolInfo {
                input_schema: schema.clone(),
                ..tool("a")
            };
            assert_eq!(places(&[tool]), ["/0/input_schema"], "{schema}");
        }
    }
}
