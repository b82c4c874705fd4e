//! How a call ended, as the host saw it.

use serde::{Deserialize, Serialize};

/// How a call ended. Written by the host alone: a guest can reach [`Outcome::Ok`] and
/// [`Outcome::ToolError`] by what it returns and nothing else by saying so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// The tool returned a result.
    Ok,
    /// The tool returned a failure of its own.
    ToolError,
    /// The tool failed after the host refused it a capability; the receipt's denials say which.
    Denied,
    /// The input did not match the tool's schema; the tool did not run.
    InvalidInput,
    /// The component has no tool of that name; nothing ran.
    UnknownTool,
    /// The call spent all its fuel.
    OutOfFuel,
    /// The call took longer than its wall-clock deadline, host calls included.
    DeadlineExceeded,
    /// The call wanted more memory or tables than its limit, and stopped on it.
    OutOfMemory,
    /// The call went over another limit of the host, such as the size of its result.
    LimitExceeded,
    /// The guest stopped on a WebAssembly trap (unreachable, out of bounds, stack overflow …).
    Trap,
    /// The guest ended itself by `wasi:cli/exit` instead of returning.
    Exited,
    /// The tool returned what its own declaration rules out, such as no JSON as structured output.
    InvalidOutput,
    /// The caller cancelled the call.
    Cancelled,
    /// All slots were taken until the queue's deadline; nothing ran.
    Overloaded,
    /// The host itself failed; the log has the cause.
    HostError,
}

impl Outcome {
    /// The stable name, as the API and receipts write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::ToolError => "tool_error",
            Self::Denied => "denied",
            Self::InvalidInput => "invalid_input",
            Self::UnknownTool => "unknown_tool",
            Self::OutOfFuel => "out_of_fuel",
            Self::DeadlineExceeded => "deadline_exceeded",
            Self::OutOfMemory => "out_of_memory",
            Self::LimitExceeded => "limit_exceeded",
            Self::Trap => "trap",
            Self::Exited => "exited",
            Self::InvalidOutput => "invalid_output",
            Self::Cancelled => "cancelled",
            Self::Overloaded => "overloaded",
            Self::HostError => "host_error",
        }
    }

    /// Whether guest code may have run, so that a retry may repeat an effect.
    pub fn may_have_run(self) -> bool {
        !matches!(
            self,
            Self::InvalidInput | Self::UnknownTool | Self::Overloaded
        )
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
