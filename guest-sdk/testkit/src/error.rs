//! Why a component can't be tested.

use std::{io, path::PathBuf};

/// Why a component can't be tested.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file can't be read.
    #[error("can't read {path}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The crate did not build.
    #[error(transparent)]
    Build(#[from] bulkhead_guest_build::BuildError),
    /// The crate built, and no component came out.
    #[error("{0} made no component")]
    NoComponent(PathBuf),
    /// The sandbox could not be set up.
    #[error("the sandbox could not be set up")]
    Sandbox(#[from] bulkhead_sandbox::SetupError),
    /// The sandbox refused the component.
    #[error(transparent)]
    Install(#[from] bulkhead_sandbox::InstallError),
    /// The capabilities of the test are malformed.
    #[error("`{0}` is no rule for requests: {1}")]
    Rule(String, String),
    /// A secret of the test is too short or too long.
    #[error(transparent)]
    Secret(#[from] bulkhead_egress::SecretError),
    /// The runtime for blocking calls could not be started.
    #[error("the runtime could not be started")]
    Runtime(#[source] io::Error),
}
