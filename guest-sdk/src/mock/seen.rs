//! What a mocked host saw of a tool.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Installed;
use crate::{Content, context::Level, http, memory, state};

/// What reached the host, in order.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) logs: Vec<LogLine>,
    pub(super) progress: Vec<Progress>,
    pub(super) emitted: Vec<Content>,
    pub(super) requests: Vec<http::Request>,
    pub(super) peer_calls: Vec<PeerCall>,
    pub(super) messages: Vec<Message>,
}

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// How much it matters.
    pub level: Level,
    /// The text.
    pub message: String,
}

/// A report of progress.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// The text.
    pub message: String,
    /// A share of 1.0.
    pub done: Option<f32>,
}

/// A call of another tool.
#[derive(Debug, Clone, PartialEq)]
pub struct PeerCall {
    /// The tool.
    pub name: String,
    /// Its input.
    pub input: Value,
}

/// A message to another agent, sent or asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The agent.
    pub agent_id: String,
    /// The text.
    pub text: String,
}

impl Installed {
    /// The log.
    pub fn logs(&self) -> Vec<LogLine> {
        self.host.borrow().seen.logs.clone()
    }

    /// The reports of progress.
    pub fn progress(&self) -> Vec<Progress> {
        self.host.borrow().seen.progress.clone()
    }

    /// The partial output.
    pub fn emitted(&self) -> Vec<Content> {
        self.host.borrow().seen.emitted.clone()
    }

    /// The requests, denied ones too.
    pub fn requests(&self) -> Vec<http::Request> {
        self.host.borrow().seen.requests.clone()
    }

    /// The calls of other tools, denied ones too.
    pub fn peer_calls(&self) -> Vec<PeerCall> {
        self.host.borrow().seen.peer_calls.clone()
    }

    /// The messages to other agents, denied ones too.
    pub fn messages(&self) -> Vec<Message> {
        self.host.borrow().seen.messages.clone()
    }

    /// The state as it is now.
    pub fn state(&self) -> BTreeMap<String, state::Entry> {
        self.host.borrow().state.0.clone()
    }

    /// The memory blocks as they are now, by label.
    pub fn memory(&self) -> BTreeMap<String, memory::Block> {
        self.host.borrow().memory.0.clone()
    }
}
