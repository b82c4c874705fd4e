//! How a tool fails.

use std::fmt::Display;

use serde::{Deserialize, Serialize};

/// A tool's own failure, as the caller and the model see it. What the host imposes (out of
/// fuel, deadline, memory …) is no part of it.
///
/// Every error of this crate and the usual ones of the standard library convert into it, so
/// that `?` works; those of the standard library become [`Error::Failed`] with their text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The input is wrong in a way that the schema does not express; every problem has its
    /// place, so that a model can repair the call.
    #[error("invalid input{}", list(.0))]
    InvalidInput(Vec<Problem>),
    /// A credential is missing or not accepted.
    #[error("unauthorized: {0}")]
    Unauthorized(String),
    /// The tool was not allowed to do something.
    #[error("denied: {0}")]
    Denied(String),
    /// Something that the input names does not exist.
    #[error("not found: {0}")]
    NotFound(String),
    /// Something changed meanwhile.
    #[error("conflict: {0}")]
    Conflict(String),
    /// Another system failed.
    #[error("{0}")]
    Upstream(Upstream),
    /// Anything else.
    #[error("{0}")]
    Failed(String),
}

/// One thing wrong with an input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// JSON Pointer (RFC 6901) into the input; empty for the whole input.
    pub at: String,
    /// What is wrong there.
    pub message: String,
}

/// A failure of a system that the tool talked to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Upstream {
    /// Its HTTP status, where there was one.
    pub status: Option<u16>,
    /// What it said.
    pub message: String,
    /// How long it asks to be left alone, in milliseconds.
    pub retry_after_ms: Option<u32>,
    /// Whether bytes left the host: decides if a retry may repeat an effect.
    pub sent: bool,
}

impl Error {
    /// One problem with the input, at a JSON Pointer (`/name`, `/items/0`, empty for the whole).
    pub fn invalid(at: impl Into<String>, message: impl Into<String>) -> Self {
        Self::InvalidInput(vec![Problem {
            at: at.into(),
            message: message.into(),
        }])
    }

    /// A failure that fits no other kind.
    pub fn failed(error: impl Display) -> Self {
        Self::Failed(error.to_string())
    }

    /// Something that the input names does not exist.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::NotFound(message.into())
    }
}

impl Display for Upstream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.status {
            Some(status) => write!(f, "upstream answered {status}: {}", self.message),
            None => write!(f, "upstream failed: {}", self.message),
        }
    }
}

fn list(problems: &[Problem]) -> String {
    problems
        .iter()
        .map(|problem| format!("; {}: {}", problem.at, problem.message))
        .collect()
}

impl From<String> for Error {
    fn from(text: String) -> Self {
        Self::Failed(text)
    }
}

impl From<&str> for Error {
    fn from(text: &str) -> Self {
        Self::Failed(text.to_owned())
    }
}

/// Errors that carry nothing but their text.
macro_rules! failed {
    ($($error:ty),+ $(,)?) => {$(
        impl From<$error> for Error {
            fn from(error: $error) -> Self {
                Self::Failed(error.to_string())
            }
        }
    )+};
}

failed![
    serde_json::Error,
    std::io::Error,
    std::fmt::Error,
    std::num::ParseIntError,
    std::num::ParseFloatError,
    std::num::TryFromIntError,
    std::str::Utf8Error,
    std::string::FromUtf8Error,
    std::env::VarError,
    std::time::SystemTimeError,
    Box<dyn std::error::Error>,
    Box<dyn std::error::Error + Send + Sync>,
];

#[cfg(test)]
mod tests {
    use super::Error;

    #[test]
    fn errors_of_the_standard_library_pass_through_the_question_mark() {
        fn parse(text: &str) -> Result<u8, Error> {
            Ok(text.parse::<u8>()?)
        }
        assert_eq!(
            parse("x").expect_err("x is no number"),
            Error::failed("invalid digit found in string")
        );
    }

    #[test]
    fn a_problem_is_written_with_its_place() {
        assert_eq!(
            Error::invalid("/a", "is odd").to_string(),
            "invalid input; /a: is odd"
        );
    }
}
