//! Writing a file as a stream.

use std::{mem, sync::Arc, time::Instant};

use bytes::Bytes;
use tokio_util::task::AbortOnDropHandle;
use wasmtime_wasi::{
    async_trait,
    p2::{OutputStream, Pollable, StreamError, StreamResult},
};

use super::{
    error::{FsError, FsResult},
    file::{OpenFile, Place},
    journal::{Traffic, Way},
    limits::STREAM_CHUNK,
    slots::Slot,
    spawn, stream_error,
};

/// A stream that writes a file from a position on, or at its end. At most one write is under
/// way; the quota is taken when it begins.
pub(super) struct FileOutput {
    file: Arc<OpenFile>,
    place: Place,
    state: State,
    traffic: Arc<Traffic>,
    _slot: Slot,
}

enum State {
    Ready,
    Writing(AbortOnDropHandle<FsResult<u64>>),
    Failed(FsError),
    Closed,
}

impl FileOutput {
    pub(super) fn new(
        file: Arc<OpenFile>,
        place: Place,
        traffic: Arc<Traffic>,
        slot: Slot,
    ) -> Self {
        Self {
            file,
            place,
            state: State::Ready,
            traffic,
            _slot: slot,
        }
    }

    /// What ended the stream; it is told once.
    fn end(&mut self) -> StreamError {
        match mem::replace(&mut self.state, State::Closed) {
            State::Failed(error) => stream_error(error),
            _ => StreamError::Closed,
        }
    }
}

#[async_trait]
impl OutputStream for FileOutput {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        match self.state {
            State::Ready if bytes.len() <= STREAM_CHUNK => {}
            State::Closed => return Err(StreamError::Closed),
            _ => {
                return Err(StreamError::trap(
                    "more was written than check-write allowed",
                ));
            }
        }
        let (file, traffic, place) = (
            Arc::clone(&self.file),
            Arc::clone(&self.traffic),
            self.place,
        );
        self.state = State::Writing(spawn(move || {
            let since = Instant::now();
            let len = bytes.len() as u64;
            let result = file.write(&bytes, place).map(|()| len);
            traffic.count(since, Way::FromGuest(len), &result);
            result
        }));
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        match self.state {
            // Nothing is held back: `check-write` answers 0 until the write is done.
            State::Ready | State::Writing(_) => Ok(()),
            State::Failed(_) | State::Closed => Err(self.end()),
        }
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        match self.state {
            State::Ready => Ok(STREAM_CHUNK),
            State::Writing(_) => Ok(0),
            State::Failed(_) | State::Closed => Err(self.end()),
        }
    }

    async fn cancel(&mut self) {
        // What the guest wrote before it dropped the stream reaches the file.
        if let State::Writing(task) = mem::replace(&mut self.state, State::Closed) {
            let _ = task.await;
        }
    }
}

#[async_trait]
impl Pollable for FileOutput {
    async fn ready(&mut self) {
        if let State::Writing(task) = &mut self.state {
            self.state = match task.await {
                Ok(Ok(len)) => {
                    if let Place::At(offset) = &mut self.place {
                        *offset += len;
                    }
                    State::Ready
                }
                Ok(Err(error)) => State::Failed(error),
                Err(error) => State::Failed(FsError::Trap(error.into())),
            };
        }
    }
}
