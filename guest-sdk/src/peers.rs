//! Other tools of the same caller. Their calls spend this call's budget.

use serde::Serialize;

use crate::{Output, host};

/// Why another tool gave no output.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The tool has no grant for this peer.
    #[error("{0}")]
    Denied(String),
    /// No tool has this name.
    #[error("there is no such tool")]
    Unknown,
    /// The chain of calls is too deep, or comes back to a tool that is in it.
    #[error("the chain of calls is too deep or goes in a circle")]
    Depth,
    /// The host stopped the called tool: fuel, time or memory ran out, it trapped ….
    #[error("the called tool was stopped: {0}")]
    Stopped(String),
    /// The called tool failed.
    #[error("{0}")]
    Tool(crate::Error),
    /// The host can't call tools now.
    #[error("the call is unavailable: {0}")]
    Unavailable(String),
    /// The input can't be JSON.
    #[error("the input is no JSON: {0}")]
    Malformed(String),
}

/// Calls another tool with anything that serialises to a JSON object.
pub fn call<T: Serialize + ?Sized>(name: &str, input: &T) -> Result<Output, Error> {
    let input =
        serde_json::to_string(input).map_err(|error| Error::Malformed(error.to_string()))?;
    host::peers::call(name, &input)
}

impl From<Error> for crate::Error {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        match error {
            Error::Denied(_) => Self::Denied(text),
            Error::Unknown => Self::NotFound(text),
            // The peer's problems point into the peer's input, which this tool's caller never saw.
            Error::Tool(Self::InvalidInput(_)) => Self::Failed(text),
            Error::Tool(error) => error,
            Error::Depth | Error::Stopped(_) | Error::Unavailable(_) | Error::Malformed(_) => {
                Self::Failed(text)
            }
        }
    }
}
