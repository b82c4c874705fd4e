//! What a runtime asks of its host.

use std::time::Duration;

use crate::abi::{HttpError, Output, PeerError, Request, Response};

/// Where something is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Error,
}

/// The host of a call.
pub trait Host {
    /// Prints a line at once.
    fn print(&self, stream: Stream, line: &str);
    /// Sends a request, within what is granted.
    fn fetch(&self, request: &Request) -> Result<Response, HttpError>;
    /// Calls another tool.
    fn call_peer(&self, name: &str, input: &str) -> Result<Output, PeerError>;
    /// Waits.
    fn sleep(&self, duration: Duration);
}
