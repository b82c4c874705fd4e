//! An answer that comes in pieces.

use std::time::Duration;

use reqwest::Response;
use serde_json::Value;
use tokio::time::{Instant, timeout, timeout_at};

use super::failure::{describe, failure, in_words, refusal};
use crate::{
    chat::{Delta, Deltas, Endpoint},
    error::{ErrorKind, LlmError},
    sse::{Event, Parser},
};

/// Bytes of a whole answer at most, streamed or not. Wire formats wrap each token in some hundred
/// bytes, so this holds more tokens than any model writes at once.
pub(crate) const MAX_ANSWER: usize = 64 * 1024 * 1024;

/// How long the end of a stream is waited for after its last event; a new connection costs less
/// than a longer wait.
const LAST_BYTES: Duration = Duration::from_secs(1);
/// Bytes after the last event at most.
const MAX_LAST_BYTES: usize = 64 * 1024;

/// The events of a streamed answer, and where its pieces go. Dropping it ends the request.
///
/// A server that answers a streaming request with a whole JSON document is read as one event that
/// holds it.
pub(crate) struct EventStream<'a> {
    pub(super) endpoint: &'a Endpoint,
    pub(super) deltas: &'a Deltas,
    pub(super) response: Response,
    pub(super) format: Format,
    /// When the request was made.
    pub(super) started: Instant,
    /// When the whole stream must have ended.
    pub(super) deadline: Instant,
    /// How long the next piece may take.
    pub(super) silence: Duration,
    /// Bytes that came.
    pub(super) received: usize,
    /// Whether the provider has closed the stream.
    pub(super) ended: bool,
    /// From the request to the first piece that was passed on.
    pub(super) first_delta: Option<Duration>,
}

/// How the bytes of an answer are read.
pub(super) enum Format {
    /// As server-sent events.
    Events(Parser),
    /// As a whole document.
    Document(Vec<u8>),
}

impl EventStream<'_> {
    /// The next event; none at the end of the stream.
    ///
    /// # Errors
    /// `Timeout` when nothing comes in time, `Connection` when the connection breaks,
    /// `InvalidResponse` when what comes are no events. `partial` says whether pieces were emitted.
    pub(crate) async fn next(&mut self) -> Result<Option<Event>, LlmError> {
        loop {
            if let Format::Events(parser) = &mut self.format
                && let Some(event) = parser.next()
            {
                return Ok(Some(event));
            }
            if self.ended {
                return Ok(None);
            }
            let silent = Instant::now() + self.silence;
            match timeout_at(silent.min(self.deadline), self.response.chunk()).await {
                Err(_) => return Err(self.late(silent)),
                Ok(Err(error)) => {
                    let text = format!("the stream broke off: {}", describe(error));
                    return Err(self.failure(ErrorKind::Connection, &text));
                }
                Ok(Ok(Some(piece))) => self.take(&piece)?,
                Ok(Ok(None)) => {
                    self.ended = true;
                    if let Some(document) = self.end()? {
                        return Ok(Some(document));
                    }
                }
            }
        }
    }

    /// Passes a piece on. Waits for a reader that is slow; one that is gone is no error.
    pub(crate) async fn emit(&mut self, delta: Delta) {
        self.first_delta
            .get_or_insert_with(|| self.started.elapsed());
        let _ = self.deltas.send(delta).await;
    }

    /// From the request to the first piece that was passed on.
    pub(crate) fn first_delta(&self) -> Option<Duration> {
        self.first_delta
    }

    /// Lets go of the stream after the answer's end, so that its connection can be used again: the
    /// provider's own end of it mostly has come with the last event, or comes at once.
    pub(crate) fn finish(self) {
        if self.ended {
            return;
        }
        let mut response = self.response;
        tokio::spawn(timeout(LAST_BYTES, async move {
            let mut room = MAX_LAST_BYTES;
            while let Ok(Some(piece)) = response.chunk().await {
                room = match room.checked_sub(piece.len()) {
                    Some(room) => room,
                    None => break,
                };
            }
        }));
    }

    /// An error in words, with `partial` as it is.
    pub(crate) fn failure(&self, kind: ErrorKind, text: &str) -> LlmError {
        self.mark(failure(self.endpoint, kind, text))
    }

    /// An error that the provider reports in mid-stream, in its own form.
    pub(crate) fn refusal(&self, kind: ErrorKind, status: Option<u16>, body: &Value) -> LlmError {
        let body = body.to_string();
        self.mark(match status {
            Some(status) => refusal(self.endpoint, kind, status, &body),
            None => failure(self.endpoint, kind, super::failure::quoted(&body)),
        })
    }

    fn mark(&self, error: LlmError) -> LlmError {
        LlmError {
            partial: self.first_delta.is_some(),
            ..error
        }
    }

    fn late(&self, silent: Instant) -> LlmError {
        let text = if silent <= self.deadline {
            format!(
                "no further piece of the answer in {}",
                in_words(self.silence)
            )
        } else {
            let allowed = self.deadline.saturating_duration_since(self.started);
            format!("the answer did not end within {}", in_words(allowed))
        };
        self.failure(ErrorKind::Timeout, &text)
    }

    fn take(&mut self, piece: &[u8]) -> Result<(), LlmError> {
        self.received += piece.len();
        if self.received > MAX_ANSWER {
            let text = format!("its answer is larger than {MAX_ANSWER} bytes");
            return Err(self.failure(ErrorKind::InvalidResponse, &text));
        }
        let pushed = match &mut self.format {
            Format::Events(parser) => parser.push(piece),
            Format::Document(document) => {
                document.extend_from_slice(piece);
                Ok(())
            }
        };
        pushed.map_err(|problem| self.failure(ErrorKind::InvalidResponse, &problem.to_string()))
    }

    fn end(&mut self) -> Result<Option<Event>, LlmError> {
        match &mut self.format {
            Format::Events(parser) => match parser.finish() {
                Ok(()) => Ok(None),
                Err(problem) => Err(self.failure(ErrorKind::InvalidResponse, &problem.to_string())),
            },
            Format::Document(document) => match String::from_utf8(std::mem::take(document)) {
                Ok(data) if data.is_empty() => Ok(None),
                Ok(data) => Ok(Some(Event { name: None, data })),
                Err(_) => Err(self.failure(ErrorKind::InvalidResponse, "its answer is not UTF-8")),
            },
        }
    }
}
