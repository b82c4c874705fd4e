//! What a guest learns of a file without reading it.

use std::{
    hash::{BuildHasher, RandomState},
    io,
};

use cap_std::fs::{FileType, FileTypeExt, Metadata, MetadataExt};

use super::{
    bindings::types::{DescriptorStat, DescriptorType, ErrorCode, MetadataHashValue},
    descriptor::{Descriptor, OpenFolder},
    error::FsResult,
    path::GuestPath,
    times::datetime,
};

impl OpenFolder {
    /// The metadata of a path. A path that must be a folder is followed to it.
    pub(super) fn metadata(&self, path: &GuestPath, follow: bool) -> FsResult<Metadata> {
        let metadata = if follow || path.must_be_folder() {
            self.dir().metadata(path.as_path())
        } else {
            self.dir().symlink_metadata(path.as_path())
        };
        let metadata = metadata.map_err(|error| self.failure(path, error))?;
        if path.must_be_folder() && !metadata.is_dir() {
            return Err(ErrorCode::NotDirectory.into());
        }
        Ok(metadata)
    }
}

impl Descriptor {
    /// The metadata of what is open.
    pub(super) fn metadata(&self) -> io::Result<Metadata> {
        match self {
            Self::File(file) => Metadata::from_file(&file.file),
            Self::Folder(folder) => folder.dir().dir_metadata(),
        }
    }
}

/// The metadata as the interface has it.
pub(super) fn stat(metadata: &Metadata) -> DescriptorStat {
    DescriptorStat {
        type_: kind(metadata.file_type()),
        link_count: metadata.nlink(),
        size: metadata.len(),
        data_access_timestamp: datetime(metadata.atime(), metadata.atime_nsec()),
        data_modification_timestamp: datetime(metadata.mtime(), metadata.mtime_nsec()),
        status_change_timestamp: datetime(metadata.ctime(), metadata.ctime_nsec()),
    }
}

/// The kind of a file as the interface has it.
pub(super) fn kind(kind: FileType) -> DescriptorType {
    if kind.is_dir() {
        DescriptorType::Directory
    } else if kind.is_file() {
        DescriptorType::RegularFile
    } else if kind.is_symlink() {
        DescriptorType::SymbolicLink
    } else if kind.is_fifo() {
        DescriptorType::Fifo
    } else if kind.is_socket() {
        DescriptorType::Socket
    } else if kind.is_block_device() {
        DescriptorType::BlockDevice
    } else if kind.is_char_device() {
        DescriptorType::CharacterDevice
    } else {
        DescriptorType::Unknown
    }
}

/// What tells a file from all others.
pub(super) fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// The file's identity, hashed with the keys of the call.
pub(super) fn hash(metadata: &Metadata, keys: &[RandomState; 2]) -> MetadataHashValue {
    let [lower, upper] = keys;
    let identity = identity(metadata);
    MetadataHashValue {
        lower: lower.hash_one(identity),
        upper: upper.hash_one(identity),
    }
}
