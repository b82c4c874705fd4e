//! The body of an answer on its way to the guest: counted, searched, and never waited for too long.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::{
    task::JoinHandle,
    time::{Instant, Sleep},
};

use crate::{
    EgressError, body_out::Verdict, exchange::failure, headers, scrub::StreamScrubber,
    session::Inner,
};

/// Ends the task that drives a connection when nobody waits for its answer any more.
pub(crate) struct Connection(pub(crate) JoinHandle<()>);

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The body of an answer.
pub(crate) struct ResponseBody {
    incoming: Incoming,
    session: Arc<Inner>,
    /// The rule under which it comes.
    rule: usize,
    /// What was left of the budget when it began.
    limit: u64,
    mask: StreamScrubber,
    /// How long the next bytes may take, and when that is over.
    patience: Option<(Duration, Pin<Box<Sleep>>)>,
    /// Trailers that wait until the bytes before them are out.
    trailers: Option<HeaderMap>,
    verdict: Verdict,
    ended: bool,
    _connection: Connection,
}

impl ResponseBody {
    pub(crate) fn new(
        incoming: Incoming,
        mask: StreamScrubber,
        session: Arc<Inner>,
        rule: usize,
        between_bytes: Option<Duration>,
        verdict: Verdict,
        connection: Connection,
    ) -> Self {
        Self {
            incoming,
            limit: session.budgets.left_to_receive(rule),
            mask,
            rule,
            session,
            patience: between_bytes.map(|time| (time, Box::pin(tokio::time::sleep(time)))),
            trailers: None,
            verdict,
            ended: false,
            _connection: connection,
        }
    }

    /// What was left of the budget when the answer began.
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    fn poll_incoming(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let polled = Pin::new(&mut self.incoming).poll_frame(cx);
        if let (Poll::Ready(_), Some((time, sleep))) = (&polled, &mut self.patience) {
            sleep.as_mut().reset(Instant::now() + *time);
        }
        polled
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, EgressError>>> {
        while !self.ended {
            let Poll::Ready(next) = self.poll_incoming(cx) else {
                if let Some((_, sleep)) = &mut self.patience {
                    ready!(sleep.as_mut().poll(cx));
                    return Poll::Ready(Some(Err(EgressError::Timeout)));
                }
                return Poll::Pending;
            };
            let released = match next {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) if !self.session.budgets.receive(self.rule, data.len()) => {
                        return Poll::Ready(Some(Err(EgressError::TooLarge { limit: self.limit })));
                    }
                    Ok(data) => self.mask.push(data),
                    Err(frame) => {
                        let trailers = frame.into_trailers().unwrap_or_default();
                        self.trailers =
                            Some(headers::for_guest(&trailers, self.session.scrubber()));
                        continue;
                    }
                },
                Some(Err(error)) => {
                    let error = self
                        .verdict
                        .get()
                        .unwrap_or_else(|| failure(&error, &self.session));
                    return Poll::Ready(Some(Err(error)));
                }
                None => {
                    self.ended = true;
                    self.mask.finish()
                }
            };
            if !released.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(released))));
            }
        }
        Poll::Ready(
            self.trailers
                .take()
                .map(|trailers| Ok(Frame::trailers(trailers))),
        )
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = EgressError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, EgressError>>> {
        let body = self.get_mut();
        let polled = ready!(body.poll(cx));
        if let Some(Err(_)) = &polled {
            body.ended = true;
            body.trailers = None;
        }
        Poll::Ready(polled)
    }

    fn is_end_stream(&self) -> bool {
        let ended = self.ended || self.incoming.is_end_stream();
        ended && self.mask.held() == 0 && self.trailers.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        match self.incoming.size_hint().exact() {
            Some(left) => SizeHint::with_exact(left + self.mask.held() as u64),
            None => SizeHint::default(),
        }
    }
}
