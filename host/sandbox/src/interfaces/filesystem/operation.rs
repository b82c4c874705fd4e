//! What operations have in common: finding what the guest's handles name, doing the work on a
//! thread for blocking work, and recording it.

use std::sync::Arc;

use bulkhead_domain::HostCallOutcome;
use wasmtime::component::Resource;

use super::{
    CAPABILITY, FoldersCtx, INTERFACE,
    bindings::types::{ErrorCode, PathFlags},
    blocking,
    change::Entry,
    descriptor::{Descriptor, OpenFolder},
    error::{FsError, FsResult},
    file::OpenFile,
    open::{Opened, Request},
    slots::Slot,
};
use crate::recorder::{Begun, Recorder};

impl FoldersCtx<'_> {
    pub(super) fn file(&self, descriptor: &Resource<Descriptor>) -> FsResult<Arc<OpenFile>> {
        match self.table.get(descriptor)? {
            Descriptor::File(file) => Ok(Arc::clone(file)),
            Descriptor::Folder(_) => Err(ErrorCode::IsDirectory.into()),
        }
    }

    pub(super) fn folder(&self, descriptor: &Resource<Descriptor>) -> FsResult<Arc<OpenFolder>> {
        match self.table.get(descriptor)? {
            Descriptor::Folder(folder) => Ok(Arc::clone(folder)),
            Descriptor::File(_) => Err(ErrorCode::NotDirectory.into()),
        }
    }

    pub(super) fn descriptor_slot(&self) -> FsResult<Slot> {
        self.folders
            .slots
            .descriptor()
            .ok_or(FsError::Code(ErrorCode::InsufficientMemory))
    }

    pub(super) fn end<T>(
        &mut self,
        begun: Begun,
        bytes_out: usize,
        result: FsResult<T>,
    ) -> FsResult<T> {
        let outcome = match &result {
            Ok(_) => HostCallOutcome::Ok,
            Err(FsError::Denied(_, text)) => {
                self.recorder.deny(CAPABILITY, text.clone());
                HostCallOutcome::Denied
            }
            Err(FsError::Code(_) | FsError::Trap(_)) => HostCallOutcome::Failed,
        };
        self.recorder.end(begun, bytes_out, outcome);
        self.folders.journal.settle(self.recorder, false);
        result
    }

    /// Records a stream or listing that did not come about; one that did keeps its own record.
    pub(super) fn only_failure<T>(
        &mut self,
        function: &'static str,
        target: &str,
        result: FsResult<T>,
    ) -> FsResult<T> {
        match result {
            Ok(value) => {
                self.folders.journal.settle(self.recorder, false);
                Ok(value)
            }
            Err(error) => self.end(begin(function, target.to_owned()), 0, Err(error)),
        }
    }

    /// Runs a change of one entry.
    pub(super) async fn change(
        &mut self,
        function: &'static str,
        descriptor: &Resource<Descriptor>,
        path: &str,
        work: impl FnOnce(Entry) -> FsResult<()> + Send + 'static,
    ) -> FsResult<()> {
        let base = self.folder(descriptor)?;
        let begun = begin(function, base.label_of_text(path));
        let result = match Entry::to_change(base, path) {
            Ok(entry) => blocking(move || work(entry)).await,
            Err(error) => Err(error),
        };
        self.end(begun, 0, result)
    }

    /// Runs a change of two entries; the receipt names the first.
    pub(super) async fn change_both(
        &mut self,
        function: &'static str,
        (old_base, old_path): (&Resource<Descriptor>, &str),
        (new_base, new_path): (&Resource<Descriptor>, &str),
        work: impl FnOnce(&Entry, &Entry) -> FsResult<()> + Send + 'static,
    ) -> FsResult<()> {
        let (old_base, new_base) = (self.folder(old_base)?, self.folder(new_base)?);
        let begun = begin(function, old_base.label_of_text(old_path));
        let entries = Entry::to_change(old_base, old_path)
            .and_then(|old| Ok((old, Entry::to_change(new_base, new_path)?)));
        let result = match entries {
            Ok((old, new)) => blocking(move || work(&old, &new)).await,
            Err(error) => Err(error),
        };
        self.end(begun, 0, result)
    }

    /// Reads the metadata of a path and makes something of it.
    pub(super) async fn look_at<T: Send + 'static>(
        &mut self,
        function: &'static str,
        descriptor: &Resource<Descriptor>,
        (flags, path): (PathFlags, &str),
        make: impl FnOnce(&cap_std::fs::Metadata) -> T + Send + 'static,
    ) -> FsResult<T> {
        let base = self.folder(descriptor)?;
        let begun = begin(function, base.label_of_text(path));
        let follow = flags.contains(PathFlags::SYMLINK_FOLLOW);
        let result = match base.path(path) {
            Ok(path) => blocking(move || Ok(make(&base.metadata(&path, follow)?))).await,
            Err(error) => Err(error),
        };
        self.end(begun, 0, result)
    }

    /// Runs `work` on what is open.
    pub(super) async fn with_open<T: Send + 'static>(
        &mut self,
        function: &'static str,
        descriptor: &Resource<Descriptor>,
        work: impl FnOnce(Descriptor) -> FsResult<T> + Send + 'static,
    ) -> FsResult<T> {
        let descriptor = self.table.get(descriptor)?.clone();
        let label = match &descriptor {
            Descriptor::File(file) => file.label.clone(),
            Descriptor::Folder(folder) => folder.label().to_owned(),
        };
        let begun = begin(function, label);
        let result = blocking(move || work(descriptor)).await;
        self.end(begun, 0, result)
    }

    /// Opens what was asked for.
    pub(super) async fn open(
        &mut self,
        base: Arc<OpenFolder>,
        request: Request,
    ) -> FsResult<Descriptor> {
        let slot = self.descriptor_slot()?;
        blocking(move || {
            Ok(match request.open(&base)? {
                Opened::Folder(dir) => {
                    Descriptor::Folder(Arc::new(base.beneath(&request.path, dir, slot)))
                }
                Opened::File(file) => Descriptor::File(Arc::new(OpenFile {
                    file,
                    folder: Arc::clone(base.folder()),
                    label: base.label_of(&request.path),
                    readable: request.readable(),
                    writable: request.writable(),
                    _slot: slot,
                })),
            })
        })
        .await
    }
}

pub(super) fn begin(function: &'static str, target: String) -> Begun {
    Recorder::begin_apart(INTERFACE, function, target, 0)
}
