//! Plain types of the agent server and the rules on them: no I/O, no SQL, no HTTP, no wasm.
//!
//! - [`digest`]: SHA-256 content addresses of components, inputs, outputs and grants.
//! - [`id`]: prefixed identifiers such as `receipt-<uuid>`.
//! - [`tool`]: what a tool says of itself: name, description, schemas, hints.
//! - [`content`]: what a tool gives back, or the failure that it reports.
//! - [`outcome`]: how a call ended, as the host saw it; a guest cannot forge one.
//! - [`receipt`]: what one call did and consumed.
//! - [`timestamp`]: RFC 3339 points in time, as the API writes them.

pub mod content;
pub mod digest;
pub mod id;
pub mod outcome;
pub mod receipt;
pub mod timestamp;
pub mod tool;

pub use content::{Content, Output, Problem, ToolError, Upstream};
pub use digest::{Digest, Hasher};
pub use id::Id;
pub use outcome::Outcome;
pub use receipt::{Denial, FuelByPhase, HostCall, HostCallOutcome, Receipt};
pub use timestamp::Timestamp;
pub use tool::{Annotations, ToolInfo};
