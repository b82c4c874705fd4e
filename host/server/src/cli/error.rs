//! Why a command gave up.

use std::fmt;

use bulkhead_domain::Problem;
use bulkhead_sandbox::InstallError;
use serde_json::{Value, json};

use super::exit::Exit;

/// Why a command gave up: a code for programs, a sentence for people, and the exit code.
#[derive(Debug)]
pub(crate) struct CliError {
    pub(crate) exit: Exit,
    /// Stable and in snake_case; the server's own where the server refused.
    pub(crate) code: String,
    pub(crate) message: String,
    /// What to do about it, where that is not clear from the message.
    pub(crate) hint: Option<String>,
    pub(crate) problems: Vec<Problem>,
}

impl CliError {
    pub(crate) fn new(exit: Exit, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            exit,
            code: code.into(),
            message: message.into(),
            hint: None,
            problems: Vec::new(),
        }
    }

    /// The command line is wrong.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, "usage", message)
    }

    /// This machine failed at `what`.
    pub(crate) fn host(what: impl fmt::Display, source: impl fmt::Display) -> Self {
        Self::new(Exit::Host, "host_error", format!("{what}: {source}"))
    }

    /// The same error with advice.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// A component that was not accepted, with advice for the reason.
    pub(crate) fn install(error: &InstallError) -> Self {
        let exit = match error {
            InstallError::Host(_) | InstallError::Busy => Exit::Host,
            _ => Exit::Refused,
        };
        let refused = Self::new(exit, error.code(), error.to_string());
        match install_hint(error) {
            Some(hint) => refused.hint(hint),
            None => refused,
        }
    }

    /// As a machine reads it.
    pub(crate) fn to_json(&self) -> Value {
        let mut error = json!({"code": self.code, "message": self.message});
        if !self.problems.is_empty() {
            error["problems"] = json!(self.problems);
        }
        if let Some(hint) = &self.hint {
            error["hint"] = json!(hint);
        }
        json!({"error": error, "exit_code": self.exit as u8})
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

fn install_hint(error: &InstallError) -> Option<&'static str> {
    match error {
        InstallError::NotAComponent(_) => Some(
            "build for the target wasm32-wasip2 (`bulkhead tool build` does), or wrap a core module with `wasm-tools component new`",
        ),
        InstallError::UnknownImports(_) => Some(
            "a tool may import bulkhead:tool interfaces, WASI 0.2 clocks, random, cli, filesystem and http",
        ),
        InstallError::NoTools(_) => Some(
            "put #[tool] on a function, or export a function whose parameters and result are plain values",
        ),
        InstallError::WrongVersion { .. } => {
            Some("update bulkhead-sdk in Cargo.toml and run `bulkhead tool build` again")
        }
        InstallError::Describe(_) => Some(
            "`describe` must return at once and without any capability; keep work in the tools",
        ),
        InstallError::Description(_) => Some(
            "tool names match ^[a-zA-Z][a-zA-Z0-9_-]{0,63}$, are unique, and input schemas are objects",
        ),
        _ => None,
    }
}
