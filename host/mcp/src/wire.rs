//! One exchange with a server: a request through the egress, and its answer in pieces.

use std::time::Duration;

use bulkhead_domain::HostCallOutcome;
use bulkhead_egress::{BoxBody, EgressError, Scrubber, Session, StreamLimits};
use bulkhead_llm::sse::{Event, Parser};
use bulkhead_policy::{Scheme, Target};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, header};
use http_body_util::{BodyExt as _, Empty, Full};

use crate::{
    Endpoint, McpError, Trail, endpoint::RESPONSE_BYTES_MAX, error::excerpt, plain, rpc,
    trail::Exchange,
};

/// Redirects within the origin; an honest one adds or takes away a slash.
const REDIRECTS_MAX: usize = 3;
/// Bytes of an answer with a failing status that are read for its text.
const REFUSAL_BYTES_MAX: usize = 16 << 10;

/// The way to one server, for one operation.
pub(crate) struct Wire<'a> {
    pub(crate) endpoint: &'a Endpoint,
    pub(crate) trail: &'a Trail,
    session: Session,
    /// How long an answer may take; the operation's own time ends earlier.
    patience: Duration,
}

/// A message to send.
pub(crate) struct Outgoing<'a> {
    /// What it is, for the receipt.
    pub(crate) function: &'a str,
    pub(crate) method: Method,
    pub(crate) headers: HeaderMap,
    /// Nothing for a GET.
    pub(crate) body: Option<Bytes>,
}

/// An answer that is being read.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    body: BoxBody,
    /// Finds what was sent to the server in what it says.
    scrubber: Scrubber,
    exchange: Exchange,
}

/// What an answer with a failing status says.
pub(crate) struct Refusal {
    pub(crate) error: McpError,
    /// Whether it is about the session and answers no request.
    pub(crate) names_session: bool,
}

impl<'a> Wire<'a> {
    pub(crate) fn new(
        endpoint: &'a Endpoint,
        trail: &'a Trail,
        egress: &bulkhead_egress::Egress,
        patience: Duration,
    ) -> Self {
        Self {
            endpoint,
            trail,
            session: egress.session(endpoint.access()),
            patience,
        }
    }

    /// Finds what is sent to the server alone in what it says.
    pub(crate) fn scrubber(&self) -> &Scrubber {
        self.session.scrubber()
    }

    /// Sends a message to `target` and gives the answer as soon as its head is there.
    pub(crate) async fn send(
        &self,
        target: &Target,
        outgoing: Outgoing<'_>,
    ) -> Result<Reply, McpError> {
        let mut target = target.clone();
        for _ in 0..=REDIRECTS_MAX {
            let reply = self.once(&target, &outgoing).await?;
            if !matches!(reply.status, 301 | 302 | 303 | 307 | 308) {
                return Ok(reply);
            }
            // What turns a message into a GET loses it.
            let keeps_method = matches!(reply.status, 307 | 308) || outgoing.method == Method::GET;
            target = redirected(&target, &reply, keeps_method)?;
        }
        Err(McpError::protocol(format!(
            "more than {REDIRECTS_MAX} redirects"
        )))
    }

    async fn once(&self, target: &Target, outgoing: &Outgoing<'_>) -> Result<Reply, McpError> {
        let bytes = outgoing.body.as_ref().map_or(0, Bytes::len);
        // Path and query may hold what lets somebody in, and more people see receipts than servers.
        let shown = format!("{} {}", outgoing.method, target.origin());
        let exchange = self.trail.begin(outgoing.function, excerpt(&shown), bytes);
        let sent = self.session.send_unmasked(
            self.request(target, outgoing)?,
            target.scheme() == Scheme::Https,
            StreamLimits {
                connect_timeout: self.patience,
                first_byte_timeout: self.patience,
                between_bytes_timeout: self.patience,
            },
        );
        let response = sent.await.map_err(|error| {
            if let EgressError::Denied { .. } = error {
                exchange.went(HostCallOutcome::Denied);
            }
            request_failed(error)
        })?;
        let (head, body) = response.into_parts();
        Ok(Reply {
            scrubber: self.scrubber().clone(),
            status: head.status.as_u16(),
            headers: head.headers,
            body,
            exchange,
        })
    }

    fn request(
        &self,
        target: &Target,
        outgoing: &Outgoing<'_>,
    ) -> Result<http::Request<BoxBody>, McpError> {
        let mut headers = self.endpoint.headers.clone();
        headers.extend(outgoing.headers.clone());
        let body = match &outgoing.body {
            Some(body) => {
                headers.insert(header::CONTENT_LENGTH, body.len().into());
                let json = HeaderValue::from_static("application/json");
                headers.insert(header::CONTENT_TYPE, json);
                let body = Full::new(body.clone());
                body.map_err(|never| match never {}).boxed_unsync()
            }
            None => Empty::new().map_err(|never| match never {}).boxed_unsync(),
        };
        let mut request = http::Request::builder()
            .method(outgoing.method.clone())
            .uri(target.url().as_str())
            .body(body)
            .map_err(|_| {
                McpError::Request(EgressError::Invalid(
                    "the server's address can't be asked".to_owned(),
                ))
            })?;
        *request.headers_mut() = headers;
        Ok(request)
    }
}

fn request_failed(error: EgressError) -> McpError {
    match error {
        EgressError::TooLarge { .. } => McpError::TooLarge(RESPONSE_BYTES_MAX),
        other => McpError::Request(other),
    }
}

fn redirected(from: &Target, reply: &Reply, keeps_method: bool) -> Result<Target, McpError> {
    let location = reply.headers.get(header::LOCATION);
    let location = location.and_then(|location| location.to_str().ok());
    let to = location
        .and_then(|location| from.join(location).ok())
        .ok_or_else(|| McpError::protocol("a redirect that leads nowhere"))?;
    if !to.same_origin(from) || !keeps_method {
        let origin = to.origin().to_string();
        let shown = reply.scrubber.redact_str(&origin);
        return Err(McpError::Redirect(excerpt(&shown)));
    }
    Ok(to)
}

impl Reply {
    /// Whether the answer has this media type.
    pub(crate) fn is(&self, media_type: &str) -> bool {
        let value = self.headers.get(header::CONTENT_TYPE);
        let value = value.and_then(|value| value.to_str().ok());
        let bare = value.and_then(|value| value.split(';').next());
        bare.is_some_and(|bare| bare.trim().eq_ignore_ascii_case(media_type))
    }

    /// The next piece of the body.
    async fn piece(&mut self) -> Result<Option<Bytes>, McpError> {
        while let Some(frame) = self.body.frame().await {
            let frame = frame.map_err(request_failed)?;
            if let Ok(data) = frame.into_data() {
                self.exchange.received(data.len());
                return Ok(Some(data));
            }
        }
        Ok(None)
    }

    /// All of the body, as it came.
    pub(crate) async fn whole(mut self) -> Result<Vec<u8>, McpError> {
        let mut body = Vec::new();
        while let Some(piece) = self.piece().await? {
            body.extend_from_slice(&piece);
        }
        self.exchange.went(HostCallOutcome::Ok);
        Ok(body)
    }

    /// Notes that this exchange did what it should.
    pub(crate) fn succeeded(&self) {
        self.exchange.went(HostCallOutcome::Ok);
    }

    /// What an answer with a failing status says to the message with this id.
    pub(crate) async fn refusal(mut self, id: Option<u64>) -> Refusal {
        let mut body = Vec::new();
        while body.len() < REFUSAL_BYTES_MAX
            && let Ok(Some(piece)) = self.piece().await
        {
            body.extend_from_slice(&piece);
        }
        body.truncate(REFUSAL_BYTES_MAX);
        let (error, is_ours) = match rpc::parse(&body, &self.scrubber) {
            Ok(rpc::Incoming::Answer(found, Err(error))) => {
                (Some(error), id.is_some_and(|id| rpc::is_ours(&found, id)))
            }
            Err(error @ McpError::Refused { .. }) => (Some(error), false),
            _ => (None, false),
        };
        let error = error.unwrap_or_else(|| self.status_error(&body));
        Refusal {
            names_session: !is_ours && error.to_string().to_lowercase().contains("session"),
            error,
        }
    }

    fn status_error(&self, body: &[u8]) -> McpError {
        let status = self.status;
        let body = plain::masked(body, &self.scrubber);
        let said = String::from_utf8_lossy(&body);
        // A page of HTML says nothing to anybody here.
        let text = match said.trim() {
            "" => String::new(),
            text if text.starts_with('<') => String::new(),
            text => format!(": {}", excerpt(text)),
        };
        McpError::Status { status, text }
    }

    /// The body as events.
    pub(crate) fn events(self) -> Events {
        Events {
            reply: self,
            parser: Parser::limited(usize::try_from(RESPONSE_BYTES_MAX).unwrap_or(usize::MAX)),
            ended: false,
        }
    }
}

/// The events of an answer.
pub(crate) struct Events {
    reply: Reply,
    parser: Parser,
    ended: bool,
}

impl Events {
    /// The next event as it came; none where the stream has ended.
    pub(crate) async fn next(&mut self) -> Result<Option<Event>, McpError> {
        let malformed = |error: bulkhead_llm::sse::Malformed| McpError::protocol(error.to_string());
        loop {
            if let Some(event) = self.parser.next() {
                return Ok(Some(event));
            }
            if self.ended {
                return Ok(None);
            }
            match self.reply.piece().await? {
                Some(piece) => self.parser.push(&piece).map_err(malformed)?,
                None => {
                    self.ended = true;
                    self.parser.finish().map_err(malformed)?;
                }
            }
        }
    }

    /// Notes that this exchange did what it should.
    pub(crate) fn succeeded(&self) {
        self.reply.succeeded();
    }
}

/// The head of an answer, where nothing of its body matters.
pub(crate) fn expect_success(reply: &Reply) -> bool {
    let good = (200..300).contains(&reply.status);
    if good {
        reply.succeeded();
    }
    good
}

/// Text of a header of an answer.
pub(crate) fn text<'a>(response: &'a Reply, name: &str) -> Option<&'a str> {
    response
        .headers
        .get(name)
        .and_then(|value| value.to_str().ok())
}
