//! One request and its answer: every check, in order, without redirects.

use std::{borrow::Cow, collections::BTreeSet, net::IpAddr, sync::Arc, time::Duration};

use bulkhead_policy::{Cidr, HostPattern, HttpRule, Target, address, http_rule::FORBIDDEN_METHODS};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::time::timeout;
use tracing::debug;

use crate::{
    BoxBody, Credential, EgressError,
    body_in::{Connection, ResponseBody},
    body_out::{RequestBody, Verdict},
    connect::{self, Stream},
    error::{chain, excerpt},
    headers::{self, MAX_RESPONSE_HEADER_BYTES, MAX_RESPONSE_HEADERS},
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
    if !session.budgets.requests.take(1) {
        return Err(EgressError::TooManyRequests {
            limit: session.budgets.requests.limit(),
        });
    }

    let connecting = timeout(times.connect, reach(session, target, &rules));
    let (rule, stream) = connecting.await.map_err(|_| EgressError::Timeout)??;

    let verdict = Verdict::default();
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
    let body = ResponseBody::new(
        incoming,
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

/// The credentials to add, the named one first; of two for one place the first.
fn choose<'a>(
    session: &'a Inner,
    target: &Target,
    method: &Method,
    wanted: Wanted<'_>,
) -> Result<Vec<&'a Credential>, EgressError> {
    let all = &session.access.credentials;
    let mut chosen: Vec<&Credential> = Vec::new();
    match wanted {
        Wanted::None => return Ok(chosen),
        Wanted::Automatic => {}
        Wanted::Named(name) => {
            let shown = excerpt(name);
            let found = all
                .iter()
                .find(|credential| credential.name == name)
                .ok_or_else(|| {
                    EgressError::Unauthorized(format!("no credential `{shown}` is granted"))
                })?;
            if !found.is_for(target, method.as_str()) {
                let origin = target.origin();
                let message =
                    format!("the credential `{shown}` is not meant for {method} {origin}");
                return Err(EgressError::Unauthorized(message));
            }
            chosen.push(found);
        }
    }
    for credential in all.iter().filter(|credential| credential.automatic) {
        let taken = chosen
            .iter()
            .any(|other| other.place() == credential.place());
        if !taken && credential.is_for(target, method.as_str()) {
            chosen.push(credential);
        }
    }
    Ok(chosen)
}

/// The credentials whose secrets a guest that was shown them may send to `target` itself.
fn entitled(session: &Inner, target: &Target, method: &Method) -> BTreeSet<usize> {
    let credentials = session.access.credentials.iter().enumerate();
    let meant = credentials.filter(|(_, credential)| credential.is_for(target, method.as_str()));
    meant.map(|(owner, _)| owner).collect()
}

/// Refuses a request that holds a secret which is not meant for its target.
fn search(
    session: &Inner,
    target: &Target,
    headers: &HeaderMap,
    entitled: &BTreeSet<usize>,
) -> Result<(), EgressError> {
    search_bytes(session, target.url().as_str().as_bytes(), entitled)?;
    for (name, value) in headers {
        search_bytes(session, name.as_str().as_bytes(), entitled)?;
        search_bytes(session, value.as_bytes(), entitled)?;
    }
    Ok(())
}

/// Refuses a URL by its text as it was written: a host's name loses its case when it is parsed.
pub(crate) fn search_text(
    session: &Inner,
    text: &str,
    target: &Target,
    method: &Method,
) -> Result<(), EgressError> {
    search_bytes(session, text.as_bytes(), &entitled(session, target, method))
}

/// Refuses bytes that hold a secret of somebody else than `entitled`.
fn search_bytes(
    session: &Inner,
    bytes: &[u8],
    entitled: &BTreeSet<usize>,
) -> Result<(), EgressError> {
    let scrubber = session.scrubber();
    match scrubber
        .owners_in(bytes)
        .find(|owner| !entitled.contains(owner))
    {
        Some(owner) => Err(session.secret_in_request(owner)),
        None => Ok(()),
    }
}

/// Resolves the host once, finds a rule that opens every address, and connects to those.
async fn reach(
    session: &Inner,
    target: &Target,
    rules: &[usize],
) -> Result<(usize, Box<dyn Stream>), EgressError> {
    let addresses = match target.address() {
        Some(address) => vec![address],
        None => resolve(session, target).await?,
    };
    let opens = |rule: &&usize| {
        let rule = &session.access.rules[**rule];
        addresses.iter().all(|&address| rule.opens(address))
    };
    // Of several rules the one that leaves most room; they differ when one of them is used up.
    let open = rules.iter().filter(opens);
    let rule = open.max_by_key(|&&rule| {
        let budgets = &session.budgets;
        budgets
            .left_to_receive(rule)
            .min(budgets.left_to_send(rule))
    });
    let &rule = rule.ok_or_else(|| closed(target, &addresses))?;
    let stream = connect::tcp(&addresses, target.port()).await;
    let stream = stream.map_err(|error| EgressError::Failed {
        message: format!("no connection to {}: {}", target.origin(), error.kind()),
        sent: false,
    })?;
    match target.scheme() {
        bulkhead_policy::Scheme::Http => Ok((rule, Box::new(stream))),
        bulkhead_policy::Scheme::Https => {
            let config = Arc::clone(&session.shared.tls);
            let host = target.host().to_string();
            Ok((rule, connect::secure(config, &host, stream).await?))
        }
    }
}

async fn resolve(session: &Inner, target: &Target) -> Result<Vec<IpAddr>, EgressError> {
    let host = target.host().to_string();
    let unknown = || EgressError::Failed {
        message: format!("the name {host} does not resolve"),
        sent: false,
    };
    let addresses = session.shared.settings.resolver.resolve(&host).await;
    let addresses = addresses.map_err(|error| {
        debug!(host, %error, "a name did not resolve");
        unknown()
    })?;
    if addresses.is_empty() {
        Err(unknown())
    } else {
        Ok(addresses)
    }
}

/// The refusal of a host with an address that is not public. It names the block that the address
/// is in, not the address: that would map the network for the guest.
fn closed(target: &Target, addresses: &[IpAddr]) -> EgressError {
    let origin = target.origin();
    let missing = match target.address() {
        Some(_) => format!("--allow-host {origin}"),
        None => {
            let closed = addresses
                .iter()
                .filter(|&&address| !address::is_public(address));
            let blocks: BTreeSet<Cidr> = closed
                .filter_map(|&address| address::block_of(address).parse().ok())
                .collect();
            let host = target
                .host()
                .to_string()
                .parse()
                .unwrap_or(HostPattern::ANY);
            let mut rule = HttpRule::to_host(host, Some(target.scheme()));
            rule.port = (target.port() != target.scheme().default_port()).then_some(target.port());
            rule.private = blocks.into_iter().collect();
            let rule = serde_json::to_string(&rule).unwrap_or_default();
            format!("--allow-host '{rule}'")
        }
    };
    debug!(%origin, ?addresses, "a host with an address that is not public was refused");
    let message = format!("{origin} leads to an address that is not public");
    EgressError::Denied { message, missing }
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
