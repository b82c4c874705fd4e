//! What a server says of a tool, as a tool of this server.

use bulkhead_domain::Digest;
use bulkhead_store::{NewMcpTool, NewTool, ToolType};
use serde_json::{Map, Value, json};

use super::judge::{Judged, Status};
use crate::registry::builtin;

/// Characters of a name that model providers take.
const NAME_MAX: usize = 64;
/// Hex digits that tell names apart which would be the same otherwise.
const HASH_DIGITS: usize = 8;
/// The parameter by which agents of the older types go on; no server knows it.
pub(crate) const HEARTBEAT: &str = "request_heartbeat";

/// The tool as it is stored; none where its schema can't be used. One that has the name of a tool that
/// comes with this server is called by its full name: agents begin with those by their names.
pub(crate) fn stored(server: &str, judged: Judged) -> Option<NewMcpTool> {
    let Judged {
        tool,
        status,
        reasons,
    } = judged;
    if status == Status::Invalid {
        return None;
    }
    let is_read_only = tool.is_read_only();
    let schema = tool.input_schema.ok()?;
    let full_name = fitted(&format!("{server}__{}", tool.name), &tool.name);
    let name = Some(fitted(&tool.name, &tool.name));
    let name = name.filter(|name| !builtin::is_reserved_name(name));
    let name = name.unwrap_or_else(|| full_name.clone());
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
        full_name,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(name: &str, schema: Value) -> Judged {
        super::super::judge::tests::judged(name, schema)
    }

    #[test]
    fn a_stored_tool_keeps_its_schema_and_offers_the_contract_s() {
        let schema = json!({ "$schema": "http://json-schema.org/draft-07/schema#",
            "properties": { "a": { "type": "string" } }, "required": ["a"] });
        let new = stored("mine", judged("look.up", schema.clone())).expect("it can be used");
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
    fn a_name_of_a_tool_that_comes_with_the_server_is_not_taken() {
        for name in ["memory_insert", "send_message", "run_code", "web_search"] {
            let new = stored("mine", judged(name, json!({}))).expect("it can be used");
            assert_eq!(new.tool.name, format!("mine__{name}"));
            assert_eq!(
                (new.tool.name, new.remote),
                (new.full_name, name.to_owned())
            );
        }
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
