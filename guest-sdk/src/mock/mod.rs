//! The host of `cargo test`: what the host interfaces answer outside of a component.
//!
//! ```
//! use bulkhead_sdk::{Error, http, mock};
//!
//! fn title(url: &str) -> Result<String, Error> {
//!     Ok(http::get(url).send()?.text().into_owned())
//! }
//!
//! let host = mock::Host::new().http(|request| {
//!     Ok(http::Response { status: 200, url: request.url.clone(), body: b"Hi".to_vec(), ..Default::default() })
//! });
//! let host = host.install();
//! assert_eq!(title("https://example.com"), Ok("Hi".to_owned()));
//! assert_eq!(host.requests()[0].method, "GET");
//! ```
//!
//! A mock is installed for the current thread, and each test has a thread of its own. Without
//! one, every capability answers like a host that granted nothing, but for `state` and `memory`,
//! which are kept in memory.
//!
//! - [`host`]: [`Host`], what it answers, put in place by [`Installed`].
//! - [`seen`]: what it saw.
//! - `answer`: the interfaces themselves, one file for each.

pub(crate) mod answer;
pub mod host;
pub mod seen;
mod store;

use serde_json::Value;

use crate::{Error, Output, Tool, tool::dispatch};

pub use host::{Host, Installed};
pub use seen::{LogLine, Message, PeerCall, Progress};

/// Calls a tool by name and with JSON, as the server does, with the same reading of the input
/// and the same errors. (Checking against the schema is the server's part.)
pub fn call(tools: &[Tool], name: &str, input: Value) -> Result<Output, Error> {
    dispatch(tools, name, &input.to_string())
}
