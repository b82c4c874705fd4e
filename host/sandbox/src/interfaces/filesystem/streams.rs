//! Streams on files.

use std::sync::Arc;

use wasmtime::component::Resource;
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream};

use super::{
    FoldersCtx,
    bindings::types::ErrorCode,
    descriptor::Descriptor,
    error::{FsError, FsResult},
    file::{OpenFile, Place},
    input::FileInput,
    output::FileOutput,
    slots::Slot,
};

impl FoldersCtx<'_> {
    /// A stream that reads the file from `offset` on.
    pub(super) fn input(
        &mut self,
        descriptor: &Resource<Descriptor>,
        offset: u64,
    ) -> FsResult<Resource<DynInputStream>> {
        const FUNCTION: &str = "read-via-stream";
        let file = self.file(descriptor)?;
        let slot = file.check_read().and_then(|()| self.stream_slot());
        let slot = self.only_failure(FUNCTION, &file.label, slot)?;
        let traffic = self.folders.journal.begin(FUNCTION, &file.label);
        let stream: DynInputStream = Box::new(FileInput::new(file, offset, traffic, slot));
        Ok(self.table.push(stream)?)
    }

    /// A stream that writes the file at `place`.
    pub(super) fn output(
        &mut self,
        function: &'static str,
        descriptor: &Resource<Descriptor>,
        place: Place,
    ) -> FsResult<Resource<DynOutputStream>> {
        let file: Arc<OpenFile> = self.file(descriptor)?;
        let slot = file.check_write().and_then(|()| self.stream_slot());
        let slot = self.only_failure(function, &file.label, slot)?;
        let traffic = self.folders.journal.begin(function, &file.label);
        let stream: DynOutputStream = Box::new(FileOutput::new(file, place, traffic, slot));
        Ok(self.table.push(stream)?)
    }

    fn stream_slot(&self) -> FsResult<Slot> {
        self.folders
            .slots
            .stream()
            .ok_or(FsError::Code(ErrorCode::InsufficientMemory))
    }
}
