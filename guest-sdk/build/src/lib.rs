//! Compiles guest crates to `wasm32-wasip2`, from a build script or a command line.
//!
//! Guests are built by a `cargo` of their own with a target directory of their own: cargo holds
//! a lock on the directory that it builds in, and the flags of the host's build (`RUSTFLAGS`,
//! clippy's wrapper …) mean nothing to a guest, and neither does its toolchain where the guest's
//! workspace pins one.
//!
//! - [`Build`]: one run of cargo, and the components that came out ([`Artifact`]).
//! - [`mod@embed`]: every guest of a folder, as constants for `include!`; what a build script needs.
//! - [`target`]: the compiler's target, which is added where it is missing.
//! - [`BuildError`]: what can go wrong.

mod build;
pub mod embed;
mod environment;
mod error;
mod messages;
mod reproducible;
#[cfg(test)]
mod scratch;
pub mod target;
mod toolchain;

pub use build::{Artifact, Build};
pub use embed::embed;
pub use environment::target_directory;
pub use error::BuildError;
