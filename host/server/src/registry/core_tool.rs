//! How the built-in tools that agents have by default are listed: clients find them by their types
//! and expect the functions that a model is offered word for word.

use bulkhead_store::ToolType;
use serde_json::{Map, Value, json};

/// The tools of each type; those of the other built-in components have the type of the web.
const TYPES: [(ToolType, &[&str]); 6] = [
    (
        ToolType::LettaCore,
        &[
            "send_message",
            "conversation_search",
            "archival_memory_insert",
            "archival_memory_search",
        ],
    ),
    (
        ToolType::LettaMemoryCore,
        &[
            "core_memory_append",
            "core_memory_replace",
            "memory",
            "memory_apply_patch",
        ],
    ),
    (
        ToolType::LettaSleeptimeCore,
        &[
            "memory_insert",
            "memory_replace",
            "memory_rethink",
            "memory_finish_edits",
        ],
    ),
    (ToolType::LettaFilesCore, &FILE_TOOLS),
    (
        ToolType::LettaMultiAgentCore,
        &[
            "send_message_to_agent_and_wait_for_reply",
            "send_message_to_agent_async",
            "send_message_to_agents_matching_tags",
        ],
    ),
    (
        ToolType::LettaVoiceSleeptimeCore,
        &[
            "rethink_user_memory",
            "finish_rethinking_memory",
            "store_memories",
            "search_memory",
        ],
    ),
];

/// Those of them whose calls may run beside others. More of them only read, but clients compare.
const PARALLEL: [&str; 4] = [
    "conversation_search",
    "archival_memory_search",
    "grep_files",
    "semantic_search_files",
];

/// The tools that an agent has as long as it has a folder.
pub(crate) const FILE_TOOLS: [&str; 3] = ["open_files", "grep_files", "semantic_search_files"];

/// The keywords of a schema that say what a model has to know.
const KEYWORDS: [&str; 6] = [
    "type",
    "description",
    "properties",
    "required",
    "items",
    "enum",
];

/// The type of a tool of a built-in component; none for the tools of the web.
pub(super) fn tool_type(tool: &str) -> Option<ToolType> {
    let found = TYPES.iter().find(|(_, tools)| tools.contains(&tool));
    found.map(|(tool_type, _)| *tool_type)
}

/// Whether calls of this tool may run beside others.
pub(super) fn is_parallel(tool: &str) -> bool {
    PARALLEL.contains(&tool)
}

/// A schema of parameters in the few keywords that every model provider takes. That an optional
/// parameter may be null as well is left out: it may be left out itself.
pub(super) fn plain(schema: &Value) -> Value {
    let Value::Object(schema) = schema else {
        return schema.clone();
    };
    let mut plain = Map::new();
    // The one alternative to null says what the value is.
    if let Some(Value::Array(alternatives)) = schema.get("anyOf")
        && let Some(Value::Object(value)) = alternatives.iter().find(|each| !is_null(each))
    {
        plain.extend(known(value));
    }
    plain.extend(known(schema));
    Value::Object(plain)
}

fn known(schema: &Map<String, Value>) -> impl Iterator<Item = (String, Value)> {
    let known = schema
        .iter()
        .filter(|(keyword, _)| KEYWORDS.contains(&keyword.as_str()));
    known.map(|(keyword, value)| (keyword.clone(), plain_keyword(keyword, value)))
}

fn plain_keyword(keyword: &str, value: &Value) -> Value {
    match (keyword, value) {
        ("properties", Value::Object(properties)) => {
            let properties = properties.iter();
            Value::Object(
                properties
                    .map(|(name, schema)| (name.clone(), plain(schema)))
                    .collect(),
            )
        }
        ("items", schema) => plain(schema),
        ("type", Value::Array(types)) => {
            let found = types.iter().find(|name| *name != "null");
            found.cloned().unwrap_or_else(|| json!("null"))
        }
        ("enum", Value::Array(values)) => values
            .iter()
            .filter(|value| !value.is_null())
            .cloned()
            .collect(),
        (_, value) => value.clone(),
    }
}

fn is_null(schema: &Value) -> bool {
    schema["type"] == "null"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_keeps_what_a_model_has_to_know() {
        let schema = json!({
            "type": "object", "additionalProperties": false, "required": ["chunks"],
            "properties": {
                "limit": { "type": ["integer", "null"], "minimum": 1, "description": "How many." },
                "mode": {
                    "anyOf": [{ "type": "string", "enum": ["any", "all"] }, { "type": "null" }],
                    "description": "Which.",
                },
                "roles": { "type": ["array", "null"], "items": { "type": "string", "enum": ["user", null] } },
                "chunks": { "type": "array", "items": {
                    "description": "A part.", "type": "object", "required": ["minimum"],
                    "properties": { "minimum": { "type": "integer", "format": "int64" } },
                } },
            },
        });
        let expected = json!({
            "type": "object", "required": ["chunks"],
            "properties": {
                "limit": { "type": "integer", "description": "How many." },
                "mode": { "type": "string", "enum": ["any", "all"], "description": "Which." },
                "roles": { "type": "array", "items": { "type": "string", "enum": ["user"] } },
                "chunks": { "type": "array", "items": {
                    "description": "A part.", "type": "object", "required": ["minimum"],
                    "properties": { "minimum": { "type": "integer" } },
                } },
            },
        });
        assert_eq!(plain(&schema), expected);
    }

    #[test]
    fn every_tool_has_one_type() {
        let mut names: Vec<_> = TYPES.iter().flat_map(|(_, tools)| *tools).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(PARALLEL.iter().all(|tool| tool_type(tool).is_some()));
        assert_eq!(tool_type("web_search"), None);
    }
}
