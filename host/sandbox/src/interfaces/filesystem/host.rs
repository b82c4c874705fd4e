//! The functions of the interface, in its order.

use std::sync::Arc;

use wasmtime::component::Resource;
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, IoError};

use super::{
    FoldersCtx, INTERFACE,
    bindings::{
        preopens,
        types::{
            self, Advice, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry,
            ErrorCode, MetadataHashValue, NewTimestamp, OpenFlags, PathFlags,
        },
    },
    blocking,
    descriptor::Descriptor,
    error::{FsError, FsResult, code_of},
    file::Place,
    limits::{MAX_READ_BYTES, MAX_WRITE_BYTES},
    listing::Listing,
    open::Request,
    operation::begin,
    stat,
    times::Times,
};
use crate::recorder::Recorder;

impl preopens::Host for FoldersCtx<'_> {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Resource<Descriptor>, String)>> {
        let mut directories = Vec::with_capacity(self.folders.open.len());
        for folder in &self.folders.open {
            let descriptor = self.table.push(Descriptor::Folder(Arc::clone(folder)))?;
            directories.push((descriptor, folder.folder().guest().to_owned()));
        }
        Ok(directories)
    }
}

impl types::Host for FoldersCtx<'_> {
    fn convert_error_code(&mut self, error: FsError) -> wasmtime::Result<ErrorCode> {
        error.into_code()
    }

    fn filesystem_error_code(
        &mut self,
        error: Resource<IoError>,
    ) -> wasmtime::Result<Option<ErrorCode>> {
        let error = self.table.get(&error)?;
        let code = error.downcast_ref::<ErrorCode>().copied();
        Ok(code.or_else(|| error.downcast_ref::<std::io::Error>().map(code_of)))
    }
}

impl types::HostDescriptor for FoldersCtx<'_> {
    fn read_via_stream(
        &mut self,
        descriptor: Resource<Descriptor>,
        offset: u64,
    ) -> FsResult<Resource<DynInputStream>> {
        self.input(&descriptor, offset)
    }

    fn write_via_stream(
        &mut self,
        descriptor: Resource<Descriptor>,
        offset: u64,
    ) -> FsResult<Resource<DynOutputStream>> {
        self.output("write-via-stream", &descriptor, Place::At(offset))
    }

    fn append_via_stream(
        &mut self,
        descriptor: Resource<Descriptor>,
    ) -> FsResult<Resource<DynOutputStream>> {
        self.output("append-via-stream", &descriptor, Place::End)
    }

    /// Advice is not passed on: the page cache is shared by all guests.
    fn advise(
        &mut self,
        descriptor: Resource<Descriptor>,
        _: u64,
        _: u64,
        _: Advice,
    ) -> FsResult<()> {
        match self.table.get(&descriptor)? {
            Descriptor::File(_) => Ok(()),
            Descriptor::Folder(_) => Err(ErrorCode::BadDescriptor.into()),
        }
    }

    async fn sync_data(&mut self, descriptor: Resource<Descriptor>) -> FsResult<()> {
        self.with_open("sync-data", &descriptor, |open| match open {
            Descriptor::File(file) => file.sync(false),
            Descriptor::Folder(_) => Ok(()),
        })
        .await
    }

    fn get_flags(&mut self, descriptor: Resource<Descriptor>) -> FsResult<DescriptorFlags> {
        let when = |on: bool, flag| if on { flag } else { DescriptorFlags::empty() };
        Ok(match self.table.get(&descriptor)? {
            Descriptor::File(file) => {
                when(file.readable, DescriptorFlags::READ)
                    | when(file.writable, DescriptorFlags::WRITE)
            }
            Descriptor::Folder(folder) => {
                DescriptorFlags::READ
                    | when(folder.folder().write(), DescriptorFlags::MUTATE_DIRECTORY)
            }
        })
    }

    fn get_type(&mut self, descriptor: Resource<Descriptor>) -> FsResult<DescriptorType> {
        Ok(match self.table.get(&descriptor)? {
            Descriptor::File(_) => DescriptorType::RegularFile,
            Descriptor::Folder(_) => DescriptorType::Directory,
        })
    }

    async fn set_size(&mut self, descriptor: Resource<Descriptor>, size: u64) -> FsResult<()> {
        self.with_open("set-size", &descriptor, move |open| match open {
            Descriptor::File(file) => file.set_size(size),
            Descriptor::Folder(_) => Err(ErrorCode::IsDirectory.into()),
        })
        .await
    }

    async fn set_times(
        &mut self,
        descriptor: Resource<Descriptor>,
        access: NewTimestamp,
        modification: NewTimestamp,
    ) -> FsResult<()> {
        let times = Times::new(access, modification)?;
        self.with_open("set-times", &descriptor, move |open| match open {
            Descriptor::File(file) => file.set_times(&times),
            Descriptor::Folder(folder) => {
                folder.folder().check_write(folder.label())?;
                Ok(times.set_on(folder.dir())?)
            }
        })
        .await
    }

    async fn read(
        &mut self,
        descriptor: Resource<Descriptor>,
        length: u64,
        offset: u64,
    ) -> FsResult<(Vec<u8>, bool)> {
        let file = self.file(&descriptor)?;
        let begun = begin("read", file.label.clone());
        let length = length.min(MAX_READ_BYTES) as usize;
        let result = blocking(move || file.read_at(length, offset)).await;
        let bytes_out = result.as_ref().map(Vec::len).unwrap_or_default();
        let bytes = self.end(begun, bytes_out, result)?;
        let end = bytes.is_empty() && length > 0;
        Ok((bytes, end))
    }

    async fn write(
        &mut self,
        descriptor: Resource<Descriptor>,
        mut buffer: Vec<u8>,
        offset: u64,
    ) -> FsResult<u64> {
        let file = self.file(&descriptor)?;
        buffer.truncate(MAX_WRITE_BYTES);
        let written = buffer.len();
        let begun = Recorder::begin_apart(INTERFACE, "write", file.label.clone(), written);
        let result = blocking(move || file.write(&buffer, Place::At(offset))).await;
        self.end(begun, 0, result)?;
        Ok(written as u64)
    }

    async fn read_directory(
        &mut self,
        descriptor: Resource<Descriptor>,
    ) -> FsResult<Resource<Listing>> {
        const FUNCTION: &str = "read-directory";
        let folder = self.folder(&descriptor)?;
        let label = folder.label().to_owned();
        let opened = match self.descriptor_slot() {
            Ok(slot) => blocking(move || Ok((folder.dir().entries()?, slot))).await,
            Err(error) => Err(error),
        };
        let (entries, slot) = self.only_failure(FUNCTION, &label, opened)?;
        let traffic = self.folders.journal.begin(FUNCTION, &label);
        Ok(self.table.push(Listing::new(entries, traffic, slot))?)
    }

    async fn sync(&mut self, descriptor: Resource<Descriptor>) -> FsResult<()> {
        self.with_open("sync", &descriptor, |open| match open {
            Descriptor::File(file) => file.sync(true),
            Descriptor::Folder(_) => Ok(()),
        })
        .await
    }

    async fn create_directory_at(
        &mut self,
        base: Resource<Descriptor>,
        path: String,
    ) -> FsResult<()> {
        self.change("create-directory-at", &base, &path, |entry| {
            entry.create_folder()
        })
        .await
    }

    async fn stat(&mut self, descriptor: Resource<Descriptor>) -> FsResult<DescriptorStat> {
        self.with_open("stat", &descriptor, |open| {
            Ok(stat::stat(&open.metadata()?))
        })
        .await
    }

    async fn stat_at(
        &mut self,
        base: Resource<Descriptor>,
        flags: PathFlags,
        path: String,
    ) -> FsResult<DescriptorStat> {
        self.look_at("stat-at", &base, (flags, &path), stat::stat)
            .await
    }

    async fn set_times_at(
        &mut self,
        base: Resource<Descriptor>,
        flags: PathFlags,
        path: String,
        access: NewTimestamp,
        modification: NewTimestamp,
    ) -> FsResult<()> {
        let times = Times::new(access, modification)?;
        let follow = flags.contains(PathFlags::SYMLINK_FOLLOW);
        self.change("set-times-at", &base, &path, move |entry| {
            entry.set_times(&times, follow)
        })
        .await
    }

    async fn link_at(
        &mut self,
        old_base: Resource<Descriptor>,
        old_flags: PathFlags,
        old_path: String,
        new_base: Resource<Descriptor>,
        new_path: String,
    ) -> FsResult<()> {
        if old_flags.contains(PathFlags::SYMLINK_FOLLOW) {
            return Err(ErrorCode::Invalid.into());
        }
        let (old, new) = ((&old_base, &*old_path), (&new_base, &*new_path));
        self.change_both("link-at", old, new, |old, new| old.hard_link(new))
            .await
    }

    async fn open_at(
        &mut self,
        base: Resource<Descriptor>,
        path_flags: PathFlags,
        path: String,
        open_flags: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Resource<Descriptor>> {
        let base = self.folder(&base)?;
        let begun = begin("open-at", base.label_of_text(&path));
        let result = match Request::new(&base, &path, path_flags, open_flags, flags) {
            Ok(request) => self.open(base, request).await,
            Err(error) => Err(error),
        };
        let descriptor = self.end(begun, 0, result)?;
        Ok(self.table.push(descriptor)?)
    }

    async fn readlink_at(&mut self, base: Resource<Descriptor>, path: String) -> FsResult<String> {
        let base = self.folder(&base)?;
        let begun = begin("readlink-at", base.label_of_text(&path));
        let result = match base.path(&path) {
            Ok(path) => blocking(move || base.read_link(&path)).await,
            Err(error) => Err(error),
        };
        let bytes_out = result.as_ref().map(String::len).unwrap_or_default();
        self.end(begun, bytes_out, result)
    }

    async fn remove_directory_at(
        &mut self,
        base: Resource<Descriptor>,
        path: String,
    ) -> FsResult<()> {
        self.change("remove-directory-at", &base, &path, |entry| {
            entry.remove_folder()
        })
        .await
    }

    async fn rename_at(
        &mut self,
        old_base: Resource<Descriptor>,
        old_path: String,
        new_base: Resource<Descriptor>,
        new_path: String,
    ) -> FsResult<()> {
        let (old, new) = ((&old_base, &*old_path), (&new_base, &*new_path));
        self.change_both("rename-at", old, new, |old, new| old.rename(new))
            .await
    }

    async fn symlink_at(
        &mut self,
        base: Resource<Descriptor>,
        target: String,
        path: String,
    ) -> FsResult<()> {
        self.change("symlink-at", &base, &path, move |entry| {
            entry.symlink_to(&target)
        })
        .await
    }

    async fn unlink_file_at(&mut self, base: Resource<Descriptor>, path: String) -> FsResult<()> {
        self.change("unlink-file-at", &base, &path, |entry| entry.unlink())
            .await
    }

    async fn is_same_object(
        &mut self,
        one: Resource<Descriptor>,
        other: Resource<Descriptor>,
    ) -> wasmtime::Result<bool> {
        let (one, other) = (
            self.table.get(&one)?.clone(),
            self.table.get(&other)?.clone(),
        );
        let same = blocking(move || {
            Ok(stat::identity(&one.metadata()?) == stat::identity(&other.metadata()?))
        });
        // A file whose metadata can't be read is the same as nothing.
        Ok(same.await.unwrap_or(false))
    }

    async fn metadata_hash(
        &mut self,
        descriptor: Resource<Descriptor>,
    ) -> FsResult<MetadataHashValue> {
        let keys = self.folders.identity.clone();
        let hash = move |open: Descriptor| Ok(stat::hash(&open.metadata()?, &keys));
        self.with_open("metadata-hash", &descriptor, hash).await
    }

    async fn metadata_hash_at(
        &mut self,
        base: Resource<Descriptor>,
        flags: PathFlags,
        path: String,
    ) -> FsResult<MetadataHashValue> {
        let keys = self.folders.identity.clone();
        let hash = move |metadata: &cap_std::fs::Metadata| stat::hash(metadata, &keys);
        self.look_at("metadata-hash-at", &base, (flags, &path), hash)
            .await
    }

    fn drop(&mut self, descriptor: Resource<Descriptor>) -> wasmtime::Result<()> {
        self.table.delete(descriptor)?;
        self.folders.journal.settle(self.recorder, false);
        Ok(())
    }
}

impl types::HostDirectoryEntryStream for FoldersCtx<'_> {
    async fn read_directory_entry(
        &mut self,
        listing: Resource<Listing>,
    ) -> FsResult<Option<DirectoryEntry>> {
        self.table.get_mut(&listing)?.next().await
    }

    fn drop(&mut self, listing: Resource<Listing>) -> wasmtime::Result<()> {
        self.table.delete(listing)?;
        self.folders.journal.settle(self.recorder, false);
        Ok(())
    }
}
