//! What is seen of every request: an id, a count, a line in the log at level debug; and a
//! panic becomes an answer.

use std::{
    any::Any,
    convert::Infallible,
    net::{IpAddr, Ipv4Addr},
    sync::atomic::{AtomicU64, Ordering},
    time::Instant,
};

use axum::{
    extract::{FromRequestParts, MatchedPath, Request, State},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use http::{HeaderName, HeaderValue, request::Parts};
use tracing::Instrument as _;

use super::{
    AppState,
    error::{self, Rejection},
};

static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Longest id that is taken from a client, in bytes: a UUID with a prefix fits, a log line
/// stays a line.
const REQUEST_ID_MAX: usize = 128;

/// Makes ids that are unique across starts of the server.
pub(crate) struct RequestIds {
    start: String,
    count: AtomicU64,
}

impl RequestIds {
    pub(crate) fn new() -> Self {
        let start = uuid::Uuid::new_v4().simple().to_string();
        Self {
            start: start[..8].to_owned(),
            count: AtomicU64::new(0),
        }
    }

    fn next(&self) -> HeaderValue {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let id = format!("req-{}-{count}", self.start);
        HeaderValue::from_str(&id).unwrap_or(HeaderValue::from_static("req"))
    }
}

/// The address from which a request comes; behind a trusted proxy that for which it asks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

impl<S: Send + Sync> FromRequestParts<S> for Peer {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        // Only a router without a listener, as in tests, knows no peer.
        let unknown = Self(Ipv4Addr::UNSPECIFIED.into());
        Ok(parts.extensions.get().copied().unwrap_or(unknown))
    }
}

/// Gives the request its id and counts it.
pub(crate) async fn observe(State(app): State<AppState>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let given = request
        .headers()
        .get(&REQUEST_ID)
        .filter(|id| is_usable(id));
    let id = given.cloned().unwrap_or_else(|| app.ids.next());
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let span = tracing::info_span!("request", id = id.to_str().unwrap_or_default());
    let mut response = next.run(request).instrument(span).await;
    let status = response.status();
    let route = route.as_ref().map(MatchedPath::as_str);
    app.metrics.request(&method, route, status);
    tracing::debug!(
        id = id.to_str().unwrap_or_default(),
        %method,
        route,
        status = status.as_u16(),
        elapsed_us = started.elapsed().as_micros(),
        "answered"
    );
    response.headers_mut().insert(REQUEST_ID.clone(), id);
    response
}

/// Goes into logs and an answer as it is.
fn is_usable(id: &HeaderValue) -> bool {
    let bytes = id.as_bytes();
    !bytes.is_empty() && bytes.len() <= REQUEST_ID_MAX && bytes.iter().all(u8::is_ascii_graphic)
}

/// A defect of the server: the message goes to the log, the client learns that it happened.
#[expect(
    clippy::needless_pass_by_value,
    reason = "the signature of tower-http's trait"
)]
pub(crate) fn panicked(panic: Box<dyn Any + Send>) -> Response {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    tracing::error!(panic = text.unwrap_or("unknown"), "a handler panicked");
    Rejection::new(&error::HOST_ERROR).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_from_a_client_is_one_short_word() {
        for (id, expected) in [("a-1", true), ("", false), ("a b", false)] {
            assert_eq!(
                is_usable(&HeaderValue::from_str(id).unwrap()),
                expected,
                "{id}"
            );
        }
        assert!(!is_usable(
            &HeaderValue::from_str(&"a".repeat(129)).unwrap()
        ));
    }

    #[test]
    fn a_panic_is_answered_without_its_text() {
        let response = panicked(Box::new("secret"));
        assert_eq!(response.status(), http::StatusCode::INTERNAL_SERVER_ERROR);
    }
}
