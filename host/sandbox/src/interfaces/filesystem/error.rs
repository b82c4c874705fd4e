//! Failures of file operations, as guests and receipts see them.

use std::io;

use rustix::io::Errno;
use wasmtime::component::ResourceTableError;

use super::bindings::types::ErrorCode;

/// Why an operation was not done.
#[derive(Debug)]
#[expect(
    unreachable_pub,
    reason = "the generated bindings name it in public traits"
)]
pub enum FsError {
    /// It failed; the guest gets the code.
    Code(ErrorCode),
    /// The host refused for want of a grant; the guest gets the code, the receipt the text.
    Denied(ErrorCode, String),
    /// The guest broke the rules of the interface; the call ends.
    Trap(wasmtime::Error),
}

pub(super) type FsResult<T> = Result<T, FsError>;

impl FsError {
    /// The code, for the guest; a trap is an error of the call.
    pub(super) fn into_code(self) -> wasmtime::Result<ErrorCode> {
        match self {
            Self::Code(code) | Self::Denied(code, _) => Ok(code),
            Self::Trap(error) => Err(error),
        }
    }
}

impl From<ErrorCode> for FsError {
    fn from(code: ErrorCode) -> Self {
        Self::Code(code)
    }
}

impl From<io::Error> for FsError {
    fn from(error: io::Error) -> Self {
        Self::Code(code_of(&error))
    }
}

impl From<ResourceTableError> for FsError {
    fn from(error: ResourceTableError) -> Self {
        Self::Trap(error.into())
    }
}

/// Whether cap-std refused a path because it leads out of its folder. It makes this error
/// itself, without an error number of the system.
pub(super) fn is_escape(error: &io::Error) -> bool {
    error.raw_os_error().is_none() && error.kind() == io::ErrorKind::PermissionDenied
}

/// The code of a system's error.
pub(super) fn code_of(error: &io::Error) -> ErrorCode {
    if let Some(number) = error.raw_os_error() {
        return code_of_errno(Errno::from_raw_os_error(number));
    }
    match error.kind() {
        io::ErrorKind::NotFound => ErrorCode::NoEntry,
        io::ErrorKind::PermissionDenied => ErrorCode::NotPermitted,
        io::ErrorKind::AlreadyExists => ErrorCode::Exist,
        io::ErrorKind::InvalidInput => ErrorCode::Invalid,
        io::ErrorKind::NotADirectory => ErrorCode::NotDirectory,
        io::ErrorKind::IsADirectory => ErrorCode::IsDirectory,
        _ => ErrorCode::Io,
    }
}

fn code_of_errno(number: Errno) -> ErrorCode {
    match number {
        Errno::ACCESS => ErrorCode::Access,
        Errno::AGAIN => ErrorCode::WouldBlock,
        Errno::ALREADY => ErrorCode::Already,
        Errno::BADF => ErrorCode::BadDescriptor,
        Errno::BUSY => ErrorCode::Busy,
        Errno::DEADLK => ErrorCode::Deadlock,
        Errno::DQUOT => ErrorCode::Quota,
        Errno::EXIST => ErrorCode::Exist,
        Errno::FBIG => ErrorCode::FileTooLarge,
        Errno::ILSEQ => ErrorCode::IllegalByteSequence,
        Errno::INPROGRESS => ErrorCode::InProgress,
        Errno::INTR => ErrorCode::Interrupted,
        Errno::INVAL => ErrorCode::Invalid,
        Errno::ISDIR => ErrorCode::IsDirectory,
        Errno::LOOP => ErrorCode::Loop,
        Errno::MLINK => ErrorCode::TooManyLinks,
        Errno::NAMETOOLONG => ErrorCode::NameTooLong,
        Errno::NODEV => ErrorCode::NoDevice,
        Errno::NOENT => ErrorCode::NoEntry,
        Errno::NOLCK => ErrorCode::NoLock,
        // The wire has no code for "too many open files".
        Errno::NOMEM | Errno::MFILE | Errno::NFILE => ErrorCode::InsufficientMemory,
        Errno::NOSPC => ErrorCode::InsufficientSpace,
        Errno::NOTDIR => ErrorCode::NotDirectory,
        Errno::NOTEMPTY => ErrorCode::NotEmpty,
        Errno::NOTSUP | Errno::NOSYS => ErrorCode::Unsupported,
        Errno::NXIO => ErrorCode::NoSuchDevice,
        Errno::OVERFLOW => ErrorCode::Overflow,
        Errno::PERM => ErrorCode::NotPermitted,
        Errno::PIPE => ErrorCode::Pipe,
        Errno::ROFS => ErrorCode::ReadOnly,
        Errno::SPIPE => ErrorCode::InvalidSeek,
        Errno::TXTBSY => ErrorCode::TextFileBusy,
        Errno::XDEV => ErrorCode::CrossDevice,
        _ => ErrorCode::Io,
    }
}
