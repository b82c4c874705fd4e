//! `wasi:filesystem`: the folders that a person granted, and nothing else.
//!
//! wasmtime-wasi has a host of this interface that knows rights but no quota, no limit on
//! descriptors and no receipts, and it opens whatever a path names. This one is our own, over
//! [`cap_std`], which resolves every path beneath an open folder. What it adds:
//!
//! - Rights belong to the grant ([`folder::Folder`]), never to a descriptor or a file, and
//!   nothing moves from one grant to another.
//! - One budget per grant and call counts every byte and entry that is added ([`budget`]).
//! - Descriptors and streams take slots, of the call and of the process ([`slots`]).
//! - Only regular files and folders are opened ([`open`]); nothing waits for a FIFO.
//! - Links that a guest makes lead neither upwards nor to the root ([`path`]).
//! - Every operation is recorded, streams too ([`journal`]).
//!
//! All work on files runs on tokio's threads for blocking work. A call that ends leaves at most
//! one operation of bounded size behind for each descriptor.

mod bindings;
mod budget;
mod change;
mod descriptor;
mod error;
mod file;
mod folder;
mod host;
mod input;
mod journal;
mod limits;
mod listing;
mod open;
mod operation;
mod output;
mod path;
mod slots;
mod stat;
mod streams;
mod times;

use tokio_util::task::AbortOnDropHandle;
use wasmtime::component::{HasData, Linker, ResourceTable};
use wasmtime_wasi::p2::StreamError;

use crate::recorder::Recorder;

use error::{FsError, FsResult};
pub(crate) use folder::{FolderError, Folders};

/// The interface's name in receipts.
const INTERFACE: &str = "filesystem";
/// The capability's name in denials.
const CAPABILITY: &str = "folder";

/// What the host functions need of a call's store.
#[expect(
    unreachable_pub,
    reason = "the generated bindings name it in public traits"
)]
pub struct FoldersCtx<'a> {
    pub(crate) folders: &'a mut Folders,
    pub(crate) table: &'a mut ResourceTable,
    pub(crate) recorder: &'a mut Recorder,
}

/// A store that has folders.
pub(crate) trait FoldersView: Send {
    /// The folders, the table of resources and the recorder.
    fn folders(&mut self) -> FoldersCtx<'_>;
}

struct HasFolders;

impl HasData for HasFolders {
    type Data<'a> = FoldersCtx<'a>;
}

/// Links `wasi:filesystem/types` and `wasi:filesystem/preopens`.
pub(crate) fn add_to_linker<T: FoldersView + 'static>(
    linker: &mut Linker<T>,
) -> wasmtime::Result<()> {
    bindings::types::add_to_linker::<T, HasFolders>(linker, T::folders)?;
    bindings::preopens::add_to_linker::<T, HasFolders>(linker, T::folders)
}

/// Runs `work` on a thread for blocking work and waits for it.
async fn blocking<R: Send + 'static>(
    work: impl FnOnce() -> FsResult<R> + Send + 'static,
) -> FsResult<R> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(FsError::Trap(error.into())),
    }
}

/// Starts `work` on a thread for blocking work. What has not begun when the handle is dropped
/// does not begin any more.
fn spawn<R: Send + 'static>(
    work: impl FnOnce() -> FsResult<R> + Send + 'static,
) -> AbortOnDropHandle<FsResult<R>> {
    AbortOnDropHandle::new(tokio::task::spawn_blocking(work))
}

/// The error of a stream. `filesystem-error-code` finds the code in it.
fn stream_error(error: FsError) -> StreamError {
    match error.into_code() {
        Ok(code) => StreamError::LastOperationFailed(code.into()),
        Err(error) => StreamError::Trap(error),
    }
}
