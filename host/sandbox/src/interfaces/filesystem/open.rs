//! Opening files and folders.
//!
//! Only regular files and folders are opened. A path is looked at before it is opened, because
//! opening a device can already act on it; it is opened without waiting, because opening a FIFO
//! can wait for ever; and it is looked at again, because the host may have replaced it.

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use rustix::fs::OFlags;

use super::{
    bindings::types::{DescriptorFlags, ErrorCode, OpenFlags, PathFlags},
    descriptor::OpenFolder,
    error::{FsError, FsResult},
    path::GuestPath,
};

/// What a guest asked to open.
pub(super) struct Request {
    pub(super) path: GuestPath,
    follow: bool,
    create: bool,
    exclusive: bool,
    truncate: bool,
    folder: bool,
    read: bool,
    write: bool,
}

/// What was opened.
pub(super) enum Opened {
    File(std::fs::File),
    Folder(Dir),
}

impl Request {
    /// Reads the flags and refuses those that the folder's grant rules out.
    pub(super) fn new(
        base: &OpenFolder,
        path: &str,
        path_flags: PathFlags,
        open_flags: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Self> {
        let request = Self {
            path: base.path(path)?,
            follow: path_flags.contains(PathFlags::SYMLINK_FOLLOW),
            create: open_flags.contains(OpenFlags::CREATE),
            exclusive: open_flags.contains(OpenFlags::EXCLUSIVE),
            truncate: open_flags.contains(OpenFlags::TRUNCATE),
            folder: open_flags.contains(OpenFlags::DIRECTORY),
            read: flags.contains(DescriptorFlags::READ),
            write: flags.contains(DescriptorFlags::WRITE),
        };
        // Truncating changes a file without a write flag, and creating changes the folder.
        if request.changes() || flags.contains(DescriptorFlags::MUTATE_DIRECTORY) {
            base.folder().check_write(&base.label_of(&request.path))?;
        }
        let sync = DescriptorFlags::FILE_INTEGRITY_SYNC
            | DescriptorFlags::DATA_INTEGRITY_SYNC
            | DescriptorFlags::REQUESTED_WRITE_SYNC;
        if flags.intersects(sync) {
            return Err(ErrorCode::Unsupported.into());
        }
        if request.folder && (request.create || request.exclusive || request.truncate) {
            return Err(ErrorCode::Invalid.into());
        }
        Ok(request)
    }

    /// A request to open something that exists, for its times.
    pub(super) fn existing(path: GuestPath) -> Self {
        Self {
            path,
            follow: true,
            create: false,
            exclusive: false,
            truncate: false,
            folder: false,
            read: true,
            write: false,
        }
    }

    /// Whether the guest may read what it opens; it may where it asked for nothing.
    pub(super) fn readable(&self) -> bool {
        self.read || !self.write
    }

    /// Whether the guest may write what it opens.
    pub(super) fn writable(&self) -> bool {
        self.write
    }

    fn changes(&self) -> bool {
        self.create || self.truncate || self.write
    }

    /// Opens it. Blocks.
    pub(super) fn open(&self, base: &OpenFolder) -> FsResult<Opened> {
        match base.metadata(&self.path, self.follow) {
            Ok(metadata) => {
                if self.create && self.exclusive {
                    return Err(ErrorCode::Exist.into());
                }
                self.check_kind(&metadata)?;
                self.open_unchecked(base)
            }
            Err(FsError::Code(ErrorCode::NoEntry)) if self.create => {
                if self.path.must_be_folder() {
                    return Err(ErrorCode::IsDirectory.into());
                }
                base.folder().make_entry(|| self.open_unchecked(base))
            }
            Err(error) => Err(error),
        }
    }

    fn open_unchecked(&self, base: &OpenFolder) -> FsResult<Opened> {
        let mut options = OpenOptions::new();
        options
            .read(self.readable())
            .write(self.changes())
            .create(self.create && !self.exclusive)
            .create_new(self.create && self.exclusive)
            .truncate(self.truncate)
            .custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed())
            .follow(if self.follow || self.path.must_be_folder() {
                FollowSymlinks::Yes
            } else {
                FollowSymlinks::No
            });
        let opened = base.dir().open_with(self.path.as_path(), &options);
        let opened = opened.map_err(|error| base.failure(&self.path, error))?;
        let metadata = opened.metadata()?;
        self.check_kind(&metadata)?;
        Ok(if metadata.is_dir() {
            Opened::Folder(Dir::from_std_file(opened.into_std()))
        } else {
            Opened::File(opened.into_std())
        })
    }

    fn check_kind(&self, metadata: &cap_std::fs::Metadata) -> FsResult<()> {
        let kind = metadata.file_type();
        let code = if kind.is_dir() {
            if !self.changes() {
                return Ok(());
            }
            ErrorCode::IsDirectory
        } else if self.folder || self.path.must_be_folder() {
            ErrorCode::NotDirectory
        } else if kind.is_file() {
            return Ok(());
        } else if kind.is_symlink() {
            ErrorCode::Loop
        } else {
            // A device, a FIFO or a socket.
            ErrorCode::NotPermitted
        };
        Err(code.into())
    }
}
