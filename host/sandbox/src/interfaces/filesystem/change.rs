//! Changes of folders: everything that makes, moves or removes an entry. Everything here blocks.
//!
//! An entry never moves from one grant to another, neither by renaming nor by linking: the file
//! would take the rights and the quota of the place that it came to (GHSA-4ch3-9j33-3pmj).

use std::sync::Arc;

use cap_fs_ext::DirExt;

use super::{
    bindings::types::ErrorCode,
    descriptor::OpenFolder,
    error::{FsError, FsResult},
    open::{Opened, Request},
    path::{GuestPath, check_link_target},
    times::Times,
};

/// A path in an open folder.
pub(super) struct Entry {
    base: Arc<OpenFolder>,
    path: GuestPath,
}

impl Entry {
    /// A path that is to be changed: refused where the folder is only granted for reading.
    pub(super) fn to_change(base: Arc<OpenFolder>, path: &str) -> FsResult<Self> {
        let path = base.path(path)?;
        base.folder().check_write(&base.label_of(&path))?;
        Ok(Self { base, path })
    }

    fn failure(&self, error: std::io::Error) -> FsError {
        self.base.failure(&self.path, error)
    }

    fn is_folder(&self) -> FsResult<bool> {
        let metadata = self.base.dir().symlink_metadata(self.path.as_path());
        Ok(metadata.map_err(|error| self.failure(error))?.is_dir())
    }

    fn check_same_grant(&self, other: &Self) -> FsResult<()> {
        if Arc::ptr_eq(self.base.folder(), other.base.folder()) {
            return Ok(());
        }
        Err(ErrorCode::CrossDevice.into())
    }

    /// Makes a folder.
    pub(super) fn create_folder(&self) -> FsResult<()> {
        self.base.folder().make_entry(|| {
            self.base
                .dir()
                .create_dir(self.path.as_path())
                .map_err(|error| self.failure(error))
        })
    }

    /// Removes an empty folder.
    pub(super) fn remove_folder(&self) -> FsResult<()> {
        self.base
            .dir()
            .remove_dir(self.path.as_path())
            .map_err(|error| self.failure(error))
    }

    /// Removes a file or a link; never what a link points to.
    pub(super) fn unlink(&self) -> FsResult<()> {
        if self.path.must_be_folder() {
            return Err(ErrorCode::NotDirectory.into());
        }
        self.base
            .dir()
            .remove_file(self.path.as_path())
            .map_err(|error| self.failure(error))
    }

    /// Moves it within its grant.
    pub(super) fn rename(&self, new: &Self) -> FsResult<()> {
        self.check_same_grant(new)?;
        let folder_wanted = self.path.must_be_folder() || new.path.must_be_folder();
        if folder_wanted && !self.is_folder()? {
            return Err(ErrorCode::NotDirectory.into());
        }
        let renamed =
            self.base
                .dir()
                .rename(self.path.as_path(), new.base.dir(), new.path.as_path());
        renamed.map_err(|error| self.failure(error))
    }

    /// Gives the file another name within its grant. A link is linked itself.
    pub(super) fn hard_link(&self, new: &Self) -> FsResult<()> {
        self.check_same_grant(new)?;
        if self.path.must_be_folder() || new.path.must_be_folder() {
            return Err(ErrorCode::NotDirectory.into());
        }
        self.base.folder().make_entry(|| {
            let linked =
                self.base
                    .dir()
                    .hard_link(self.path.as_path(), new.base.dir(), new.path.as_path());
            linked.map_err(|error| self.failure(error))
        })
    }

    /// Makes it a symbolic link to `target`.
    pub(super) fn symlink_to(&self, target: &str) -> FsResult<()> {
        check_link_target(target).map_err(|code| match code {
            ErrorCode::NotPermitted => {
                let label = self.base.label_of(&self.path);
                let text = format!("{label}: a link may lead neither upwards nor to the root");
                FsError::Denied(code, text)
            }
            code => code.into(),
        })?;
        if self.path.must_be_folder() {
            return Err(ErrorCode::NoEntry.into());
        }
        self.base.folder().make_entry(|| {
            let linked = self.base.dir().symlink(target, self.path.as_path());
            linked.map_err(|error| self.failure(error))
        })
    }

    /// Changes its times, or those of what it points to.
    pub(super) fn set_times(self, times: &Times, follow: bool) -> FsResult<()> {
        if !self.base.metadata(&self.path, follow)?.is_symlink() {
            return match Request::existing(self.path).open(&self.base)? {
                Opened::File(file) => Ok(times.set_on(&file)?),
                Opened::Folder(dir) => Ok(times.set_on(&dir)?),
            };
        }
        let [access, modification] = times.specs()?;
        let set = self
            .base
            .dir()
            .set_symlink_times(self.path.as_path(), access, modification);
        set.map_err(|error| self.failure(error))
    }
}
