//! What installing a component found, as it is stored beside its bytes and shown to people.

use bulkhead_domain::ToolInfo;
use bulkhead_policy::Capabilities;
use bulkhead_sandbox::{Component, Import, Kind};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::schema;

/// What a component is and has. Pinned to its digest.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub(crate) struct Description {
    /// `native`, or `plain` for plain typed exports.
    #[schema(value_type = schema::Kind)]
    pub(crate) kind: Kind,
    /// Whether it imports nothing through which it could reach, learn or change anything.
    pub(crate) pure: bool,
    /// What it imports.
    #[schema(value_type = Vec<schema::Import>)]
    pub(crate) imports: Vec<Import>,
    /// What all its tools together wish for.
    #[schema(value_type = schema::Capabilities)]
    pub(crate) wishes: Capabilities,
    /// Its tools.
    pub(crate) tools: Vec<ToolDescription>,
    /// Exports of a plain component that are no tools.
    pub(crate) skipped: Vec<Skipped>,
}

/// One tool and what it wishes for.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[schema(as = Tool)]
pub(crate) struct ToolDescription {
    #[serde(flatten)]
    #[schema(value_type = schema::ToolInfo)]
    pub(crate) info: ToolInfo,
    /// What this tool wishes for.
    #[schema(value_type = schema::Capabilities)]
    pub(crate) wishes: Capabilities,
}

/// An export that is no tool.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub(crate) struct Skipped {
    /// Its path in the component.
    pub(crate) path: String,
    /// Why it is none.
    pub(crate) reason: String,
}

impl From<&Component> for Description {
    fn from(component: &Component) -> Self {
        let tools = component.tools();
        let skipped = component.skipped();
        Self {
            kind: component.kind(),
            pure: component.is_pure(),
            imports: component.imports().to_vec(),
            wishes: component.wishes().clone(),
            tools: tools
                .map(|(info, wishes)| ToolDescription {
                    info: info.clone(),
                    wishes: wishes.clone(),
                })
                .collect(),
            skipped: skipped
                .map(|(path, reason)| Skipped {
                    path: path.to_owned(),
                    reason: reason.to_owned(),
                })
                .collect(),
        }
    }
}

impl Description {
    pub(crate) fn tool(&self, name: &str) -> Option<&ToolDescription> {
        self.tools.iter().find(|tool| tool.info.name == name)
    }
}
