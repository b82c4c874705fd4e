//! What can go wrong while guests are built.

use std::{io, path::PathBuf};

/// Why there is no component.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The compiler has no target for components, and rustup could not add it.
    #[error(
        "the Rust target {target} is not installed; this command installs it:\n\n    rustup target add {target}\n",
        target = crate::target::TRIPLE
    )]
    MissingTarget,
    /// A program can't be started; usually it is not installed.
    #[error("can't run {program}: {source}")]
    Start {
        /// The program.
        program: String,
        /// What the system says.
        source: io::Error,
    },
    /// A guest does not compile. Cargo has written why to stderr.
    #[error("cargo could not build {}; its messages stand above", .what)]
    Failed {
        /// The packages, or the manifest.
        what: String,
    },
    /// A package compiled, but is no component.
    #[error(
        "{package} made no component; its Cargo.toml needs\n\n    [lib]\n    crate-type = [\"cdylib\"]\n"
    )]
    NoComponent {
        /// The package.
        package: String,
    },
    /// A build script's environment is missing: the function was called from elsewhere.
    #[error("{variable} is not set; this function is for build scripts")]
    NoBuildScript {
        /// The variable.
        variable: &'static str,
    },
    /// A file can't be read or written.
    #[error("{}: {source}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl BuildError {
    /// For `map_err` on an operation on `path`.
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        |source| Self::File { path, source }
    }
}
