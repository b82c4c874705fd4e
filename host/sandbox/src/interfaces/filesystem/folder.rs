//! The folders of one call.

use std::{hash::RandomState, io, path::Path, sync::Arc};

use bulkhead_policy::FolderRule;
use cap_std::{ambient_authority, fs::Dir};

use super::{
    bindings::types::ErrorCode,
    budget::Budget,
    descriptor::OpenFolder,
    error::{FsError, FsResult},
    journal::Journal,
    limits::{MAX_CREATED, MAX_FOLDERS},
    slots::Slots,
};
use crate::recorder::Recorder;

/// A granted folder could not be opened; the call does not begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum FolderError {
    /// The folder is missing, no folder, or not readable by the server.
    #[error("the granted folder {host} (seen as {guest}) can't be opened: {source}")]
    Open {
        /// Its path on the host.
        host: String,
        /// Its path in the guest.
        guest: String,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// The rule has a path that is relative, or empty as in a wish.
    #[error("a granted folder needs absolute paths, not {host:?} seen as {guest:?}")]
    NotAbsolute {
        /// Its path on the host.
        host: String,
        /// Its path in the guest.
        guest: String,
    },
    /// Two rules show different folders under one path.
    #[error("two granted folders are both seen as {guest}")]
    Twice {
        /// The path in the guest.
        guest: String,
    },
    /// More folders than one call may have.
    #[error("{0} folders are granted, one call can have {MAX_FOLDERS}")]
    TooMany(usize),
}

/// A folder as it was granted: all descriptors beneath share it.
#[derive(Debug)]
pub(super) struct Folder {
    guest: String,
    write: bool,
    budget: Budget,
}

/// The folders of one call, what it holds open and what it may still write.
pub(crate) struct Folders {
    pub(super) open: Vec<Arc<OpenFolder>>,
    pub(super) slots: Slots,
    pub(super) journal: Journal,
    /// Keys the hashes of file identities, so that guests can compare files within a call and
    /// learn no inode numbers.
    pub(super) identity: [RandomState; 2],
}

impl Folders {
    /// No folder at all.
    pub(crate) fn none() -> Self {
        Self {
            open: Vec::new(),
            slots: Slots::default(),
            journal: Journal::default(),
            identity: [RandomState::new(), RandomState::new()],
        }
    }

    /// Opens every folder of `rules`. `default_quota` is for rules that name none.
    pub(crate) fn open(rules: &[FolderRule], default_quota: u64) -> Result<Self, FolderError> {
        if rules.len() > MAX_FOLDERS {
            return Err(FolderError::TooMany(rules.len()));
        }
        let mut this = Self::none();
        for rule in rules {
            let FolderRule {
                host,
                guest,
                write,
                quota_bytes,
            } = rule;
            if !Path::new(host).is_absolute() || !guest.starts_with('/') {
                return Err(FolderError::NotAbsolute {
                    host: host.clone(),
                    guest: guest.clone(),
                });
            }
            if this.open.iter().any(|other| other.folder().guest == *guest) {
                return Err(FolderError::Twice {
                    guest: guest.clone(),
                });
            }
            let dir = Dir::open_ambient_dir(host, ambient_authority());
            let dir = dir.map_err(|source| FolderError::Open {
                host: host.clone(),
                guest: guest.clone(),
                source,
            })?;
            let budget = Budget::new(quota_bytes.unwrap_or(default_quota));
            let folder = Arc::new(Folder {
                guest: guest.clone(),
                write: *write,
                budget,
            });
            this.open.push(Arc::new(OpenFolder::granted(dir, folder)));
        }
        Ok(this)
    }

    /// Records what went through streams and listings. Called when the call ends; streams that
    /// were dropped before are recorded on the way.
    pub(crate) fn settle(&mut self, recorder: &mut Recorder) {
        self.journal.settle(recorder, true);
    }
}

impl Folder {
    /// Where the guest sees it.
    pub(super) fn guest(&self) -> &str {
        &self.guest
    }

    /// Whether the guest may change anything in it.
    pub(super) fn write(&self) -> bool {
        self.write
    }

    /// Refuses a change of `target` if the folder was granted for reading.
    pub(super) fn check_write(&self, target: &str) -> FsResult<()> {
        if self.write {
            return Ok(());
        }
        let text = format!(
            "{target}: {} is granted for reading only; `write` is missing",
            self.guest
        );
        Err(FsError::Denied(ErrorCode::ReadOnly, text))
    }

    /// Takes `bytes` of the quota.
    pub(super) fn take_bytes(&self, bytes: u64) -> FsResult<()> {
        if self.budget.take_bytes(bytes) {
            return Ok(());
        }
        let quota = self.budget.quota();
        let text = format!(
            "one call may write {quota} bytes to {}; a larger `quota_bytes` allows more",
            self.guest
        );
        Err(FsError::Denied(ErrorCode::Quota, text))
    }

    /// Gives bytes back that were not written.
    pub(super) fn return_bytes(&self, bytes: u64) {
        self.budget.return_bytes(bytes);
    }

    /// Makes an entry by `make`, counted.
    pub(super) fn make_entry<T>(&self, make: impl FnOnce() -> FsResult<T>) -> FsResult<T> {
        if !self.budget.take_entry() {
            let text = format!(
                "one call may make {MAX_CREATED} files, folders and links in {}",
                self.guest
            );
            return Err(FsError::Denied(ErrorCode::Quota, text));
        }
        make().inspect_err(|_| self.budget.return_entry())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(host: &str, guest: &str) -> FolderRule {
        FolderRule {
            host: host.to_owned(),
            guest: guest.to_owned(),
            write: false,
            quota_bytes: None,
        }
    }

    fn refusal(rules: &[FolderRule]) -> FolderError {
        match Folders::open(rules, 1) {
            Ok(_) => panic!("{rules:?} were opened"),
            Err(error) => error,
        }
    }

    #[test]
    fn a_wish_and_a_relative_path_are_no_folders() {
        for rules in [
            [rule("", "/data")],
            [rule("tmp", "/data")],
            [rule("/", "data")],
            [rule("/", "*")],
        ] {
            assert!(
                matches!(refusal(&rules), FolderError::NotAbsolute { .. }),
                "{rules:?}"
            );
        }
    }

    #[test]
    fn one_place_shows_one_folder() {
        let error = refusal(&[rule("/", "/data"), rule("/tmp", "/data")]);
        assert!(matches!(error, FolderError::Twice { guest } if guest == "/data"));
    }

    #[test]
    fn a_missing_folder_a_file_and_too_many_are_told_apart() {
        let missing = refusal(&[rule("/there/is/no/such/folder", "/data")]);
        assert!(
            missing.to_string().contains("/there/is/no/such/folder"),
            "{missing}"
        );
        let file = std::env::current_exe().expect("the test has a file");
        let file = refusal(&[rule(&file.display().to_string(), "/data")]);
        assert!(matches!(file, FolderError::Open { .. }));
        let many = vec![rule("/", "/data"); MAX_FOLDERS + 1];
        assert!(matches!(refusal(&many), FolderError::TooMany(count) if count == many.len()));
    }
}
