//! `wasi:http` for components that speak it: every request takes the checked way out.

use std::{sync::Arc, time::Duration};

use bulkhead_domain::{HostCall, HostCallOutcome};
use bulkhead_egress::{EgressError, Session, StreamLimits};
use http_body_util::BodyExt;
use parking_lot::Mutex;
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody, WasiHttpHooks};

use super::http::{denial, without_query};
use crate::recorder::{Recorder, micros};

/// Waiting for a connection, for the first byte, and between bytes, where the guest names no
/// time of its own. The call's deadline ends all of them.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);
/// Bytes that a guest may hand over in one write to a request's body.
const BODY_CHUNK_BYTES: usize = 64 * 1024;
/// Requests that are remembered until the call ends; the receipt lists no more.
const MAX_NOTES: usize = 256;

/// Sends a guest's `wasi:http` requests through the call's egress session.
pub(crate) struct CheckedHttp {
    session: Session,
    notes: Arc<Mutex<Notes>>,
}

/// Requests that ended since they were last collected.
#[derive(Default)]
struct Notes {
    kept: Vec<Note>,
    omitted: u64,
}

/// A request that ended, and why it was refused if it was.
type Note = (HostCall, Option<(&'static str, String)>);

impl CheckedHttp {
    pub(crate) fn new(session: Session) -> Self {
        Self {
            session,
            notes: Arc::default(),
        }
    }

    /// Moves what ended so far into the recorder.
    pub(crate) fn collect(&mut self, recorder: &mut Recorder) {
        let mut notes = self.notes.lock();
        recorder.omit(std::mem::take(&mut notes.omitted));
        for (call, denial) in notes.kept.drain(..) {
            recorder.record(call);
            if let Some((capability, message)) = denial {
                recorder.deny(capability, message);
            }
        }
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
        let (session, notes) = (self.session.clone(), Arc::clone(&self.notes));
        Box::new(async move {
            let begun = std::time::Instant::now();
            let target = format!(
                "{} {}",
                request.method(),
                without_query(&request.uri().to_string())
            );
            let limits = stream_limits(options);
            let use_tls = request.uri().scheme() != Some(&http::uri::Scheme::HTTP);
            let request = request.map(|body| body.map_err(from_guest).boxed_unsync());
            let answer = session.send(request, use_tls, limits).await;
            let refused = answer.as_ref().err().and_then(denial);
            let outcome = match (&answer, &refused) {
                (Ok(_), _) => HostCallOutcome::Ok,
                (Err(_), Some(_)) => HostCallOutcome::Denied,
                (Err(_), None) => HostCallOutcome::Failed,
            };
            let note = HostCall {
                interface: "wasi:http".to_owned(),
                function: "handle".to_owned(),
                target: Some(target),
                bytes_in: 0,
                bytes_out: 0,
                outcome,
                wall_us: micros(begun),
            };
            let mut notes = notes.lock();
            if notes.kept.len() < MAX_NOTES {
                notes.kept.push((note, refused));
            } else {
                notes.omitted += 1;
            }
            drop(notes);
            let response = answer.map_err(to_guest)?;
            let response = response.map(|body| body.map_err(to_guest).boxed_unsync());
            let done: Box<dyn Future<Output = Result<(), Error>> + Send> =
                Box::new(std::future::ready(Ok(())));
            Ok((response, done))
        })
    }

    fn p2_outgoing_body_chunk_size(&mut self) -> usize {
        BODY_CHUNK_BYTES
    }
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
