//! What a tool says of itself.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One tool of a component, as `describe` gave it at install.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolInfo {
    /// The name by which a model calls it; unique within its component.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON Schema 2020-12 of the input; the root is an object schema.
    pub input_schema: Value,
    /// JSON Schema 2020-12 of the structured output, where the tool promises one.
    #[serde(default)]
    pub output_schema: Option<Value>,
    /// Hints for clients and approval policies.
    #[serde(default)]
    pub annotations: Annotations,
}

/// Hints for clients and approval policies; never a grant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Annotations {
    /// A name for people.
    #[serde(default)]
    pub title: Option<String>,
    /// Changes nothing outside of itself.
    #[serde(default)]
    pub read_only: bool,
    /// May delete or overwrite.
    #[serde(default)]
    pub destructive: bool,
    /// Repeating the call with the same input has no further effect.
    #[serde(default)]
    pub idempotent: bool,
    /// Reaches an open set of outside systems, such as the web.
    #[serde(default)]
    pub open_world: bool,
}
