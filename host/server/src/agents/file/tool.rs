//! A tool of a file.

use bulkhead_store::{ToolRecord, ToolType};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::contract::body::Schema;

/// A parameter that older servers wrote into the schemas of all tools, although no function has it.
const HEARTBEAT: &str = "request_heartbeat";
/// What a server itself notes of a tool.
const NOTED: [&str; 4] = ["tool_hash", "function", "component", "mcp"];
/// What stands before the name of an MCP server in a tag of its tools.
const MCP_TAG: &str = "mcp:";

/// A tool with every field of the contract.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FileTool {
    pub(super) id: String,
    #[serde(default = "custom")]
    pub(super) tool_type: ToolType,
    description: Option<String>,
    source_type: Option<String>,
    pub(super) name: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    pub(super) source_code: Option<String>,
    pub(super) json_schema: Option<Value>,
    args_json_schema: Option<Value>,
    return_char_limit: Option<i64>,
    pip_requirements: Option<Value>,
    npm_requirements: Option<Value>,
    default_requires_approval: Option<bool>,
    enable_parallel_execution: Option<bool>,
    created_by_id: Option<String>,
    last_updated_by_id: Option<String>,
    metadata_: Option<Value>,
    project_id: Option<String>,
}

impl Schema for FileTool {
    const NAME: &str = "AgentFileTool";
}

fn custom() -> ToolType {
    ToolType::Custom
}

impl FileTool {
    /// A stored tool under a local id.
    pub(super) fn of(tool: &ToolRecord, id: String) -> Self {
        let mut metadata = tool.metadata.clone();
        if let Some(component) = &tool.component {
            let component = json!({ "name": component.component, "tool": component.tool });
            let metadata = metadata.get_or_insert_with(|| json!({}));
            if let Some(fields) = metadata.as_object_mut() {
                fields.insert("component".to_owned(), component);
            }
        }
        // Which server it is of is known by names; the id is of the database.
        if let Some(mcp) = &tool.mcp
            && let Some(Value::Object(of)) = metadata.as_mut().and_then(|all| all.get_mut("mcp"))
        {
            of.remove("server_id");
            of.insert("tool_name".to_owned(), json!(mcp.tool));
        }
        Self {
            id,
            tool_type: tool.tool_type,
            description: tool.description.clone(),
            source_type: tool.source_type.clone(),
            name: Some(tool.name.clone()),
            tags: tool.tags.clone(),
            source_code: tool.source_code.clone(),
            json_schema: tool.json_schema.clone(),
            args_json_schema: tool.args_json_schema.clone(),
            return_char_limit: Some(tool.return_char_limit),
            pip_requirements: tool.pip_requirements.clone(),
            npm_requirements: tool.npm_requirements.clone(),
            default_requires_approval: tool.default_requires_approval,
            enable_parallel_execution: tool.enable_parallel_execution,
            created_by_id: None,
            last_updated_by_id: None,
            metadata_: metadata,
            project_id: None,
        }
    }

    /// What it is called; none where neither it nor its schema says so.
    pub(super) fn name(&self) -> Option<&str> {
        let schema = self.json_schema.as_ref();
        let named = || schema.and_then(|schema| schema["name"].as_str());
        self.name.as_deref().or_else(named)
    }

    /// The source, where there is any.
    pub(super) fn source(&self) -> Option<&str> {
        self.source_code
            .as_deref()
            .filter(|source| !source.trim().is_empty())
    }

    /// The component that brought it to the server that wrote the file.
    pub(super) fn component(&self) -> Option<&str> {
        self.metadata_.as_ref()?["component"]["name"].as_str()
    }

    /// The name of the MCP server that runs it, and what that calls it; none where the file does not
    /// say so.
    pub(super) fn mcp(&self) -> Option<(&str, &str)> {
        let of = self.metadata_.as_ref().map(|metadata| &metadata["mcp"]);
        let said = of.and_then(|of| of["server_name"].as_str());
        let tagged = || self.tags.iter().find_map(|tag| tag.strip_prefix(MCP_TAG));
        let server = said.or_else(tagged)?;
        let tool = of
            .and_then(|of| of["tool_name"].as_str())
            .or_else(|| self.name())?;
        Some((server, tool))
    }

    /// What its owner noted of it.
    pub(super) fn noted(&self) -> Map<String, Value> {
        let fields = self.metadata_.as_ref().and_then(Value::as_object);
        let mut fields = fields.cloned().unwrap_or_default();
        fields.retain(|name, _| !NOTED.contains(&name.as_str()));
        fields
    }

    /// The body with which a client would save it.
    pub(super) fn body(&self) -> Value {
        let source = self.source_code.as_deref().unwrap_or_default();
        let mut schema = self.json_schema.clone();
        if let Some(schema) = schema.as_mut().filter(|_| !source.contains(HEARTBEAT)) {
            forget_heartbeat(schema);
        }
        let mut body = json!({
            "source_code": source,
            "source_type": self.source_type,
            "description": self.description,
            "tags": self.tags,
            "json_schema": schema,
            "args_json_schema": self.args_json_schema,
            "return_char_limit": self.return_char_limit,
            "pip_requirements": self.pip_requirements,
            "npm_requirements": self.npm_requirements,
            "default_requires_approval": self.default_requires_approval,
            "enable_parallel_execution": self.enable_parallel_execution,
        });
        if let Some(fields) = body.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
        }
        body
    }
}

fn forget_heartbeat(schema: &mut Value) {
    let Some(parameters) = schema.get_mut("parameters") else {
        return;
    };
    if let Some(properties) = parameters
        .get_mut("properties")
        .and_then(Value::as_object_mut)
    {
        properties.remove(HEARTBEAT);
    }
    if let Some(required) = parameters.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| name != HEARTBEAT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(more: Value) -> FileTool {
        let mut tool = json!({ "id": "tool-0", "name": "look", "source_code": "def look(): pass" });
        if let (Some(fields), Value::Object(more)) = (tool.as_object_mut(), more) {
            fields.extend(more);
        }
        serde_json::from_value(tool).expect("a tool")
    }

    #[test]
    fn a_parameter_that_only_older_loops_know_is_left_out() {
        let schema = json!({ "name": "look", "parameters": {
            "properties": { "a": {}, "request_heartbeat": {} },
            "required": ["a", "request_heartbeat"],
        } });
        let body = tool(json!({ "json_schema": schema })).body();
        let parameters = &body["json_schema"]["parameters"];
        assert_eq!(
            parameters,
            &json!({ "properties": { "a": {} }, "required": ["a"] })
        );
        let source = "def look(a, request_heartbeat): pass";
        let body = tool(json!({ "json_schema": schema, "source_code": source })).body();
        assert_eq!(body["json_schema"], schema);
    }

    #[test]
    fn what_a_server_notes_itself_is_not_taken_from_a_file() {
        let noted = json!({ "mine": 1, "function": "rm", "tool_hash": "0", "component": {} });
        let noted = tool(json!({ "metadata_": noted })).noted();
        assert_eq!(Value::Object(noted), json!({ "mine": 1 }));
    }
}
