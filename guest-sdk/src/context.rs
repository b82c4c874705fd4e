//! The call that is running: who asks, how long is left, and what goes to the client meanwhile.
//! Always granted.

use std::time::Duration;

use crate::{Content, host};

/// How much a log line matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// For whoever looks for a fault.
    Debug,
    /// Worth knowing.
    Info,
    /// Not as it should be.
    Warn,
    /// Wrong.
    Error,
}

/// The id of this call.
pub fn call_id() -> String {
    host::context::call_id()
}

/// Equal across retries of one logical call.
pub fn idempotency_key() -> String {
    host::context::idempotency_key()
}

/// The agent that calls; none for a call by a person or a program.
pub fn agent_id() -> Option<String> {
    host::context::agent_id()
}

/// Milliseconds until the host stops the call.
pub fn remaining_ms() -> u64 {
    host::context::remaining_ms()
}

/// The time until the host stops the call.
pub fn remaining() -> Duration {
    Duration::from_millis(remaining_ms())
}

/// Tells the client at once how far the call is; `done` is a share of 1.0.
pub fn progress(message: &str, done: Option<f32>) {
    host::context::progress(message, done);
}

/// Sends a part of the output to the client at once. It is no part of the final result.
pub fn emit(part: impl Into<Content>) {
    host::context::emit(part.into());
}

/// Writes a log line.
pub fn log(level: Level, message: &str) {
    host::context::log(level, message);
}

/// Writes a log line of level debug.
pub fn debug(message: &str) {
    log(Level::Debug, message);
}

/// Writes a log line of level info.
pub fn info(message: &str) {
    log(Level::Info, message);
}

/// Writes a log line of level warn.
pub fn warn(message: &str) {
    log(Level::Warn, message);
}

/// Writes a log line of level error.
pub fn error(message: &str) {
    log(Level::Error, message);
}
