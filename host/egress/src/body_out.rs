//! The body of a request on its way out: counted and searched.

use std::{
    collections::BTreeSet,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::Full;

use crate::{BoxBody, EgressError, scrub::StreamScrubber, session::Inner};

/// Why sending a body stopped. hyper reports that it did and keeps the reason to itself, so the
/// body writes it here and whoever waits for the answer reads it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Verdict(Arc<Mutex<Option<EgressError>>>);

impl Verdict {
    fn set(&self, error: &EgressError) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.clone());
    }

    pub(crate) fn get(&self) -> Option<EgressError> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// The body of a request on its way out.
pub(crate) enum RequestBody {
    /// Counted and searched before.
    Whole(Full<Bytes>),
    /// Counted and searched while it flows.
    Stream(Box<Outflow>),
}

/// A guest's body that flows.
pub(crate) struct Outflow {
    body: BoxBody,
    /// What the guest's `content-length` says is still to come, where it has one.
    declared: Option<u64>,
    session: Arc<Inner>,
    /// The rule under which it leaves.
    rule: usize,
    search: StreamScrubber,
    /// Whose secrets may be in it, as indices into the credentials.
    entitled: BTreeSet<usize>,
    verdict: Verdict,
    ended: bool,
}

impl RequestBody {
    pub(crate) fn whole(bytes: Bytes) -> Self {
        Self::Whole(Full::new(bytes))
    }

    pub(crate) fn stream(
        body: BoxBody,
        declared: Option<u64>,
        session: Arc<Inner>,
        rule: usize,
        entitled: BTreeSet<usize>,
        verdict: Verdict,
    ) -> Self {
        let search = StreamScrubber::looking(session.scrubber().clone());
        let ended = body.is_end_stream();
        let flow = Outflow {
            body,
            declared,
            session,
            rule,
            search,
            entitled,
            verdict,
            ended,
        };
        Self::Stream(Box::new(flow))
    }
}

impl Outflow {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, EgressError>>> {
        while !self.ended {
            let released = match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.take(data)?,
                    // Trailers: HTTP/1.1 sends those that a `trailer` header announces: none.
                    Err(_) => continue,
                },
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => {
                    self.ended = true;
                    if self.declared.is_some_and(|left| left > 0) {
                        let message = "the body is shorter than its content-length";
                        return Poll::Ready(Some(Err(EgressError::Invalid(message.to_owned()))));
                    }
                    self.search.finish()
                }
            };
            if !released.is_empty() {
                return Poll::Ready(Some(Ok(released)));
            }
        }
        Poll::Ready(None)
    }

    fn take(&mut self, data: Bytes) -> Result<Bytes, EgressError> {
        let size = data.len();
        if let Some(left) = &mut self.declared {
            *left = left.checked_sub(size as u64).ok_or_else(|| {
                EgressError::Invalid("the body is longer than its content-length".to_owned())
            })?;
        }
        let limit = self.session.budgets.left_to_send(self.rule);
        if !self.session.budgets.send(self.rule, size) {
            return Err(EgressError::RequestTooLarge { limit });
        }
        let released = self.search.push(data);
        match self.search.found().difference(&self.entitled).next() {
            Some(&owner) => Err(self.session.secret_in_request(owner)),
            None => Ok(released),
        }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = EgressError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, EgressError>>> {
        match self.get_mut() {
            Self::Whole(body) => Pin::new(body)
                .poll_frame(cx)
                .map_err(|never| match never {}),
            Self::Stream(flow) => {
                let polled = ready!(flow.poll(cx));
                if let Some(Err(error)) = &polled {
                    flow.ended = true;
                    flow.verdict.set(error);
                }
                Poll::Ready(polled.map(|result| result.map(Frame::data)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(body) => body.is_end_stream(),
            Self::Stream(flow) => flow.ended && flow.search.held() == 0,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(body) => body.size_hint(),
            Self::Stream(flow) => match flow.declared.or_else(|| flow.body.size_hint().exact()) {
                Some(left) => SizeHint::with_exact(left + flow.search.held() as u64),
                None => SizeHint::default(),
            },
        }
    }
}
