//! Compiled runtimes of languages, kept for this user's benches and demos: compiling them takes
//! longer than all the rest that either does.

use std::{
    io,
    path::{Path, PathBuf},
};

use bulkhead_sandbox::{CacheKey, Settings};

use super::error::CliError;
use crate::data_dir;

/// A folder of the user's caches.
pub(crate) struct RuntimeCache {
    folder: PathBuf,
}

impl RuntimeCache {
    /// Makes the folder where it is missing. None where the user has no folder for caches.
    pub(crate) fn open() -> Result<Option<Self>, CliError> {
        let Some(folder) = folder() else {
            return Ok(None);
        };
        let cache = Self { folder };
        let made = data_dir::make_private(&cache.folder)
            .and_then(|()| data_dir::make_private(&cache.artifacts()));
        made.map_err(|error| CliError::host("no folder for compiled runtimes", error))?;
        CacheKey::load_or_create(&cache.key())
            .map_err(|error| CliError::host("no key for compiled runtimes", error))?;
        Ok(Some(cache))
    }

    /// Has a sandbox in this process use it.
    pub(crate) fn apply(&self, settings: &mut Settings) -> Result<(), CliError> {
        let key = CacheKey::load_or_create(&self.key())
            .map_err(|error| CliError::host("no key for compiled runtimes", error))?;
        settings.cache_key = Some(key);
        settings.cache_dir = Some(self.artifacts());
        Ok(())
    }

    /// Has the server on the folder `data` use it, which must not have run there yet.
    #[cfg(unix)]
    pub(crate) fn lend_to(&self, data: &Path) -> io::Result<()> {
        use std::os::unix::fs::symlink;
        symlink(self.key(), data.join("cache.key"))?;
        symlink(self.artifacts(), data.join("cache"))
    }

    /// Links need rights of their own here: the server compiles for itself.
    #[cfg(not(unix))]
    pub(crate) fn lend_to(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn key(&self) -> PathBuf {
        self.folder.join("key")
    }

    fn artifacts(&self) -> PathBuf {
        self.folder.join("artifacts")
    }
}

fn folder() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.filter(|folder| folder.is_absolute());
    let cache = cache.or_else(|| Some(std::env::home_dir()?.join(".cache")));
    cache.map(|folder| folder.join("bulkhead").join("runtimes"))
}
