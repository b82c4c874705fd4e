//! A folder of one test. Not the `tempfile` crate: a build script's crate with dev-dependencies
//! resolves other features for `cargo test` than for `cargo run`, and both then compile the whole
//! engine again.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Removed with everything in it when the test ends.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// An empty folder; `name` is unique among the tests of this crate.
    pub(crate) fn new(name: &str) -> Self {
        let folder = format!("bulkhead-guest-build-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(folder);
        fs::create_dir_all(&path).expect("a temporary folder can be made");
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
