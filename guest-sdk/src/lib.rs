//! Write tools for Bulkhead as plain Rust functions.
//!
//! ```
//! use bulkhead_sdk::{Error, tool, tools};
//!
//! /// Greets someone.
//! #[tool(read_only, idempotent)]
//! fn greet(
//!     /// Who to greet.
//!     name: String,
//!     /// How many exclamation marks to put.
//!     volume: Option<u8>,
//! ) -> Result<String, Error> {
//!     if name.is_empty() {
//!         return Err(Error::invalid("/name", "is empty"));
//!     }
//!     let marks = "!".repeat(usize::from(volume.unwrap_or(1)));
//!     Ok(format!("Hello, {name}{marks}"))
//! }
//!
//! tools![greet];
//!
//! # fn main() {
//! // On your own machine a tool is the function that it looks like …
//! assert_eq!(greet("Ann".to_owned(), None).unwrap(), "Hello, Ann!");
//! // … and can be called as the server calls it, by name and with JSON.
//! let output = bulkhead_sdk::mock::call(TOOLS, "greet", serde_json::json!({ "name": "Ann" })).unwrap();
//! assert_eq!(output.text(), "Hello, Ann!");
//! # }
//! ```
//!
//! Built with `cargo build --target wasm32-wasip2` as a `cdylib`, the crate is a component that
//! exports its tools. Built natively it exports nothing, and the host interfaces are mocks, so
//! that `cargo test` needs no server.
//!
//! - [`macro@tool`], [`tools!`]: what makes a tool, and which of them a component has.
//! - [`Output`], [`Content`], [`Json`], [`IntoOutput`]: what a tool gives back.
//! - [`Error`]: how it fails.
//! - [`context`]: the running call: progress, partial output, log.
//! - [`http`], [`state`], [`memory`], [`recall`], [`files`], [`agents`], [`peers`], [`secrets`],
//!   [`mod@env`]: what the host can do for it, each within what a person granted.
//! - `mock` (not in components): the host of `cargo test`.

// Generated code and doc tests name this crate by its own name.
extern crate self as bulkhead_sdk;

pub mod agents;
pub mod context;
pub mod env;
mod error;
pub mod files;
#[cfg(target_family = "wasm")]
mod guest;
pub mod http;
mod input;
pub mod memory;
#[cfg(not(target_family = "wasm"))]
pub mod mock;
mod output;
pub mod peers;
pub mod recall;
mod schema;
pub mod secrets;
pub mod state;
mod tool;

#[cfg(target_family = "wasm")]
use guest as host;
#[cfg(not(target_family = "wasm"))]
use mock::answer as host;

pub use bulkhead_sdk_macros::tool;
pub use error::{Error, Problem, Upstream};
pub use output::{Content, IntoOutput, Json, Output};
pub use tool::{Hints, Tool};

pub use schemars::{self, JsonSchema};
pub use serde::{self, Deserialize, Serialize};
pub use serde_json::{self, json};

/// What generated code uses. No part of the public interface.
#[doc(hidden)]
pub mod __private {
    pub use schemars;
    pub use serde;

    pub use crate::{
        Hints, IntoOutput, Tool,
        input::parse_input,
        schema::input_schema,
        tool::{Declared, assert_unique_names},
    };
    #[cfg(target_family = "wasm")]
    pub use {
        crate::guest::{bindings, exports},
        wit_bindgen,
    };
}
