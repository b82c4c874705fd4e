//! Tools as clients of the API know them: unique by name, from source text or of a component.
//!
//! - `kind`: the types that the API names; `limits`: what is stored at most.
//! - `row`: a tool as a row; `write`: one tool by its id or name; `component`: all tools that a
//!   component brings; `filter`: lists and counts; `names`: names alone.
//!
//! Whoever writes takes one lock first, so that a name is free from the moment it is found so
//! until it is taken, and nobody changes a tool between its reading and its writing. Tools are
//! saved by people and pushes, far too seldom for that to be felt; reading takes no lock.

mod component;
mod filter;
mod kind;
pub mod limits;
mod names;
mod row;
mod write;

use bulkhead_domain::{Digest, Timestamp, id::McpServerId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use filter::{FILTER_LIST_MAX, PAGE_BYTES_MAX, ToolFilter};
pub use kind::{ParseToolTypeError, ToolType};
pub(crate) use row::{COLUMNS, identity, lock, put, record, select};

/// Which tool of which component a tool is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ComponentTool {
    /// The name of the component.
    pub component: String,
    /// What the component calls the tool.
    pub tool: String,
}

/// Which tool of which MCP server a tool is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct McpTool {
    /// The server.
    pub server_id: McpServerId,
    /// What the server calls the tool.
    pub tool: String,
}

/// A tool to store: all that whoever saves it decides.
#[derive(Debug, Clone, PartialEq)]
pub struct NewTool {
    /// What models and clients call it.
    pub name: String,
    /// Where it comes from.
    pub tool_type: ToolType,
    /// The language of its source.
    pub source_type: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// Its source, where it arrived as such.
    pub source_code: Option<String>,
    /// The function that a model is offered.
    pub json_schema: Option<Value>,
    /// The schema of the arguments that `json_schema` was made from.
    pub args_json_schema: Option<Value>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Characters of a result that a model sees.
    pub return_char_limit: i64,
    /// Packages of Python that it imports.
    pub pip_requirements: Option<Value>,
    /// Packages of JavaScript that it imports.
    pub npm_requirements: Option<Value>,
    /// Whether agents that it is attached to ask a person before each call.
    pub default_requires_approval: Option<bool>,
    /// Whether calls of it may run beside others.
    pub enable_parallel_execution: Option<bool>,
    /// Whatever else is known of it.
    pub metadata: Option<Value>,
    /// The package set that its requirements were resolved to.
    pub packages: Option<Digest>,
    /// Who saves it: the creator of a new tool, the last who changed one that was there.
    pub user_id: Option<String>,
    /// The project that it belongs to.
    pub project_id: Option<String>,
}

impl NewTool {
    /// A tool of this name and type about which nothing else is known.
    pub fn new(name: impl Into<String>, tool_type: ToolType) -> Self {
        Self {
            name: name.into(),
            tool_type,
            source_type: None,
            description: None,
            source_code: None,
            json_schema: None,
            args_json_schema: None,
            tags: Vec::new(),
            return_char_limit: limits::RETURN_CHARS_DEFAULT,
            pip_requirements: None,
            npm_requirements: None,
            default_requires_approval: None,
            enable_parallel_execution: None,
            metadata: None,
            packages: None,
            user_id: None,
            project_id: None,
        }
    }
}

/// A stored tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolRecord {
    /// `tool-<uuid>`. Stays for as long as its name is taken, whatever else is changed.
    pub id: String,
    /// What models and clients call it. No other tool has this name.
    pub name: String,
    /// Where it comes from.
    pub tool_type: ToolType,
    /// The language of its source.
    pub source_type: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// Its source, where it arrived as such.
    pub source_code: Option<String>,
    /// The function that a model is offered.
    pub json_schema: Option<Value>,
    /// The schema of the arguments that `json_schema` was made from.
    pub args_json_schema: Option<Value>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Characters of a result that a model sees.
    pub return_char_limit: i64,
    /// Packages of Python that it imports.
    pub pip_requirements: Option<Value>,
    /// Packages of JavaScript that it imports.
    pub npm_requirements: Option<Value>,
    /// Whether agents that it is attached to ask a person before each call.
    pub default_requires_approval: Option<bool>,
    /// Whether calls of it may run beside others.
    pub enable_parallel_execution: Option<bool>,
    /// Whatever else is known of it.
    pub metadata: Option<Value>,
    /// The component that brings it; none for a tool from source.
    pub component: Option<ComponentTool>,
    /// The MCP server that runs it; none for a tool that runs here.
    #[serde(default)]
    pub mcp: Option<McpTool>,
    /// The package set that its requirements were resolved to.
    pub packages: Option<Digest>,
    /// Who saved it first.
    pub created_by_id: Option<String>,
    /// Who saved it last.
    pub last_updated_by_id: Option<String>,
    /// The project that it belongs to.
    pub project_id: Option<String>,
    /// When its name was first taken.
    pub created_at: Timestamp,
    /// When it was last saved.
    pub updated_at: Timestamp,
}

impl ToolRecord {
    /// A tool that was not there before.
    pub(crate) fn made(new: NewTool, component: Option<ComponentTool>, now: Timestamp) -> Self {
        Self {
            id: format!("tool-{}", uuid::Uuid::new_v4()),
            name: new.name,
            tool_type: new.tool_type,
            source_type: new.source_type,
            description: new.description,
            source_code: new.source_code,
            json_schema: new.json_schema,
            args_json_schema: new.args_json_schema,
            tags: new.tags,
            return_char_limit: new.return_char_limit,
            pip_requirements: new.pip_requirements,
            npm_requirements: new.npm_requirements,
            default_requires_approval: new.default_requires_approval,
            enable_parallel_execution: new.enable_parallel_execution,
            metadata: new.metadata,
            component,
            mcp: None,
            packages: new.packages,
            created_by_id: new.user_id.clone(),
            last_updated_by_id: new.user_id,
            project_id: new.project_id,
            created_at: now,
            updated_at: now,
        }
    }

    /// Makes it the one that was there: whoever knows that one's id finds this one.
    pub(crate) fn in_place_of(&mut self, former: Identity) {
        self.id = former.id;
        self.created_by_id = former.created_by_id;
        self.created_at = former.created_at;
    }

    pub(crate) fn identity(&self) -> Identity {
        Identity {
            id: self.id.clone(),
            created_by_id: self.created_by_id.clone(),
            created_at: self.created_at,
        }
    }
}

/// What of a tool stays when everything else is replaced.
pub(crate) struct Identity {
    id: String,
    created_by_id: Option<String>,
    created_at: Timestamp,
}
