//! The kinds of sandbox that the API names.

use serde::{Deserialize, Serialize};

/// A kind of sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxType {
    /// Where the server runs.
    Local,
    /// A name that is kept for clients.
    E2b,
    /// A name that is kept for clients.
    Modal,
}

impl SandboxType {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Local, Self::E2b, Self::Modal];

    /// The stable name, as the database and the API write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::E2b => "e2b",
            Self::Modal => "modal",
        }
    }
}

/// What no kind of sandbox is called.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a sandbox's type is local, e2b or modal")]
pub struct ParseSandboxTypeError;

impl std::str::FromStr for SandboxType {
    type Err = ParseSandboxTypeError;

    fn from_str(text: &str) -> Result<Self, ParseSandboxTypeError> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.as_str() == text)
            .ok_or(ParseSandboxTypeError)
    }
}
