//! Call a built tool component in a real sandbox from `cargo test`.
//!
//! The SDK's mocks test a tool's own logic natively; this tests what a server would run: the
//! component, with its grants, limits and receipts. No server, no database, no network but what
//! a test allows.
//!
//! ```no_run
//! use bulkhead_testkit::{Testkit, json};
//!
//! # fn main() -> Result<(), bulkhead_testkit::Error> {
//! let tool = Testkit::new().fuel(10_000_000).build_crate(env!("CARGO_MANIFEST_DIR"))?;
//! let report = tool.call("greet", json!({"name": "Ada"}));
//! assert_eq!(bulkhead_testkit::text(&report), "Hello, Ada!");
//! assert!(report.receipt.denials.is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! - [`Testkit`]: what calls may do; loads or builds a component.
//! - [`Loaded`]: the component; [`Loaded::call`] and [`Loaded::call_async`].
//! - [`text`], [`expect_outcome`]: what most assertions need.
//! - [`InMemoryState`], [`InMemoryBlocks`]: the services behind `state` and `memory`.

mod blocks;
mod error;
mod kit;
mod loaded;
mod state;

pub use blocks::{DEFAULT_BLOCK_CHARS, InMemoryBlocks};
pub use bulkhead_domain::Outcome;
pub use bulkhead_egress::Placement;
pub use bulkhead_policy::{Capabilities, Limits};
pub use bulkhead_sandbox::{Component, Event, Report};
pub use error::Error;
pub use kit::Testkit;
pub use loaded::{Loaded, expect_outcome, text};
pub use serde_json::{Value, json};
pub use state::InMemoryState;
