//! What comes out of a call.

use bulkhead_domain::{Outcome, Output, Problem, Receipt, ToolError};
use serde::{Deserialize, Serialize};

use crate::LogLevel;

/// What a call gave: its result, its receipt and what it logged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The output, or why there is none.
    pub result: Result<Output, Failure>,
    /// What the call did and consumed.
    pub receipt: Receipt,
    /// Log lines, stdout and stderr, up to the call's limit.
    pub log: Vec<LogLine>,
    /// Whether lines were dropped for the limit.
    pub log_truncated: bool,
}

/// A line of a call's log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    /// How important.
    pub level: LogLevel,
    /// The line.
    pub message: String,
}

/// Why a call gave no output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{outcome}: {message}")]
pub struct Failure {
    /// How the host saw the call end.
    pub outcome: Outcome,
    /// One sentence for people and models: what was wrong and what to do.
    pub message: String,
    /// What is wrong with the input, where that is the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
    /// The guest's own failure, where it returned one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_error: Option<ToolError>,
}

impl Failure {
    pub(crate) fn new(outcome: Outcome, message: impl Into<String>) -> Self {
        Self {
            outcome,
            message: message.into(),
            problems: Vec::new(),
            tool_error: None,
        }
    }
}
