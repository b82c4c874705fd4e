//! Reading a file as a stream.

use std::{mem, sync::Arc, time::Instant};

use bytes::Bytes;
use tokio_util::task::AbortOnDropHandle;
use wasmtime_wasi::{
    async_trait,
    p2::{InputStream, Pollable, StreamError, StreamResult},
};

use super::{
    error::{FsError, FsResult},
    file::OpenFile,
    journal::{Traffic, Way},
    limits::STREAM_CHUNK,
    slots::Slot,
    spawn, stream_error,
};

/// A stream that reads a file from a position on. At most one read is under way.
pub(super) struct FileInput {
    file: Arc<OpenFile>,
    position: u64,
    state: State,
    traffic: Arc<Traffic>,
    _slot: Slot,
}

enum State {
    Idle,
    Reading(AbortOnDropHandle<FsResult<Bytes>>),
    Ready(Bytes),
    Failed(FsError),
    Closed,
}

impl FileInput {
    pub(super) fn new(
        file: Arc<OpenFile>,
        position: u64,
        traffic: Arc<Traffic>,
        slot: Slot,
    ) -> Self {
        Self {
            file,
            position,
            state: State::Idle,
            traffic,
            _slot: slot,
        }
    }

    fn start(&mut self, size: usize) {
        let (file, traffic) = (Arc::clone(&self.file), Arc::clone(&self.traffic));
        let (position, size) = (self.position, size.clamp(1, STREAM_CHUNK));
        self.state = State::Reading(spawn(move || {
            let since = Instant::now();
            let result = file.read_at(size, position).map(Bytes::from);
            let bytes = result
                .as_ref()
                .map(|bytes| bytes.len() as u64)
                .unwrap_or_default();
            traffic.count(since, Way::ToGuest(bytes), &result);
            result
        }));
    }
}

#[async_trait]
impl InputStream for FileInput {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        match &mut self.state {
            State::Idle if size == 0 => Ok(Bytes::new()),
            State::Idle => {
                self.start(size);
                Ok(Bytes::new())
            }
            State::Reading(_) => Ok(Bytes::new()),
            State::Ready(bytes) => {
                let chunk = bytes.split_to(bytes.len().min(size));
                if bytes.is_empty() {
                    self.state = State::Idle;
                }
                self.position += chunk.len() as u64;
                Ok(chunk)
            }
            State::Failed(_) | State::Closed => {
                match mem::replace(&mut self.state, State::Closed) {
                    State::Failed(error) => Err(stream_error(error)),
                    _ => Err(StreamError::Closed),
                }
            }
        }
    }

    async fn blocking_read(&mut self, size: usize) -> StreamResult<Bytes> {
        if size > 0 && matches!(self.state, State::Idle) {
            self.start(size);
        }
        self.ready().await;
        self.read(size)
    }

    async fn cancel(&mut self) {
        // A read that has begun can't be stopped; waiting for it keeps the guest from piling
        // up reads of streams that it has dropped.
        if let State::Reading(task) = mem::replace(&mut self.state, State::Closed) {
            task.abort();
            let _ = task.await;
        }
    }
}

#[async_trait]
impl Pollable for FileInput {
    async fn ready(&mut self) {
        if matches!(self.state, State::Idle) {
            self.start(STREAM_CHUNK);
        }
        if let State::Reading(task) = &mut self.state {
            self.state = match task.await {
                Ok(Ok(bytes)) if bytes.is_empty() => State::Closed,
                Ok(Ok(bytes)) => State::Ready(bytes),
                Ok(Err(error)) => State::Failed(error),
                Err(error) => State::Failed(FsError::Trap(error.into())),
            };
        }
    }
}
