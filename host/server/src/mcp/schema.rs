//! What a server says of a tool, as a tool of this server.

use bulkhead_domain::Digest;
use bulkhead_mcp::RemoteTool;
use bulkhead_sandbox::InputCheck;
use bulkhead_store::{NewMcpTool, NewTool, ToolType};
use serde_json::{Map, Value, json};

/// Characters of a name that model providers take.
const NAME_MAX: usize = 64;
/// Hex digits that tell names apart which would be the same otherwise.
const HASH_DIGITS: usize = 8;
/// Levels of a schema: far above any tool's, and below what can be stored.
const DEPTH_MAX: usize = 64;
/// Reasons that are told for one schema.
const REASONS_MAX: usize = 20;
/// The parameter by which agents of the older types go on; no server knows it.
pub(crate) const HEARTBEAT: &str = "request_heartbeat";

/// How well a schema is suited for models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// Every object in it says which fields it has.
    Strict,
    /// Some object may have any fields.
    Loose,
    /// It can't be used.
    Invalid,
}

impl Status {
    /// The contract's word for it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Strict => "STRICT_COMPLIANT",
            Self::Loose => "NON_STRICT_ONLY",
            Self::Invalid => "INVALID",
        }
    }
}

/// How well the schema of a tool is suited, and why not better.
pub(crate) fn health(tool: &RemoteTool) -> (Status, Vec<String>) {
    let schema = match &tool.input_schema {
        Ok(schema) => schema,
        Err(reason) => return (Status::Invalid, vec![reason.clone()]),
    };
    if !nests_within(schema, DEPTH_MAX) {
        let reason = format!("root: nested deeper than {DEPTH_MAX} levels");
        return (Status::Invalid, vec![reason]);
    }
    if schema.get("type").is_some_and(|kind| kind != "object") {
        let reason = "root: type is not object".to_owned();
        return (Status::Invalid, vec![reason]);
    }
    if let Err(reason) = InputCheck::new(schema) {
        return (Status::Invalid, vec![format!("root: {reason}")]);
    }
    let mut reasons = Vec::new();
    loose_objects(schema, "root", true, &mut reasons);
    match reasons.is_empty() {
        true => (Status::Strict, reasons),
        false => (Status::Loose, reasons),
    }
}

/// The tool as it is stored; none where its schema can't be used.
pub(crate) fn stored(server: &str, tool: RemoteTool) -> Option<NewMcpTool> {
    let (status, reasons) = health(&tool);
    if status == Status::Invalid {
        tracing::warn!(
            server,
            tool = tool.name,
            reasons = reasons.join("; "),
            "a tool of an MCP server was left out: its schema can't be used"
        );
        return None;
    }
    let is_read_only = tool.is_read_only();
    let schema = tool.input_schema.ok()?;
    let name = fitted(&tool.name, &tool.name);
    let mut new = NewTool::new(name, ToolType::ExternalMcp);
    let description = tool.description.or(tool.title).unwrap_or_default();
    new.json_schema = Some(json!({
        // The store writes the name, which may have to be another one.
        "name": "",
        "description": description,
        "parameters": parameters(&schema),
        "mcp:SCHEMA_STATUS": status.as_str(),
        "mcp:SCHEMA_WARNINGS": reasons,
    }));
    new.args_json_schema = Some(schema);
    new.description = Some(description);
    new.source_type = Some("json".to_owned());
    // Nothing that reads alone is in the way of another; that it does is the server's word.
    new.enable_parallel_execution = Some(is_read_only);
    Some(NewMcpTool {
        full_name: fitted(&format!("{server}__{}", tool.name), &tool.name),
        remote: tool.name,
        tool: new,
    })
}

/// The parameters as a model is offered them: the server's, without what only validators read, and
/// with the one that the contract adds to all tools of such servers.
fn parameters(schema: &Value) -> Value {
    let mut parameters = schema.as_object().cloned().unwrap_or_default();
    parameters.remove("$schema");
    parameters.insert("type".to_owned(), json!("object"));
    parameters
        .entry("additionalProperties")
        .or_insert(Value::Bool(false));
    let mut properties = taken_object(&mut parameters, "properties");
    if !properties.contains_key(HEARTBEAT) {
        let heartbeat = json!({
            "type": "boolean",
            "description": "Set to true to be asked again right after this call, for example to use its result.",
        });
        properties.insert(HEARTBEAT.to_owned(), heartbeat);
        let mut required = match parameters.remove("required") {
            Some(Value::Array(required)) => required,
            _ => Vec::new(),
        };
        required.push(json!(HEARTBEAT));
        parameters.insert("required".to_owned(), Value::Array(required));
    }
    parameters.insert("properties".to_owned(), Value::Object(properties));
    Value::Object(parameters)
}

fn taken_object(fields: &mut Map<String, Value>, name: &str) -> Map<String, Value> {
    match fields.remove(name) {
        Some(Value::Object(object)) => object,
        _ => Map::new(),
    }
}

/// A name that providers of models take. Where it says less than the text, a hash of `unique` stands
/// at its end, so that two texts don't become one name.
pub(crate) fn fitted(text: &str, unique: &str) -> String {
    let of_names = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    let mut name: String = text
        .chars()
        .map(|c| if of_names(c) { c } else { '_' })
        .collect();
    if name == text && name.len() <= NAME_MAX {
        return name;
    }
    // Each is one byte by now.
    name.truncate(NAME_MAX - HASH_DIGITS - 1);
    let hash = Digest::of(unique.as_bytes()).hex();
    format!("{name}_{}", &hash[..HASH_DIGITS])
}

fn nests_within(value: &Value, levels: usize) -> bool {
    let Some(left) = levels.checked_sub(1) else {
        return !matches!(value, Value::Array(_) | Value::Object(_));
    };
    match value {
        Value::Array(items) => items.iter().all(|item| nests_within(item, left)),
        Value::Object(fields) => fields.values().all(|field| nests_within(field, left)),
        _ => true,
    }
}

/// Notes every object of a schema that may have fields which it does not name.
fn loose_objects(schema: &Value, place: &str, is_root: bool, reasons: &mut Vec<String>) {
    if reasons.len() == REASONS_MAX {
        return;
    }
    match schema {
        Value::Object(fields) => {
            let is_object = is_root || fields.get("type").is_some_and(|kind| kind == "object");
            match fields.get("additionalProperties") {
                None if is_object => {
                    reasons.push(format!(
                        "{place}: 'additionalProperties' not explicitly set"
                    ));
                }
                Some(value) if is_object && *value != false => reasons.push(format!(
                    "{place}: 'additionalProperties' is not false (free-form object)"
                )),
                _ => {}
            }
            for (name, field) in fields {
                let place = format!("{place}.{}", short(name));
                loose_objects(field, &place, false, reasons);
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                loose_objects(item, &format!("{place}[{at}]"), false, reasons);
            }
        }
        _ => {}
    }
}

/// The beginning of a name of the server's, for a reason.
fn short(name: &str) -> &str {
    const LENGTH_MAX: usize = 64;
    &name[..name.floor_char_boundary(LENGTH_MAX)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, schema: Value) -> RemoteTool {
        RemoteTool {
            name: name.to_owned(),
            title: None,
            description: Some("Does it.".to_owned()),
            input_schema: Ok(schema),
            output_schema: None,
            annotations: None,
        }
    }

    #[test]
    fn a_schema_is_strict_loose_or_no_use() {
        let strict = json!({ "type": "object", "additionalProperties": false,
            "properties": { "a": { "type": "string" } } });
        assert_eq!(health(&tool("a", strict)).0, Status::Strict);
        let loose = json!({ "type": "object", "additionalProperties": false,
            "properties": { "a": { "type": "object" } } });
        let (status, reasons) = health(&tool("a", loose));
        assert_eq!(status, Status::Loose);
        assert_eq!(
            reasons,
            ["root.properties.a: 'additionalProperties' not explicitly set"]
        );
        let mut deep = json!({});
        for _ in 0..DEPTH_MAX {
            deep = json!({ "properties": deep });
        }
        for invalid in [
            json!({ "type": "string" }),
            json!({ "type": "object", "properties": { "a": { "$ref": "http://127.0.0.1/x" } } }),
            json!({ "type": "object", "properties": 7 }),
            deep,
        ] {
            assert_eq!(
                health(&tool("a", invalid.clone())).0,
                Status::Invalid,
                "{invalid}"
            );
        }
    }

    #[test]
    fn a_stored_tool_keeps_its_schema_and_offers_the_contract_s() {
        let schema = json!({ "$schema": "http://json-schema.org/draft-07/schema#",
            "properties": { "a": { "type": "string" } }, "required": ["a"] });
        let new = stored("mine", tool("look.up", schema.clone())).expect("it can be used");
        assert_eq!(new.tool.args_json_schema, Some(schema));
        let offered = &new.tool.json_schema.expect("one")["parameters"];
        assert_eq!(offered["required"], json!(["a", HEARTBEAT]));
        assert_eq!(offered.get("$schema"), None);
        assert!(new.tool.name.starts_with("look_up_") && new.remote == "look.up");
        assert!(
            new.full_name.starts_with("mine__look_up_"),
            "{}",
            new.full_name
        );
    }

    #[test]
    fn names_are_those_that_models_take_and_stay_apart() {
        assert_eq!(fitted("get-it_2", "x"), "get-it_2");
        let long = "n".repeat(200);
        for (one, other) in [("a.b", "a/b"), ("ä", "ö"), (&*long, &*"n".repeat(201))] {
            let (one, other) = (fitted(one, one), fitted(other, other));
            assert!(one != other && one.len() <= NAME_MAX, "{one} {other}");
        }
    }
}
