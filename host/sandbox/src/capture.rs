//! Log lines, stdout, stderr, progress and partial output of one call: capped, scrubbed,
//! passed on live.

use std::sync::Arc;

use bulkhead_domain::Content;
use bulkhead_policy::Limits;
use bytes::Bytes;
use parking_lot::Mutex;
use wasmtime_wasi::{
    cli::{IsTerminal, StdoutStream},
    p2::{OutputStream, Pollable, StreamResult},
};

use crate::{Authority, Event, EventSink, LogLevel, LogLine};

/// Bytes of one line of stdout or stderr; a longer line is broken.
const MAX_LINE_BYTES: usize = 8 * 1024;
/// Bytes that stdout and stderr take at a time, so that no guest makes the host copy more.
const WRITE_PERMIT: usize = 64 * 1024;
/// What an event costs beside its text, so that a flood of empty ones ends too.
const EVENT_OVERHEAD: u64 = 64;

/// The captured output of one call, shared by its context and its standard streams.
#[derive(Clone)]
pub(crate) struct Capture(Arc<Shared>);

struct Shared {
    sink: Option<EventSink>,
    authority: Arc<Authority>,
    inner: Mutex<Inner>,
}

struct Inner {
    lines: Vec<LogLine>,
    log_left: u64,
    log_truncated: bool,
    events_left: u64,
    events_truncated: bool,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Capture {
    pub(crate) fn new(limits: &Limits, authority: Arc<Authority>, sink: Option<EventSink>) -> Self {
        let inner = Inner {
            lines: Vec::new(),
            log_left: limits.log_bytes,
            log_truncated: false,
            events_left: limits.event_bytes,
            events_truncated: false,
            stdout: Vec::new(),
            stderr: Vec::new(),
        };
        Self(Arc::new(Shared {
            sink,
            authority,
            inner: Mutex::new(inner),
        }))
    }

    /// Keeps a log line and passes it on.
    pub(crate) fn log(&self, level: LogLevel, message: &str) {
        if self.0.inner.lock().log_truncated {
            return;
        }
        let message = self.0.authority.scrubber.redact_str(message).into_owned();
        let cost = message.len() as u64 + EVENT_OVERHEAD;
        {
            let mut inner = self.0.inner.lock();
            if !take(&mut inner.log_left, cost) {
                let first = !std::mem::replace(&mut inner.log_truncated, true);
                drop(inner);
                if first {
                    self.send(Event::Truncated {
                        what: "log".to_owned(),
                    });
                }
                return;
            }
            inner.lines.push(LogLine {
                level,
                message: message.clone(),
            });
        }
        self.send(Event::Log { level, message });
    }

    /// Passes progress on.
    pub(crate) fn progress(&self, message: &str, done: Option<f32>) {
        if self.is_done_with_events() {
            return;
        }
        let message = self.0.authority.scrubber.redact_str(message).into_owned();
        let done = done
            .filter(|done| done.is_finite())
            .map(|done| done.clamp(0.0, 1.0));
        let cost = message.len() as u64;
        self.event(cost, Event::Progress { message, done });
    }

    /// Passes partial output on.
    pub(crate) fn emit(&self, part: Content) {
        let cost = match &part {
            Content::Text { text } => text.len(),
            Content::Blob { media_type, data } => media_type.len() + data.len(),
            Content::Link { uri, title } => uri.len() + title.as_ref().map_or(0, String::len),
        };
        self.event(cost as u64, Event::Emit { part });
    }

    /// Whether further events are dropped, so that nobody need look at them.
    pub(crate) fn is_done_with_events(&self) -> bool {
        self.0.inner.lock().events_truncated
    }

    fn event(&self, cost: u64, event: Event) {
        {
            let mut inner = self.0.inner.lock();
            if !take(&mut inner.events_left, cost + EVENT_OVERHEAD) {
                let first = !std::mem::replace(&mut inner.events_truncated, true);
                drop(inner);
                if first {
                    self.send(Event::Truncated {
                        what: "events".to_owned(),
                    });
                }
                return;
            }
        }
        self.send(event);
    }

    fn send(&self, event: Event) {
        if let Some(sink) = &self.0.sink {
            sink(event);
        }
    }

    /// Takes bytes of a standard stream and keeps every line that is complete.
    fn write(&self, level: LogLevel, bytes: &[u8]) {
        for chunk in bytes.split_inclusive(|byte| *byte == b'\n') {
            let line = {
                let mut inner = self.0.inner.lock();
                if inner.log_truncated {
                    return;
                }
                let buffer = inner.buffer(level);
                buffer.extend_from_slice(chunk);
                if chunk.ends_with(b"\n") {
                    buffer.pop();
                } else if buffer.len() < MAX_LINE_BYTES {
                    continue;
                }
                std::mem::take(buffer)
            };
            self.log(level, &String::from_utf8_lossy(&line));
        }
    }

    /// Ends the capture: unfinished lines are kept too. Gives the lines, and whether any were
    /// dropped.
    pub(crate) fn finish(&self) -> (Vec<LogLine>, bool) {
        for level in [LogLevel::Stdout, LogLevel::Stderr] {
            let rest = std::mem::take(self.0.inner.lock().buffer(level));
            if !rest.is_empty() {
                self.log(level, &String::from_utf8_lossy(&rest));
            }
        }
        let mut inner = self.0.inner.lock();
        (std::mem::take(&mut inner.lines), inner.log_truncated)
    }

    /// The guest's stdout or stderr.
    pub(crate) fn stream(&self, level: LogLevel) -> CapturedStream {
        CapturedStream {
            capture: self.clone(),
            level,
        }
    }
}

impl Inner {
    fn buffer(&mut self, level: LogLevel) -> &mut Vec<u8> {
        if level == LogLevel::Stdout {
            &mut self.stdout
        } else {
            &mut self.stderr
        }
    }
}

fn take(left: &mut u64, cost: u64) -> bool {
    match left.checked_sub(cost) {
        Some(rest) => {
            *left = rest;
            true
        }
        None => false,
    }
}

/// Stdout or stderr of a guest. Never blocks: what is over the limit is dropped.
#[derive(Clone)]
pub(crate) struct CapturedStream {
    capture: Capture,
    level: LogLevel,
}

impl IsTerminal for CapturedStream {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for CapturedStream {
    fn async_stream(&self) -> Box<dyn tokio::io::AsyncWrite + Send + Sync> {
        Box::new(tokio::io::sink())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

impl OutputStream for CapturedStream {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.capture.write(self.level, &bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(WRITE_PERMIT)
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for CapturedStream {
    async fn ready(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capture(log_bytes: u64) -> Capture {
        let limits = Limits {
            log_bytes,
            event_bytes: 200,
            ..Limits::default()
        };
        Capture::new(&limits, Authority::none(), None)
    }

    #[test]
    fn lines_are_joined_across_writes_and_the_last_one_is_kept() {
        let capture = capture(10_000);
        capture.write(LogLevel::Stdout, b"one\ntw");
        capture.write(LogLevel::Stdout, b"o\nthree");
        let (lines, truncated) = capture.finish();
        let texts: Vec<_> = lines.iter().map(|line| line.message.as_str()).collect();
        assert_eq!((texts, truncated), (vec!["one", "two", "three"], false));
    }

    #[test]
    fn a_flood_without_newlines_is_cut_and_marked() {
        let capture = capture(20_000);
        for _ in 0..100 {
            capture.write(LogLevel::Stderr, &[b'x'; 4_096]);
        }
        let (lines, truncated) = capture.finish();
        let bytes: usize = lines.iter().map(|line| line.message.len()).sum();
        assert!(truncated && bytes <= 20_000, "{bytes}");
    }

    #[test]
    fn events_over_the_limit_are_dropped_and_said_once() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let sink: EventSink = {
            let seen = Arc::clone(&seen);
            Arc::new(move |event| seen.lock().push(event))
        };
        let limits = Limits {
            event_bytes: 200,
            ..Limits::default()
        };
        let capture = Capture::new(&limits, Authority::none(), Some(sink));
        for _ in 0..10 {
            capture.progress("going on", Some(f32::NAN));
        }
        let seen = seen.lock();
        assert_eq!(seen.len(), 3);
        assert_eq!(
            seen[0],
            Event::Progress {
                message: "going on".to_owned(),
                done: None
            }
        );
        assert_eq!(
            seen[2],
            Event::Truncated {
                what: "events".to_owned()
            }
        );
    }
}
