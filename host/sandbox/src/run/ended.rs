//! How a guest ended other than by returning.

use bulkhead_domain::Outcome;
use bulkhead_policy::Limits;
use wasmtime::{Trap, component::ResourceTableError};
use wasmtime_wasi::I32Exit;

use crate::{Failure, install::text};

/// What the engine and its WASI host say of limits that they have no typed error for.
const LIMIT_TEXTS: &[&str] = &[
    "fuel allocated for hostcalls has been exhausted",
    "handle limit exceeded",
    "exceeds limit",
];

/// How a guest ended other than by returning. Made by the host from typed errors alone.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) outcome: Outcome,
    pub(crate) message: String,
}

impl Ended {
    pub(super) fn cancelled() -> Self {
        let message = "the call was cancelled; what it did before may remain".to_owned();
        Self {
            outcome: Outcome::Cancelled,
            message,
        }
    }

    pub(super) fn deadline() -> Self {
        Self {
            outcome: Outcome::DeadlineExceeded,
            message: String::new(),
        }
    }

    pub(super) fn panicked() -> Self {
        tracing::error!("a host function panicked; the call that ran it is ended");
        let message = "the host failed during the call; its log has the cause".to_owned();
        Self {
            outcome: Outcome::HostError,
            message,
        }
    }

    pub(super) fn error(error: &wasmtime::Error) -> Self {
        if let Some(I32Exit(code)) = error.downcast_ref() {
            let message =
                format!("the tool ended its process with code {code} and returned nothing");
            return Self {
                outcome: Outcome::Exited,
                message,
            };
        }
        if let Some(trap) = error.downcast_ref::<Trap>() {
            let outcome = match trap {
                Trap::OutOfFuel => Outcome::OutOfFuel,
                Trap::AllocationTooLarge => Outcome::OutOfMemory,
                _ => Outcome::Trap,
            };
            return Self {
                outcome,
                message: trap.to_string(),
            };
        }
        if error.is::<wasmtime::PoolConcurrencyLimitError>() {
            let message = "no slot was free for an instance; try again later".to_owned();
            return Self {
                outcome: Outcome::Overloaded,
                message,
            };
        }
        // What is left is no typed error of the engine: the guest moved more bytes in one host
        // call than it may, holds too many handles, or broke the component model's rules (strings
        // that are no UTF-8, pointers out of bounds).
        let message = text(error);
        let full = matches!(error.downcast_ref(), Some(ResourceTableError::Full));
        let limit = LIMIT_TEXTS.iter().any(|text| message.contains(text));
        Self {
            outcome: if limit || full {
                Outcome::LimitExceeded
            } else {
                Outcome::Trap
            },
            message,
        }
    }

    /// A guest that was refused memory and then stopped, stopped for that.
    pub(super) fn with_memory(self, refused: bool) -> Self {
        if refused
            && matches!(
                self.outcome,
                Outcome::Trap | Outcome::Exited | Outcome::LimitExceeded
            )
        {
            return Self {
                outcome: Outcome::OutOfMemory,
                ..self
            };
        }
        self
    }

    /// The public sentence: what happened, and what a person can do.
    pub(super) fn into_failure(self, limits: &Limits) -> Failure {
        let message = match self.outcome {
            Outcome::OutOfFuel => format!(
                "the tool spent all its fuel ({} units) and was stopped; give it more, or less to do",
                limits.fuel
            ),
            Outcome::DeadlineExceeded => format!(
                "the tool took longer than its {} ms and was stopped; give it more time",
                limits.timeout_ms
            ),
            Outcome::OutOfMemory => format!(
                "the tool wanted more memory than its {} bytes and was stopped; give it more",
                limits.memory_bytes
            ),
            Outcome::Trap => format!("the tool crashed: {}", self.message),
            _ => self.message,
        };
        Failure::new(self.outcome, message)
    }
}
