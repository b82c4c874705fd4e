//! One request and its answer: every check, in order, without redirects.

use std::{borrow::Cow, sync::Arc, time::Duration};

use bulkhead_policy::{Target, http_rule::FORBIDDEN_METHODS};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::time::timeout;
use tracing::debug;

use crate::{
    BoxBody, Credential, EgressError, Scrubber,
    body_in::{Connection, ResponseBody},
    body_out::{RequestBody, Verdict},
    error::{chain, excerpt},
    headers::{self, MAX_RESPONSE_HEADER_BYTES, MAX_RESPONSE_HEADERS},
    reach::reach,
    search::{choose, entitled, known_to, search, search_bytes},
    session::Inner,
};

/// A request whose URL and headers are in normal form.
pub(crate) struct Hop<'a> {
    pub(crate) target: &'a Target,
    pub(crate) method: &'a Method,
    /// The guest's headers, checked.
    pub(crate) headers: HeaderMap,
    pub(crate) body: Payload,
    pub(crate) credentials: Wanted<'a>,
    pub(crate) times: Times,
    /// Whether the body of the answer is searched on its way.
    pub(crate) masks: bool,
}

/// The guest's body.
pub(crate) enum Payload {
    Whole(Bytes),
    /// With what its `content-length` says, where there is one.
    Stream(BoxBody, Option<u64>),
}

/// Which credentials to add.
#[derive(Clone, Copy)]
pub(crate) enum Wanted<'a> {
    /// The one of this name, which must be for the target, and the automatic ones.
    Named(&'a str),
    /// The automatic ones.
    Automatic,
    /// None: a redirect led to another origin.
    None,
}

/// How long the parts of an exchange may take.
#[derive(Clone, Copy)]
pub(crate) struct Times {
    /// Resolving, connecting and TLS together.
    pub(crate) connect: Duration,
    /// From then to the head of the answer.
    pub(crate) first_byte: Option<Duration>,
    /// Between parts of its body.
    pub(crate) between_bytes: Option<Duration>,
}

/// An answer whose head is here.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    /// As the guest may see them.
    pub(crate) headers: HeaderMap,
    /// The unmasked `location`, for following it.
    pub(crate) location: Option<String>,
    /// The parameters that the host added to the query.
    pub(crate) parameters: Vec<String>,
    pub(crate) body: ResponseBody,
}

/// Does one exchange.
pub(crate) async fn exchange(session: &Arc<Inner>, hop: Hop<'_>) -> Result<Answer, EgressError> {
    let Hop {
        target,
        method,
        mut headers,
        body,
        credentials,
        times,
        masks,
    } = hop;
    if FORBIDDEN_METHODS
        .iter()
        .any(|name| name.eq_ignore_ascii_case(method.as_str()))
    {
        return Err(EgressError::Invalid(format!(
            "the method {method} never leaves"
        )));
    }
    let rules = allowing(session, target, method)?;
    let added = choose(session, target, method, credentials)?;
    let entitled = entitled(session, target, method);
    search(session, target, &headers, &entitled)?;
    if let Payload::Whole(bytes) = &body {
        search_bytes(session, bytes, &entitled)?;
    }
    let taken = session.budgets.take_request();
    taken.map_err(|limit| EgressError::TooManyRequests { limit })?;

    let connecting = timeout(times.connect, reach(session, target, &rules));
    let (rule, stream) = connecting.await.map_err(|_| EgressError::Timeout)??;

    let verdict = Verdict::default();
    let flows = matches!(body, Payload::Stream(..));
    let body = match body {
        Payload::Whole(bytes) => {
            let limit = session.budgets.left_to_send(rule);
            if !session.budgets.send(rule, bytes.len()) {
                return Err(EgressError::RequestTooLarge { limit });
            }
            RequestBody::whole(bytes)
        }
        Payload::Stream(body, declared) => {
            let (session, verdict) = (Arc::clone(session), verdict.clone());
            RequestBody::stream(body, declared, session, rule, entitled, verdict)
        }
    };
    complete(session, target, &mut headers, &added)?;
    let mut url = target.url().clone();
    for credential in &added {
        credential.inject(&mut url, &mut headers)?;
    }
    session.note_added(&added);
    let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
    let uri: Uri = path
        .parse()
        .map_err(|_| EgressError::Invalid("malformed path".to_owned()))?;
    let mut request = http::Request::new(body);
    *request.method_mut() = method.clone();
    *request.uri_mut() = uri;
    *request.headers_mut() = headers;

    let mut client = http1::Builder::new();
    client
        .max_headers(MAX_RESPONSE_HEADERS)
        .max_header_size(MAX_RESPONSE_HEADER_BYTES);
    let shaken = client.handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = shaken.map_err(|error| failure(&error, session))?;
    let connection = Connection(tokio::spawn(async move {
        if let Err(error) = connection.await {
            debug!(error = %chain(&error), "a connection to a tool's server ended early");
        }
    }));
    let answer = sender.send_request(request);
    let answer = match times.first_byte {
        Some(time) => timeout(time, answer)
            .await
            .map_err(|_| EgressError::Timeout)?,
        None => answer.await,
    };
    let answer = answer.map_err(|e| verdict.get().unwrap_or_else(|| failure(&e, session)))?;

    let (head, incoming) = answer.into_parts();
    let mask = if !masks {
        Scrubber::none().stream()
    } else if flows {
        session.scrubber().stream_of(&known_to(session, target))
    } else {
        session.scrubber().stream()
    };
    let body = ResponseBody::new(
        incoming,
        mask,
        Arc::clone(session),
        rule,
        times.between_bytes,
        verdict,
        connection,
    );
    check_head(&head, body.limit(), method, !added.is_empty())?;
    let location = head.headers.get(header::LOCATION);
    Ok(Answer {
        status: head.status,
        headers: headers::for_guest(&head.headers, session.scrubber()),
        location: location.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()),
        parameters: added
            .iter()
            .filter_map(|credential| credential.parameter())
            .collect(),
        body,
    })
}

/// The rules that allow a request before its host is resolved, as indices.
fn allowing(session: &Inner, target: &Target, method: &Method) -> Result<Vec<usize>, EgressError> {
    let rules = session.access.rules.iter().enumerate();
    let matching = rules.filter(|(_, rule)| rule.matches(target, method.as_str()));
    let matching: Vec<usize> = matching.map(|(index, _)| index).collect();
    if matching.is_empty() {
        let place = excerpt(&format!("{}{}", target.origin(), target.path()));
        return Err(EgressError::Denied {
            message: session
                .scrubber()
                .redact_str(&format!("no grant allows {method} {place}"))
                .into(),
            missing: format!("--allow-host {}", target.origin()),
        });
    }
    Ok(matching)
}

/// Adds the headers that are the host's to set.
fn complete(
    session: &Inner,
    target: &Target,
    headers: &mut HeaderMap,
    added: &[&Credential],
) -> Result<(), EgressError> {
    let origin = target.origin().to_string();
    let authority = origin
        .split_once("://")
        .map_or("", |(_, authority)| authority);
    let host = HeaderValue::from_str(authority);
    let host = host.map_err(|_| EgressError::Invalid("malformed host".to_owned()))?;
    headers.insert(header::HOST, host);
    if !headers.contains_key(header::USER_AGENT) {
        headers.insert(header::USER_AGENT, session.shared.user_agent.clone());
    }
    if !headers.contains_key(header::ACCEPT) {
        headers.insert(header::ACCEPT, HeaderValue::from_static("*/*"));
    }
    if !added.is_empty() {
        // What comes back compressed can't be searched for the secret that went out.
        headers.insert(
            header::ACCEPT_ENCODING,
            HeaderValue::from_static("identity"),
        );
        // A server that repeats what it was sent would hand the secret out in parts that are none.
        headers.remove(header::RANGE);
        headers.remove(header::IF_RANGE);
    }
    Ok(())
}

/// Refuses an answer by its head.
fn check_head(
    head: &http::response::Parts,
    limit: u64,
    method: &Method,
    with_credential: bool,
) -> Result<(), EgressError> {
    let failed = |message: &str| EgressError::Failed {
        message: message.to_owned(),
        sent: true,
    };
    if head.status == StatusCode::SWITCHING_PROTOCOLS {
        return Err(failed(
            "the server switched to another protocol, which was not asked for",
        ));
    }
    if with_credential && head.status == StatusCode::PARTIAL_CONTENT {
        let message = "the answer is a part although all of it was asked for, and can't be \
                       searched for the credential that was sent";
        return Err(failed(message));
    }
    let mut encodings = head.headers.get_all(header::CONTENT_ENCODING).iter();
    if with_credential && !encodings.all(|value| value.as_bytes().eq_ignore_ascii_case(b"identity"))
    {
        let message = "the answer is compressed although that was ruled out, and can't be \
                       searched for the credential that was sent";
        return Err(failed(message));
    }
    let length = head.headers.get(header::CONTENT_LENGTH);
    let length = length.and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if method != Method::HEAD && length.is_some_and(|length| length > limit) {
        return Err(EgressError::TooLarge { limit });
    }
    Ok(())
}

/// A failure of the connection, after a request may have left.
pub(crate) fn failure(error: &hyper::Error, session: &Inner) -> EgressError {
    let text = chain(error);
    let text: Cow<'_, str> = session.scrubber().redact_str(&text);
    EgressError::Failed {
        message: format!("the connection failed: {text}"),
        sent: true,
    }
}
