//! Rules on which tools an agent may and must call when. The JSON forms are those of the wire;
//! what they mean is in [`crate::rule_book`].

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A rule on one tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolRule {
    /// The tool.
    pub tool_name: String,
    /// What the rule says.
    #[serde(flatten)]
    pub kind: RuleKind,
    /// Kept for clients that send it; not used.
    #[serde(default)]
    pub prompt_template: Option<String>,
}

/// What a rule says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RuleKind {
    /// It is one of those that are called first.
    RunFirst {
        /// Arguments that replace the model's.
        #[serde(default)]
        args: Option<Map<String, Value>>,
    },
    /// Right after it, one of these.
    ConstrainChildTools {
        /// The tools.
        children: Vec<String>,
        /// Arguments that replace the model's, by tool.
        #[serde(default)]
        child_arg_nodes: Option<Vec<ChildArguments>>,
    },
    /// Right after it, one of these, and these at no other time.
    ParentLastTool {
        /// The tools.
        children: Vec<String>,
    },
    /// Right after it, the tool that its output names.
    Conditional {
        /// Output, as text, to tool.
        child_output_mapping: BTreeMap<String, String>,
        /// The tool for every other output; none for any.
        #[serde(default)]
        default_child: Option<String>,
        /// Whether every other output allows no tool at all.
        #[serde(default)]
        require_output_mapping: bool,
    },
    /// Calling it ends the run.
    ExitLoop,
    /// Calling it does not end the run.
    ContinueLoop,
    /// It is called at most so often in one request.
    MaxCountPerStep {
        /// How often.
        max_count_limit: u32,
    },
    /// The run does not end before it was called.
    RequiredBeforeExit,
    /// A person is asked before each call.
    RequiresApproval,
}

/// Arguments of a child that replace the model's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChildArguments {
    /// The child.
    pub name: String,
    /// Its arguments.
    #[serde(default)]
    pub args: Option<Map<String, Value>>,
}

impl ToolRule {
    /// A rule of this kind on a tool.
    pub fn new(tool_name: impl Into<String>, kind: RuleKind) -> Self {
        Self {
            tool_name: tool_name.into(),
            kind,
            prompt_template: None,
        }
    }
}
