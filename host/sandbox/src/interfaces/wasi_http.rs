//! `wasi:http` for components that speak it: every request takes the checked way out.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use bulkhead_domain::{HostCall, HostCallOutcome};
use bulkhead_egress::{EgressError, Session, StreamLimits};
use bytes::Bytes;
use http_body::Frame;
use http_body_util::BodyExt;
use parking_lot::Mutex;
use wasmtime::{
    StoreContextMut,
    component::{Linker, Resource},
};
use wasmtime_wasi_http::{
    Error, RequestOptions, WasiBody, WasiHttpHooks, WasiHttpView as _,
    p2::{
        bindings::http::types::{HostOutgoingRequest as _, Method},
        types::HostOutgoingRequest,
    },
};

use super::http::{denial, without_query};
use crate::{
    recorder::{Recorder, micros},
    state::CallState,
};

/// Waiting for a connection, for the first byte, and between bytes, where the guest names no
/// time of its own. The call's deadline ends all of them.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);
/// Bytes that a guest may hand over in one write to a request's body.
const BODY_CHUNK_BYTES: usize = 64 * 1024;
/// Requests that are remembered until the call ends; the receipt lists no more.
const MAX_NOTES: usize = 256;

/// Bytes of a method, an authority or a path. Each is kept for as long as the guest holds the
/// request's handle, outside of its memory limit.
const MAX_PART_BYTES: usize = 8 * 1024;

/// Links `wasi:http` 0.2, with setters that bound what a request's handle keeps.
pub(crate) fn add_to_linker(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    type Request = Resource<HostOutgoingRequest>;
    type Store<'a> = StoreContextMut<'a, CallState>;

    wasmtime_wasi_http::p2::add_only_http_to_linker_async(linker)?;
    linker.allow_shadowing(true);
    let mut types = linker.instance("wasi:http/types@0.2.12")?;
    types.func_wrap(
        "[method]outgoing-request.set-method",
        |mut store: Store<'_>, (request, method): (Request, Method)| {
            if matches!(&method, Method::Other(name) if name.len() > MAX_PART_BYTES) {
                return Ok((Err(()),));
            }
            Ok((store.data_mut().http().set_method(request, method)?,))
        },
    )?;
    types.func_wrap(
        "[method]outgoing-request.set-authority",
        |mut store: Store<'_>, (request, authority): (Request, Option<String>)| {
            if is_too_long(authority.as_ref()) {
                return Ok((Err(()),));
            }
            Ok((store.data_mut().http().set_authority(request, authority)?,))
        },
    )?;
    types.func_wrap(
        "[method]outgoing-request.set-path-with-query",
        |mut store: Store<'_>, (request, path): (Request, Option<String>)| {
            if is_too_long(path.as_ref()) {
                return Ok((Err(()),));
            }
            Ok((store.data_mut().http().set_path_with_query(request, path)?,))
        },
    )?;
    linker.allow_shadowing(false);
    Ok(())
}

fn is_too_long(part: Option<&String>) -> bool {
    part.is_some_and(|part| part.len() > MAX_PART_BYTES)
}

/// Sends a guest's `wasi:http` requests through the call's egress session.
pub(crate) struct CheckedHttp {
    session: Session,
    notes: Arc<Mutex<Notes>>,
}

/// The requests of a call, in the order in which they began.
#[derive(Default)]
struct Notes {
    kept: Vec<Arc<Note>>,
    omitted: u64,
}

/// A request. The bodies flow on their own, for as long as the guest wants.
struct Note {
    target: String,
    began: Instant,
    sent: AtomicUsize,
    received: AtomicUsize,
    /// How it ended and how long it took until then; none while it has no answer. Why it was
    /// refused, if it was.
    end: Mutex<Option<End>>,
}

struct End {
    outcome: HostCallOutcome,
    wall_us: u64,
    refused: Option<(&'static str, String)>,
}

impl Note {
    fn new(target: String) -> Self {
        Self {
            target,
            began: Instant::now(),
            sent: AtomicUsize::new(0),
            received: AtomicUsize::new(0),
            end: Mutex::new(None),
        }
    }

    fn end(&self, outcome: HostCallOutcome, refused: Option<(&'static str, String)>) {
        *self.end.lock() = Some(End {
            outcome,
            wall_us: micros(self.began),
            refused,
        });
    }

    /// What the receipt says of it. What never got an answer did not succeed; it may have had
    /// an effect.
    fn host_call(&self) -> (HostCall, Option<(&'static str, String)>) {
        let end = self.end.lock().take().unwrap_or_else(|| End {
            outcome: HostCallOutcome::Failed,
            wall_us: micros(self.began),
            refused: None,
        });
        let call = HostCall {
            interface: "wasi:http".to_owned(),
            function: "handle".to_owned(),
            target: Some(self.target.clone()),
            bytes_in: self.sent.load(Ordering::Relaxed) as u64,
            bytes_out: self.received.load(Ordering::Relaxed) as u64,
            outcome: end.outcome,
            wall_us: end.wall_us,
        };
        (call, end.refused)
    }
}

impl CheckedHttp {
    pub(crate) fn new(session: Session) -> Self {
        Self {
            session,
            notes: Arc::default(),
        }
    }

    /// Moves all requests into the recorder, when the call has ended.
    pub(crate) fn collect(&mut self, recorder: &mut Recorder) {
        let mut notes = self.notes.lock();
        recorder.omit(std::mem::take(&mut notes.omitted));
        for note in notes.kept.drain(..) {
            let (call, refused) = note.host_call();
            recorder.record(call);
            if let Some((capability, message)) = refused {
                recorder.deny(capability, message);
            }
        }
    }

    fn note(&self, target: String) -> Arc<Note> {
        let note = Arc::new(Note::new(target));
        let mut notes = self.notes.lock();
        if notes.kept.len() < MAX_NOTES {
            notes.kept.push(Arc::clone(&note));
        } else {
            notes.omitted += 1;
        }
        note
    }
}

type Sent = (
    http::Response<WasiBody>,
    Box<dyn Future<Output = Result<(), Error>> + Send>,
);

impl WasiHttpHooks for CheckedHttp {
    fn send_request(
        &mut self,
        request: http::Request<WasiBody>,
        options: Option<RequestOptions>,
        _processed: Box<dyn Future<Output = Result<(), Error>> + Send>,
    ) -> Box<dyn Future<Output = Result<Sent, Error>> + Send> {
        let session = self.session.clone();
        let target = without_query(&request.uri().to_string());
        let note = self.note(format!("{} {target}", request.method()));
        Box::new(async move {
            let limits = stream_limits(options);
            let use_tls = request.uri().scheme() != Some(&http::uri::Scheme::HTTP);
            let noted = Arc::clone(&note);
            let request = request.map(|body| {
                let body = body.map_frame(move |frame| count(frame, &noted.sent));
                body.map_err(from_guest).boxed_unsync()
            });
            let answer = session.send(request, use_tls, limits).await;
            let refused = answer.as_ref().err().and_then(denial);
            let outcome = match (&answer, &refused) {
                (Ok(_), _) => HostCallOutcome::Ok,
                (Err(_), Some(_)) => HostCallOutcome::Denied,
                (Err(_), None) => HostCallOutcome::Failed,
            };
            note.end(outcome, refused);
            let response = answer.map_err(to_guest)?;
            let response = response.map(|body| {
                let body = body.map_frame(move |frame| count(frame, &note.received));
                body.map_err(to_guest).boxed_unsync()
            });
            let done: Box<dyn Future<Output = Result<(), Error>> + Send> =
                Box::new(std::future::ready(Ok(())));
            Ok((response, done))
        })
    }

    fn p2_outgoing_body_chunk_size(&mut self) -> usize {
        BODY_CHUNK_BYTES
    }
}

/// Counts the bytes of a part of a body that passes.
fn count(frame: Frame<Bytes>, bytes: &AtomicUsize) -> Frame<Bytes> {
    bytes.fetch_add(frame.data_ref().map_or(0, Bytes::len), Ordering::Relaxed);
    frame
}

fn stream_limits(options: Option<RequestOptions>) -> StreamLimits {
    let asked = |time: Option<Duration>| time.unwrap_or(DEFAULT_TIMEOUT).min(DEFAULT_TIMEOUT);
    let options = options.unwrap_or_default();
    StreamLimits {
        connect_timeout: asked(options.connect_timeout),
        first_byte_timeout: asked(options.first_byte_timeout),
        between_bytes_timeout: asked(options.between_bytes_timeout),
    }
}

/// A request's body that the guest broke off.
fn from_guest(error: Error) -> EgressError {
    EgressError::Invalid(format!("the request's body was not finished: {error:?}"))
}

fn to_guest(error: EgressError) -> Error {
    match error {
        EgressError::Denied { .. } | EgressError::SecretInRequest { .. } => {
            Error::HttpRequestDenied
        }
        EgressError::Unauthorized(_) => Error::HttpRequestDenied,
        EgressError::Invalid(_) => Error::HttpRequestUriInvalid,
        EgressError::Timeout => Error::ConnectionTimeout,
        EgressError::TooLarge { limit } => Error::HttpResponseBodySize(Some(limit)),
        EgressError::Failed { message, .. } => Error::InternalError(Some(message)),
        other => Error::InternalError(Some(other.to_string())),
    }
}
