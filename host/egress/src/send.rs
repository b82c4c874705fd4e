//! Streaming requests, for `wasi:http`: the guest follows redirects itself.

use std::time::Duration;

use bulkhead_policy::Target;
use http::{HeaderMap, header};
use http_body_util::BodyExt as _;

use crate::{
    BoxBody, EgressError, Session,
    exchange::{Hop, Payload, Times, Wanted, exchange},
    fetch::invalid_url,
    headers,
    search::search_text,
};

/// How long the parts of a streaming exchange may take.
#[derive(Debug, Clone, Copy)]
pub struct StreamLimits {
    /// Resolving, connecting and TLS together.
    pub connect_timeout: Duration,
    /// From then to the head of the answer: sending the request's body is within it.
    pub first_byte_timeout: Duration,
    /// Between parts of the answer's body.
    pub between_bytes_timeout: Duration,
}

impl Session {
    /// Sends a request whose body flows and gives the answer as soon as its head is there.
    /// Automatic credentials are added; redirects are the guest's to follow.
    pub async fn send(
        &self,
        request: http::Request<BoxBody>,
        use_tls: bool,
        limits: StreamLimits,
    ) -> Result<http::Response<BoxBody>, EgressError> {
        let sent = self.start(request, use_tls, limits, true).await;
        sent.map_err(|error| error.redacted(self.scrubber()))
    }

    /// The same for the host itself, which gets the body of the answer as it comes. Searching a flow
    /// holds back its last bytes, and a server that waits after a whole message would never be heard.
    /// Whoever calls this searches whole messages with [`Session::scrubber`] before anybody else sees
    /// them.
    pub async fn send_unmasked(
        &self,
        request: http::Request<BoxBody>,
        use_tls: bool,
        limits: StreamLimits,
    ) -> Result<http::Response<BoxBody>, EgressError> {
        let sent = self.start(request, use_tls, limits, false).await;
        sent.map_err(|error| error.redacted(self.scrubber()))
    }

    async fn start(
        &self,
        request: http::Request<BoxBody>,
        use_tls: bool,
        limits: StreamLimits,
        masks: bool,
    ) -> Result<http::Response<BoxBody>, EgressError> {
        let (head, body) = request.into_parts();
        let mut guest = head.headers;
        let target = target(&head.uri, &mut guest, use_tls)?;
        let declared = declared_length(&mut guest)?;
        headers::check_guest(&guest)?;
        if let Some(authority) = head.uri.authority() {
            search_text(&self.0, authority.as_str(), &target, &head.method)?;
        }
        let hop = Hop {
            target: &target,
            method: &head.method,
            headers: guest,
            body: Payload::Stream(body, declared),
            credentials: Wanted::Automatic,
            times: Times {
                connect: limits
                    .connect_timeout
                    .min(self.0.shared.settings.connect_timeout),
                first_byte: Some(limits.first_byte_timeout),
                between_bytes: Some(limits.between_bytes_timeout),
            },
            masks,
        };
        let answer = exchange(&self.0, hop).await?;
        let mut response = http::Response::new(answer.body.boxed_unsync());
        *response.status_mut() = answer.status;
        *response.headers_mut() = answer.headers;
        Ok(response)
    }
}

/// The URL of a request. A `host` header may repeat the URL's host, as `wasi:http` hosts add it,
/// and say nothing else.
fn target(uri: &http::Uri, guest: &mut HeaderMap, use_tls: bool) -> Result<Target, EgressError> {
    let invalid = |message: &str| EgressError::Invalid(message.to_owned());
    let authority = uri
        .authority()
        .ok_or_else(|| invalid("the request names no host"))?;
    let scheme = if use_tls { "https" } else { "http" };
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let path = if path == "*" { "/" } else { path };
    for host in guest.get_all(header::HOST) {
        if !host
            .as_bytes()
            .eq_ignore_ascii_case(authority.as_str().as_bytes())
        {
            return Err(invalid("the header `host` is set by the host"));
        }
    }
    guest.remove(header::HOST);
    Target::parse(&format!("{scheme}://{authority}{path}")).map_err(invalid_url)
}

/// Takes the guest's `content-length` out of its headers: the body keeps to it, and the host
/// writes the one that is sent.
fn declared_length(guest: &mut HeaderMap) -> Result<Option<u64>, EgressError> {
    let mut declared = None;
    for value in guest.get_all(header::CONTENT_LENGTH) {
        let digits = value
            .to_str()
            .ok()
            .filter(|text| text.bytes().all(|b| b.is_ascii_digit()));
        let length: Option<u64> = digits.and_then(|digits| digits.parse().ok());
        if length.is_none() || (declared.is_some() && declared != length) {
            let message = "the header `content-length` is malformed";
            return Err(EgressError::Invalid(message.to_owned()));
        }
        declared = length;
    }
    guest.remove(header::CONTENT_LENGTH);
    Ok(declared)
}
