//! An installed component.

use std::{fmt, sync::Arc};

use bulkhead_domain::{Digest, ToolInfo};
use bulkhead_policy::Capabilities;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{adapter::PlainTool, schema::InputCheck, state::CallState};

/// A component that was validated, compiled and described: ready to be called. Cheap to clone.
#[derive(Clone)]
pub struct Component(pub(crate) Arc<Installed>);

pub(crate) struct Installed {
    pub(crate) digest: Digest,
    pub(crate) size: u64,
    pub(crate) kind: Kind,
    pub(crate) imports: Vec<Import>,
    pub(crate) pure: bool,
    pub(crate) tools: Vec<InstalledTool>,
    pub(crate) skipped: Vec<(String, String)>,
    /// The union of what its tools wish for.
    pub(crate) wishes: Capabilities,
    pub(crate) pre: wasmtime::component::InstancePre<CallState>,
    pub(crate) entry: Entry,
}

/// How the component is entered.
pub(crate) enum Entry {
    Native(Box<crate::interfaces::NativeEntry<CallState>>),
    Plain,
}

pub(crate) struct InstalledTool {
    pub(crate) info: ToolInfo,
    pub(crate) wishes: Capabilities,
    pub(crate) input: InputCheck,
    pub(crate) output: Option<InputCheck>,
    pub(crate) plain: Option<PlainTool>,
}

/// What kind of component it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// Exports `bulkhead:tool/tools`.
    Native,
    /// Exports functions on plain values, called through [`crate::adapter`].
    Plain,
}

/// An interface that a component imports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Import {
    /// For example `bulkhead:tool/http@0.1.0`.
    pub name: String,
    /// Whether it can reach, learn or change anything beyond the call's own input and output.
    /// Variables and folders can't by themselves: there are none but granted ones.
    pub effect: bool,
}

impl Component {
    /// The SHA-256 of its bytes.
    pub fn digest(&self) -> Digest {
        self.0.digest
    }

    /// The size of its bytes.
    pub fn size(&self) -> u64 {
        self.0.size
    }

    /// What kind it is.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// What it imports.
    pub fn imports(&self) -> &[Import] {
        &self.0.imports
    }

    /// Whether it imports nothing through which it could reach, learn or change anything
    /// beyond its input and output. Its calls without any granted capability may run in
    /// parallel, be cached by input and skip approval.
    pub fn is_pure(&self) -> bool {
        self.0.pure
    }

    /// What all its tools together wish for.
    pub fn wishes(&self) -> &Capabilities {
        &self.0.wishes
    }

    /// Its tools and what each wishes for, in the order of its `describe`.
    pub fn tools(&self) -> impl ExactSizeIterator<Item = (&ToolInfo, &Capabilities)> {
        self.0.tools.iter().map(|tool| (&tool.info, &tool.wishes))
    }

    /// What one tool wishes for.
    pub fn tool_wishes(&self, tool: &str) -> Option<&Capabilities> {
        self.0.tool(tool).map(|tool| &tool.wishes)
    }

    /// Exports of a plain component that are no tools, each with the reason.
    pub fn skipped(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .skipped
            .iter()
            .map(|(path, reason)| (path.as_str(), reason.as_str()))
    }

    /// Every problem of `input` against the schema of `tool`, without calling it; none for an
    /// unknown tool.
    pub fn check_input(
        &self,
        tool: &str,
        input: &RawValue,
    ) -> Option<Vec<bulkhead_domain::Problem>> {
        let tool = self.0.tool(tool)?;
        Some(tool.input.check_text(input.get()).err().unwrap_or_default())
    }
}

impl fmt::Debug for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Component")
            .field("digest", &self.0.digest)
            .field("kind", &self.0.kind)
            .finish_non_exhaustive()
    }
}

impl Installed {
    pub(crate) fn tool(&self, name: &str) -> Option<&InstalledTool> {
        self.tools.iter().find(|tool| tool.info.name == name)
    }
}
