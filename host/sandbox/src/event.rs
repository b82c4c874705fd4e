//! What is seen of a call while it runs.

use std::sync::Arc;

use bulkhead_domain::Content;
use serde::{Deserialize, Serialize};

/// Receives the events of one call, in order. Called on the call's own task: it must be quick,
/// and hand over to a channel where it can't be. The bytes of all events of a call are bounded
/// by the call's limits, so a channel behind it may be unbounded.
pub type EventSink = Arc<dyn Fn(Event) + Send + Sync>;

/// Something that a running call lets its client see.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// How far the tool is.
    Progress {
        /// What it is doing.
        message: String,
        /// The share that is done, from 0 to 1.
        done: Option<f32>,
    },
    /// Partial output; no part of the final result.
    Emit {
        /// The part.
        part: Content,
    },
    /// A log line, or text that the guest wrote to stdout or stderr.
    Log {
        /// How important.
        level: LogLevel,
        /// The line.
        message: String,
    },
    /// Further events of a kind are dropped: the call's byte limit for them is used up.
    Truncated {
        /// `events` or `log`.
        what: String,
    },
}

/// The level of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogLevel {
    /// For the tool's author.
    Debug,
    /// Worth knowing.
    Info,
    /// Written to stdout.
    Stdout,
    /// Written to stderr.
    Stderr,
    /// Something is odd.
    Warn,
    /// Something failed.
    Error,
}
