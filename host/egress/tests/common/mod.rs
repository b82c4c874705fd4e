//! What the tests share: servers on loopback, a resolver of invented names, calls with grants.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "each test file uses a part of it"
)]

use std::{
    collections::HashMap,
    io,
    net::{IpAddr, SocketAddr},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    extract::{Request as Incoming, State},
    http::{HeaderMap, Method, StatusCode, header},
    response::{IntoResponse, Response as Outgoing},
    routing::{any, get},
};
use bulkhead_egress::{
    Access, Credential, Egress, Placement, Request, Resolver, Secret, Session, Settings,
};
use bulkhead_policy::HttpRule;
use futures::future::BoxFuture;

/// A secret that no test's honest text holds.
pub const SECRET: &str = "sk-4f9a/0b1c+2d3e=zz";

/// What a server saw of one request.
#[derive(Debug, Clone)]
pub struct Seen {
    pub method: Method,
    pub uri: String,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<Seen>>>);

impl Log {
    pub fn all(&self) -> Vec<Seen> {
        self.0.lock().unwrap().clone()
    }

    pub fn last(&self) -> Seen {
        self.all().pop().expect("a request arrived")
    }
}

/// A server on loopback that records what it is asked.
pub struct Server {
    pub address: SocketAddr,
    pub log: Log,
}

impl Server {
    pub async fn start() -> Self {
        let log = Log::default();
        let app = app(log.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { address, log }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// A URL by the server's address.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// A URL by an invented name.
    pub fn named(&self, name: &str, path: &str) -> String {
        format!("http://{name}:{}{path}", self.port())
    }
}

pub fn app(log: Log) -> Router {
    Router::new()
        .route("/echo", any(echo))
        .route("/redirect/{status}", any(redirect))
        .route("/status/{status}", any(status))
        .route("/endless", get(endless))
        .route("/slow", get(slow))
        .route("/silent", any(silent))
        .route("/split/{size}", get(split))
        .route("/bomb", get(bomb))
        .route("/headers/{count}", get(many_headers))
        .route("/header-echo", get(header_echo))
        .fallback(echo)
        .with_state(log)
}

async fn record(log: &Log, request: Incoming) -> Seen {
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 24)
        .await
        .unwrap_or_default()
        .to_vec();
    let uri = head.uri.to_string();
    let seen = Seen {
        method: head.method,
        uri,
        headers: head.headers,
        body,
    };
    log.0.lock().unwrap().push(seen.clone());
    seen
}

/// Says back everything that it was told.
async fn echo(State(log): State<Log>, request: Incoming) -> String {
    let seen = record(&log, request).await;
    let mut text = format!("{} {}\n", seen.method, seen.uri);
    for (name, value) in &seen.headers {
        text += &format!("{name}: {}\n", String::from_utf8_lossy(value.as_bytes()));
    }
    text + "\n" + &String::from_utf8_lossy(&seen.body)
}

/// Answers with a status and, as `location`, whatever follows `?to=`.
async fn redirect(
    axum::extract::Path(status): axum::extract::Path<u16>,
    State(log): State<Log>,
    request: Incoming,
) -> Outgoing {
    let uri = request.uri().clone();
    record(&log, request).await;
    let to = uri
        .query()
        .unwrap_or_default()
        .strip_prefix("to=")
        .unwrap_or_default()
        .to_owned();
    (
        StatusCode::from_u16(status).unwrap(),
        [(header::LOCATION, to)],
    )
        .into_response()
}

async fn status(axum::extract::Path(status): axum::extract::Path<u16>) -> StatusCode {
    StatusCode::from_u16(status).unwrap()
}

async fn endless() -> Body {
    let chunks = futures::stream::repeat_with(|| Ok::<_, io::Error>(vec![b'x'; 1 << 14]));
    Body::from_stream(chunks)
}

/// A byte now and then, for ever.
async fn slow() -> Body {
    let chunks = futures::stream::unfold((), |()| async {
        tokio::time::sleep(Duration::from_millis(30)).await;
        Some((Ok::<_, io::Error>("x"), ()))
    });
    Body::from_stream(chunks)
}

async fn silent() {
    std::future::pending::<()>().await;
}

/// Says the authorization header back in chunks of a size.
async fn split(axum::extract::Path(size): axum::extract::Path<usize>, request: Incoming) -> Body {
    let value = request.headers()[header::AUTHORIZATION].as_bytes();
    let text = [b"you said: ", value, b" and no more"].concat();
    let chunks: Vec<_> = text
        .chunks(size)
        .map(|chunk| Ok::<_, io::Error>(chunk.to_vec()))
        .collect();
    let paced = futures::stream::unfold(chunks.into_iter(), |mut chunks| async {
        tokio::time::sleep(Duration::from_millis(1)).await;
        chunks.next().map(|chunk| (chunk, chunks))
    });
    Body::from_stream(paced)
}

/// Bytes that say they are compressed.
async fn bomb() -> Outgoing {
    ([(header::CONTENT_ENCODING, "gzip")], vec![0x1f; 1 << 16]).into_response()
}

async fn many_headers(axum::extract::Path(count): axum::extract::Path<usize>) -> Outgoing {
    let mut headers = HeaderMap::new();
    for i in 0..count {
        headers.append("x-many", i.into());
    }
    headers.into_response()
}

/// Says the authorization header back in a header, and redirects nowhere.
async fn header_echo(request: Incoming) -> Outgoing {
    let value = request.headers()[header::AUTHORIZATION].clone();
    ([("x-said", value)], "ok").into_response()
}

/// Knows invented names. A name with several lists of addresses gives the next one each time.
#[derive(Default)]
pub struct Names {
    names: HashMap<String, Vec<Vec<IpAddr>>>,
    pub asked: AtomicUsize,
}

impl Names {
    pub fn new(names: &[(&str, &[&[&str]])]) -> Arc<Self> {
        let parse = |list: &&[&str]| list.iter().map(|text| text.parse().unwrap()).collect();
        let names = names.iter().map(|(name, lists)| {
            (
                (*name).to_owned(),
                lists.iter().map(parse).collect::<Vec<Vec<IpAddr>>>(),
            )
        });
        Arc::new(Self {
            names: names.collect(),
            asked: AtomicUsize::new(0),
        })
    }
}

impl Resolver for Names {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        let turn = self.asked.fetch_add(1, Ordering::SeqCst);
        let lists = self.names.get(host);
        let found = lists.map(|lists| lists[turn.min(lists.len() - 1)].clone());
        Box::pin(async move { found.ok_or_else(|| io::ErrorKind::NotFound.into()) })
    }
}

pub fn rule(text: &str) -> HttpRule {
    text.parse().expect(text)
}

/// The rule that opens a server by any name and its address.
pub fn open(server: &Server) -> HttpRule {
    rule(&format!(
        r#"{{"host": "*", "port": {}, "private": ["127.0.0.0/8"]}}"#,
        server.port()
    ))
}

pub fn access(rules: Vec<HttpRule>, credentials: Vec<Credential>) -> Access {
    Access {
        rules: rules.into(),
        credentials: credentials.into(),
        requests: 20,
        request_bytes: 1 << 20,
        response_bytes: 1 << 20,
        within: None,
    }
}

pub fn egress(resolver: Arc<dyn Resolver>) -> Egress {
    let connect_timeout = Duration::from_secs(2);
    Egress::new(Settings {
        resolver,
        connect_timeout,
        ..Settings::default()
    })
    .unwrap()
}

/// A call whose names `a.test` and `b.test` are this machine.
pub fn session(rules: Vec<HttpRule>, credentials: Vec<Credential>) -> Session {
    let local: &[&[&str]] = &[&["127.0.0.1"]];
    let names = Names::new(&[("a.test", local), ("b.test", local)]);
    egress(names).session(access(rules, credentials))
}

pub fn credential(name: &str, placement: Placement, audience: Vec<HttpRule>) -> Credential {
    let secret = Secret::new(SECRET).unwrap();
    Credential {
        name: name.to_owned(),
        secret,
        placement,
        audience,
        automatic: false,
    }
}

pub fn request(url: &str) -> Request {
    Request {
        method: "GET".to_owned(),
        url: url.to_owned(),
        ..Request::default()
    }
}
