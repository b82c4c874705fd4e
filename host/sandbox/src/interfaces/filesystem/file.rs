//! An open file. Everything here blocks and runs on threads for blocking work.

use std::{fs::File, io, os::unix::fs::FileExt, sync::Arc};

use super::{
    bindings::types::ErrorCode,
    error::{FsError, FsResult},
    folder::Folder,
    slots::Slot,
    times::Times,
};

/// A regular file and what the guest may do with it.
#[expect(
    unreachable_pub,
    reason = "it is part of a type that the generated bindings re-export"
)]
pub struct OpenFile {
    pub(super) file: File,
    pub(super) folder: Arc<Folder>,
    pub(super) label: String,
    pub(super) readable: bool,
    pub(super) writable: bool,
    pub(super) _slot: Slot,
}

/// Where a write goes.
#[derive(Clone, Copy)]
pub(super) enum Place {
    At(u64),
    End,
}

impl OpenFile {
    /// Refuses a read of a file that was opened for writing only.
    pub(super) fn check_read(&self) -> FsResult<()> {
        if self.readable {
            Ok(())
        } else {
            Err(ErrorCode::BadDescriptor.into())
        }
    }

    /// Refuses a write to a file that was opened for reading, or is only granted for it.
    pub(super) fn check_write(&self) -> FsResult<()> {
        self.folder.check_write(&self.label)?;
        if self.writable {
            Ok(())
        } else {
            Err(ErrorCode::BadDescriptor.into())
        }
    }

    /// Reads at most `len` bytes; nothing at the end of the file.
    pub(super) fn read_at(&self, len: usize, offset: u64) -> FsResult<Vec<u8>> {
        self.check_read()?;
        let mut buffer = vec![0; len];
        let read = retry(|| self.file.read_at(&mut buffer, offset))?;
        buffer.truncate(read);
        Ok(buffer)
    }

    /// Writes all of `data`. A hole that the write leaves before it counts like bytes written:
    /// it is size that the guest gave the file.
    pub(super) fn write(&self, data: &[u8], place: Place) -> FsResult<()> {
        self.check_write()?;
        let len = data.len() as u64;
        let hole = match place {
            Place::End => 0,
            Place::At(offset) => {
                let end = offset
                    .checked_add(len)
                    .and_then(|end| i64::try_from(end).ok());
                end.ok_or(ErrorCode::FileTooLarge)?;
                if data.is_empty() {
                    0
                } else {
                    offset.saturating_sub(self.file.metadata()?.len())
                }
            }
        };
        self.folder
            .take_bytes(len.checked_add(hole).ok_or(ErrorCode::FileTooLarge)?)?;
        let mut written = 0;
        let result = self.write_all(data, place, &mut written);
        if result.is_err() {
            // The hole stays taken: a partial write may have made it.
            self.folder.return_bytes(len - written);
        }
        result
    }

    fn write_all(&self, mut data: &[u8], place: Place, written: &mut u64) -> FsResult<()> {
        while !data.is_empty() {
            let count = match place {
                Place::At(offset) => retry(|| self.file.write_at(data, offset + *written))?,
                Place::End => retry(|| append(&self.file, data))?,
            };
            if count == 0 {
                return Err(ErrorCode::Io.into());
            }
            *written += count as u64;
            data = data.get(count..).unwrap_or_default();
        }
        Ok(())
    }

    /// Cuts the file or lets it grow; growth counts like bytes written.
    pub(super) fn set_size(&self, size: u64) -> FsResult<()> {
        self.check_write()?;
        if i64::try_from(size).is_err() {
            return Err(ErrorCode::FileTooLarge.into());
        }
        let growth = size.saturating_sub(self.file.metadata()?.len());
        self.folder.take_bytes(growth)?;
        retry(|| self.file.set_len(size)).map_err(|error| {
            self.folder.return_bytes(growth);
            FsError::from(error)
        })
    }

    /// Changes the file's times.
    pub(super) fn set_times(&self, times: &Times) -> FsResult<()> {
        self.folder.check_write(&self.label)?;
        Ok(times.set_on(&self.file)?)
    }

    /// Waits until what this call wrote is on the disk. For a file that it can't write there
    /// is nothing to wait for.
    pub(super) fn sync(&self, metadata: bool) -> FsResult<()> {
        if !self.writable {
            return Ok(());
        }
        let synced = if metadata {
            self.file.sync_all()
        } else {
            self.file.sync_data()
        };
        Ok(synced?)
    }
}

/// Writes at the end of the file, wherever other writers moved it meanwhile.
fn append(file: &File, data: &[u8]) -> io::Result<usize> {
    #[cfg(target_os = "linux")]
    {
        use rustix::io::{Errno, ReadWriteFlags, pwritev2};
        match pwritev2(file, &[io::IoSlice::new(data)], 0, ReadWriteFlags::APPEND) {
            Err(Errno::NOSYS | Errno::NOTSUP) => {}
            result => return Ok(result?),
        }
    }
    // Without the system's help, two writers at once may write over each other.
    file.write_at(data, file.metadata()?.len())
}

/// Repeats what a signal interrupted.
fn retry<T>(mut work: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match work() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
