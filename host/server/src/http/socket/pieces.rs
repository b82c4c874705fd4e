//! Messages that come in pieces. The protocol's crate gathers the pieces of a message and tells nobody
//! of them, and signs of life may come between: that a message does not become whole in time is seen
//! by the bytes that came and belong to nothing that was read.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::{Duration, Instant},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_tungstenite::tungstenite::Message;

/// Bytes that may be read ahead of the frame that is at hand. So much of a message may be there for
/// any time: less than a connection's own buffers.
const AHEAD_MAX: u64 = 64 << 10;
/// Bytes of a control frame from a client before its payload.
const CONTROL_HEAD: u64 = 6;

/// A stream that counts what is read from it.
pub(super) struct Counted<S> {
    stream: S,
    count: Arc<AtomicU64>,
}

impl<S> Counted<S> {
    pub(super) fn new(stream: S) -> Self {
        Self {
            stream,
            count: Arc::default(),
        }
    }

    /// What notices messages that do not become whole.
    pub(super) fn pieces(&self) -> Pieces {
        Pieces {
            count: Arc::clone(&self.count),
            read: 0,
            since: None,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Counted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let done = Pin::new(&mut self.stream).poll_read(context, buffer);
        let came = buffer.filled().len().saturating_sub(before);
        self.count.fetch_add(came as u64, Ordering::Relaxed);
        done
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Counted<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

/// What came of a message that is not whole.
pub(super) struct Pieces {
    /// Bytes that came.
    count: Arc<AtomicU64>,
    /// Bytes of those that belong to what was read.
    read: u64,
    /// Since when there are more than are read ahead.
    since: Option<Instant>,
}

impl Pieces {
    /// Notes what was read, and gives for how long the pieces of another message have waited.
    pub(super) fn note(&mut self, message: &Message) -> Duration {
        let came = self.count.load(Ordering::Relaxed);
        self.read = match message {
            Message::Ping(payload) | Message::Pong(payload) => {
                came.min(self.read + CONTROL_HEAD + payload.len() as u64)
            }
            // There is no other message before it is whole.
            _ => came,
        };
        if came - self.read <= AHEAD_MAX {
            self.since = None;
            return Duration::ZERO;
        }
        self.since.get_or_insert_with(Instant::now).elapsed()
    }
}
