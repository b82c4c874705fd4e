//! Buffered requests: the whole answer at once, redirects followed.

use std::time::Duration;

use bulkhead_policy::{Target, TargetError};
use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use http_body_util::BodyExt as _;

use crate::{
    EgressError, Session,
    credential::strip_parameter,
    error::excerpt,
    exchange::{Answer, Hop, Payload, Times, Wanted, exchange},
    headers,
    search::search_text,
};

/// A request as a guest makes it.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The method.
    pub method: String,
    /// An absolute URL.
    pub url: String,
    /// Headers, in order; a name may come repeatedly.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Option<Bytes>,
    /// How long all of it may take.
    pub timeout: Option<Duration>,
    /// The name of a credential to add.
    pub credential: Option<String>,
}

/// An answer as a guest gets it, every secret of the call masked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// Where the answer came from, after redirects.
    pub url: String,
    /// Headers, in order; bytes beyond ASCII that are no UTF-8 are replaced.
    pub headers: Vec<(String, String)>,
    /// The body as it came: no content encoding is decoded.
    pub body: Bytes,
}

impl Session {
    /// Sends a request, follows its redirects and gives the whole answer.
    pub async fn fetch(&self, request: Request) -> Result<Response, EgressError> {
        let time = request
            .timeout
            .unwrap_or(self.0.shared.settings.fetch_timeout);
        let fetched = tokio::time::timeout(time, self.follow(request)).await;
        fetched
            .unwrap_or(Err(EgressError::Timeout))
            .map_err(|e| e.redacted(self.scrubber()))
    }

    async fn follow(&self, request: Request) -> Result<Response, EgressError> {
        let settings = &self.0.shared.settings;
        let mut trip = Trip::new(self, &request)?;
        let times = Times {
            connect: settings.connect_timeout,
            first_byte: None,
            between_bytes: None,
        };
        let mut redirects = 0;
        loop {
            let hop = Hop {
                target: &trip.target,
                method: &trip.method,
                headers: trip.headers.clone(),
                body: Payload::Whole(trip.body.clone()),
                credentials: trip.credentials,
                times,
                masks: true,
            };
            let answer = exchange(&self.0, hop).await?;
            let Some(location) = redirect(&answer) else {
                return self.buffer(&trip.target, answer).await;
            };
            if redirects == settings.max_redirects {
                let message = format!("more than {redirects} redirects");
                return Err(EgressError::Failed {
                    message,
                    sent: true,
                });
            }
            redirects += 1;
            trip.turn(&location, answer.status, &answer.parameters)?;
        }
    }

    async fn buffer(&self, target: &Target, answer: Answer) -> Result<Response, EgressError> {
        // Into one buffer: kept as they come, chunks of one byte would take many times their size.
        let mut body = Vec::new();
        let mut incoming = answer.body;
        while let Some(frame) = incoming.frame().await {
            if let Some(data) = frame?.data_ref() {
                body.extend_from_slice(data);
            }
        }
        let scrubber = self.scrubber();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let headers = answer.headers.iter();
        Ok(Response {
            status: answer.status.as_u16(),
            url: scrubber.redact_str(target.url().as_str()).into_owned(),
            headers: headers
                .map(|(k, v)| (k.to_string(), text(v.as_bytes())))
                .collect(),
            body: body.into(),
        })
    }
}

/// Where an answer wants to be followed to, if anywhere.
fn redirect(answer: &Answer) -> Option<String> {
    let follows = matches!(answer.status.as_u16(), 301 | 302 | 303 | 307 | 308);
    answer.location.clone().filter(|_| follows)
}

/// A request on its way through redirects.
struct Trip<'a> {
    target: Target,
    method: Method,
    headers: HeaderMap,
    body: Bytes,
    credentials: Wanted<'a>,
}

impl<'a> Trip<'a> {
    fn new(session: &Session, request: &'a Request) -> Result<Self, EgressError> {
        let target = Target::parse(&request.url).map_err(invalid_url)?;
        let method = method(&request.method)?;
        search_text(&session.0, &request.url, &target, &method)?;
        Ok(Self {
            target,
            method,
            headers: headers::from_guest(&request.headers)?,
            body: request.body.clone().unwrap_or_default(),
            credentials: request
                .credential
                .as_deref()
                .map_or(Wanted::Automatic, Wanted::Named),
        })
    }

    /// Turns to where a redirect leads. `parameters` are those that the host added to the query;
    /// a server that repeats them in the redirect does not make them the guest's.
    fn turn(
        &mut self,
        location: &str,
        status: StatusCode,
        parameters: &[String],
    ) -> Result<(), EgressError> {
        let mut next = self.target.join(location).map_err(invalid_url)?;
        let same_origin = next.same_origin(&self.target);
        if same_origin && !parameters.is_empty() {
            let mut url = next.url().clone();
            parameters
                .iter()
                .for_each(|name| strip_parameter(&mut url, name));
            next = Target::try_from(url).map_err(invalid_url)?;
        }
        if !same_origin {
            headers::drop_identity(&mut self.headers);
            self.credentials = Wanted::None;
        }
        let becomes_get = match status {
            StatusCode::SEE_OTHER => !matches!(self.method, Method::GET | Method::HEAD),
            StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => self.method == Method::POST,
            _ => false,
        };
        if becomes_get {
            self.method = Method::GET;
            self.body = Bytes::new();
            headers::drop_body_description(&mut self.headers);
        }
        self.target = next;
        Ok(())
    }
}

/// The method by its name. The usual ones may be written in lower case, as browsers allow.
fn method(name: &str) -> Result<Method, EgressError> {
    const USUAL: [Method; 7] = [
        Method::GET,
        Method::HEAD,
        Method::POST,
        Method::PUT,
        Method::PATCH,
        Method::DELETE,
        Method::OPTIONS,
    ];
    if let Some(usual) = USUAL
        .iter()
        .find(|usual| usual.as_str().eq_ignore_ascii_case(name))
    {
        return Ok(usual.clone());
    }
    let invalid = |_| EgressError::Invalid(format!("`{}` is no method", excerpt(name)));
    Method::from_bytes(name.as_bytes()).map_err(invalid)
}

pub(crate) fn invalid_url(error: TargetError) -> EgressError {
    EgressError::Invalid(error.to_string())
}
