//! A tool in an answer.

use bulkhead_store::ToolRecord;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

/// A package that source imports.
#[derive(ToSchema)]
#[allow(dead_code, reason = "it stands for JSON in the document of the API")]
pub(crate) struct Requirement {
    /// Its name in the package index.
    name: String,
    /// The version; the newest if left out.
    version: Option<String>,
}

/// A tool with every field of the contract.
#[derive(Serialize, ToSchema)]
#[schema(as = ListedTool)]
pub(crate) struct ToolView {
    id: String,
    tool_type: &'static str,
    description: Option<String>,
    source_type: Option<String>,
    name: String,
    tags: Vec<String>,
    source_code: Option<String>,
    #[schema(value_type = Option<Object>)]
    json_schema: Option<Value>,
    #[schema(value_type = Option<Object>)]
    args_json_schema: Option<Value>,
    return_char_limit: i64,
    #[schema(value_type = Option<Vec<Requirement>>)]
    pip_requirements: Option<Value>,
    #[schema(value_type = Option<Vec<Requirement>>)]
    npm_requirements: Option<Value>,
    default_requires_approval: Option<bool>,
    enable_parallel_execution: Option<bool>,
    created_by_id: Option<String>,
    last_updated_by_id: Option<String>,
    #[schema(value_type = Option<Object>)]
    metadata_: Option<Value>,
    project_id: Option<String>,
}

impl From<ToolRecord> for ToolView {
    fn from(tool: ToolRecord) -> Self {
        let metadata_ = metadata(&tool);
        Self {
            id: tool.id,
            tool_type: tool.tool_type.as_str(),
            description: tool.description,
            source_type: tool.source_type,
            name: tool.name,
            tags: tool.tags,
            source_code: tool.source_code,
            json_schema: tool.json_schema,
            args_json_schema: tool.args_json_schema,
            return_char_limit: tool.return_char_limit,
            pip_requirements: tool.pip_requirements,
            npm_requirements: tool.npm_requirements,
            default_requires_approval: tool.default_requires_approval,
            enable_parallel_execution: tool.enable_parallel_execution,
            created_by_id: tool.created_by_id,
            last_updated_by_id: tool.last_updated_by_id,
            metadata_,
            project_id: tool.project_id,
        }
    }
}

/// What is stored, and which component brings the tool, where one does.
fn metadata(tool: &ToolRecord) -> Option<Value> {
    let Some(component) = &tool.component else {
        return tool.metadata.clone();
    };
    let mut metadata = tool.metadata.clone().unwrap_or_else(|| json!({}));
    metadata["component"] = json!({ "name": component.component, "tool": component.tool });
    Some(metadata)
}
