//! What a guest holds open: a file or a folder.

use std::sync::Arc;

use cap_std::fs::Dir;

use super::{
    bindings::types::ErrorCode,
    error::{FsError, FsResult, is_escape},
    file::OpenFile,
    folder::Folder,
    limits::MAX_LABEL_BYTES,
    path::GuestPath,
    slots::Slot,
};

/// The resource `descriptor`. Streams of a file share it, so that its slot is taken as long as
/// any of them lives.
#[derive(Clone)]
#[expect(unreachable_pub, reason = "the generated bindings re-export it")]
pub enum Descriptor {
    /// A regular file.
    File(Arc<OpenFile>),
    /// A folder.
    Folder(Arc<OpenFolder>),
}

/// An open folder: the granted one or one beneath it.
#[expect(
    unreachable_pub,
    reason = "it is part of a type that the generated bindings re-export"
)]
pub struct OpenFolder {
    dir: Dir,
    folder: Arc<Folder>,
    label: String,
    /// None for the granted folder, which the host opened.
    _slot: Option<Slot>,
}

impl OpenFolder {
    /// The granted folder itself.
    pub(super) fn granted(dir: Dir, folder: Arc<Folder>) -> Self {
        let label = join("", folder.guest());
        Self {
            dir,
            folder,
            label,
            _slot: None,
        }
    }

    /// A folder beneath another.
    pub(super) fn beneath(&self, path: &GuestPath, dir: Dir, slot: Slot) -> Self {
        Self {
            dir,
            folder: Arc::clone(&self.folder),
            label: self.label_of(path),
            _slot: Some(slot),
        }
    }

    /// The open folder, in which every path resolves beneath it.
    pub(super) fn dir(&self) -> &Dir {
        &self.dir
    }

    /// The grant that it belongs to.
    pub(super) fn folder(&self) -> &Arc<Folder> {
        &self.folder
    }

    /// Its path as the guest sees it, for receipts.
    pub(super) fn label(&self) -> &str {
        &self.label
    }

    /// A path in it as the guest sees it, for receipts.
    pub(super) fn label_of(&self, path: &GuestPath) -> String {
        match path.as_str() {
            "." => self.label.clone(),
            path => join(&self.label, path),
        }
    }

    /// As [`Self::label_of`] for a path that may be malformed.
    pub(super) fn label_of_text(&self, path: &str) -> String {
        join(&self.label, path)
    }

    /// Reads a path of the guest.
    pub(super) fn path(&self, text: &str) -> FsResult<GuestPath> {
        GuestPath::parse(text).map_err(|code| match code {
            ErrorCode::NotPermitted => self.outside(text),
            code => code.into(),
        })
    }

    /// What a symbolic link points to. Blocks.
    pub(super) fn read_link(&self, path: &GuestPath) -> FsResult<String> {
        if path.must_be_folder() {
            return Err(ErrorCode::Invalid.into());
        }
        // An absolute target is refused: it would tell of the host's file system.
        let target = self.dir.read_link(path.as_path());
        let target = target.map_err(|error| self.failure(path, error))?;
        target
            .into_os_string()
            .into_string()
            .map_err(|_| ErrorCode::IllegalByteSequence.into())
    }

    /// The failure of an operation on `path`.
    pub(super) fn failure(&self, path: &GuestPath, error: std::io::Error) -> FsError {
        if is_escape(&error) {
            self.outside(path.as_str())
        } else {
            error.into()
        }
    }

    fn outside(&self, path: &str) -> FsError {
        let guest = self.folder.guest();
        let text = format!(
            "{} leads out of {guest}, the granted folder",
            self.label_of_text(path)
        );
        FsError::Denied(ErrorCode::NotPermitted, text)
    }
}

/// Joins two parts of a path, cut to the length that receipts show.
pub(super) fn join(base: &str, path: &str) -> String {
    // One more than is shown, so that the cut is seen.
    let path = &path[..path.floor_char_boundary(MAX_LABEL_BYTES + 1)];
    let mut label = String::with_capacity(base.len() + 1 + path.len());
    label.push_str(base);
    if !path.starts_with('/') && !label.ends_with('/') {
        label.push('/');
    }
    label.push_str(path);
    if label.len() > MAX_LABEL_BYTES {
        label.truncate(label.floor_char_boundary(MAX_LABEL_BYTES));
        label.push('…');
    }
    label
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_read_like_paths_and_stay_short() {
        assert_eq!(join("", "/data"), "/data");
        assert_eq!(join("/data", "a/b"), "/data/a/b");
        assert_eq!(join("/", "a"), "/a");
        let mut label = String::new();
        for _ in 0..100 {
            label = join(&label, &"é".repeat(100));
        }
        assert!(label.len() <= MAX_LABEL_BYTES + '…'.len_utf8());
    }
}
