//! Bodies that flow, and the hostile ones among them.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::time::{Duration, Instant};

use bulkhead_egress::{
    BoxBody, Credential, EgressError, Placement, Request, Session, StreamLimits,
};
use bytes::Bytes;
use common::{Names, SECRET, Server, access, credential, egress, open, request, session};
use futures::StreamExt as _;
use http_body::Frame;
use http_body_util::{BodyExt as _, Empty, StreamBody};

const LIMITS: StreamLimits = StreamLimits {
    connect_timeout: Duration::from_secs(2),
    first_byte_timeout: Duration::from_millis(400),
    between_bytes_timeout: Duration::from_millis(400),
};

fn empty() -> BoxBody {
    Empty::new().map_err(|never| match never {}).boxed_unsync()
}

/// A body of these chunks, which then ends or is never finished.
fn body(chunks: &[&str], ends: bool) -> BoxBody {
    let chunks: Vec<_> = chunks
        .iter()
        .map(|chunk| Ok(Frame::data(Bytes::from((*chunk).to_owned()))))
        .collect();
    let chunks = futures::stream::iter(chunks);
    if ends {
        return StreamBody::new(chunks).boxed_unsync();
    }
    StreamBody::new(chunks.chain(futures::stream::pending())).boxed_unsync()
}

fn get(url: &str) -> http::Request<BoxBody> {
    http::Request::get(url).body(empty()).unwrap()
}

fn post(url: &str, body: BoxBody) -> http::Request<BoxBody> {
    http::Request::post(url).body(body).unwrap()
}

async fn send(session: &Session, request: http::Request<BoxBody>) -> Result<String, EgressError> {
    let response = session.send(request, false, LIMITS).await?;
    let body = response.into_body().collect().await?.to_bytes();
    Ok(String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn a_body_flows_out_and_comes_back() {
    let server = Server::start().await;
    let session = session(vec![open(&server)], vec![]);
    let request = post(&server.url("/echo"), body(&["one ", "two ", "three"], true));
    let text = send(&session, request).await.expect("an answer");
    assert!(text.ends_with("one two three"), "{text}");
    assert_eq!(server.log.last().headers["transfer-encoding"], "chunked");
}

#[tokio::test]
async fn a_declared_length_is_kept_to() {
    let server = Server::start().await;
    let session = session(vec![open(&server)], vec![]);
    let declared = |length: &str, chunks: &[&str]| {
        let request = http::Request::post(server.url("/echo")).header("content-length", length);
        let request = request.header("host", server.address.to_string());
        request.body(body(chunks, true)).unwrap()
    };
    let text = send(&session, declared("5", &["12", "345"]))
        .await
        .expect("an answer");
    assert!(text.ends_with("12345"), "{text}");
    assert_eq!(server.log.last().headers["content-length"], "5");
    for (length, chunks) in [
        ("4", &["12", "345"][..]),
        ("6", &["12", "345"]),
        ("x", &["1"]),
    ] {
        let result = send(&session, declared(length, chunks)).await;
        assert!(
            matches!(result, Err(EgressError::Invalid(_))),
            "{length}: {result:?}"
        );
    }
}

#[tokio::test]
async fn headers_of_the_connection_are_refused_in_a_stream_too() {
    let server = Server::start().await;
    let session = session(vec![open(&server)], vec![]);
    for (name, value) in [
        ("host", "evil.test"),
        ("transfer-encoding", "chunked"),
        ("te", "x"),
    ] {
        let request = http::Request::get(server.url("/echo")).header(name, value);
        let result = send(&session, request.body(empty()).unwrap()).await;
        assert!(
            matches!(result, Err(EgressError::Invalid(_))),
            "{name}: {result:?}"
        );
    }
    let connect = http::Request::connect(server.address.to_string())
        .body(empty())
        .unwrap();
    let result = send(&session, connect).await;
    assert!(matches!(result, Err(EgressError::Invalid(_))), "{result:?}");
    assert!(server.log.all().is_empty(), "nothing arrived");
}

#[tokio::test]
async fn a_redirect_is_the_guests_to_follow() {
    let server = Server::start().await;
    let session = session(vec![open(&server)], vec![]);
    let request = get(&server.url("/redirect/302?to=http://127.0.0.1:1/"));
    let response = session
        .send(request, false, LIMITS)
        .await
        .expect("an answer");
    assert_eq!(response.status(), 302);
    assert_eq!(response.headers()["location"], "http://127.0.0.1:1/");
    let denied = send(&session, get("http://127.0.0.1:1/")).await;
    assert!(
        matches!(denied, Err(EgressError::Denied { .. })),
        "{denied:?}"
    );
}

#[tokio::test]
async fn an_endless_answer_ends_at_the_budget() {
    let server = Server::start().await;
    let mut access = access(vec![open(&server)], vec![]);
    access.response_bytes = 100_000;
    let session = egress(Names::new(&[])).session(access);
    let result = session.fetch(request(&server.url("/endless"))).await;
    assert_eq!(result, Err(EgressError::TooLarge { limit: 100_000 }));
    let left = send(&session, get(&server.url("/endless")))
        .await
        .expect_err("too large");
    let EgressError::TooLarge { limit } = left else {
        panic!("{left:?}")
    };
    assert!(
        limit < 100_000,
        "the budget is the call's, not the request's: {limit}"
    );
}

#[tokio::test]
async fn an_answer_that_says_it_is_too_large_is_not_read() {
    let server = Server::start().await;
    let mut access = access(vec![open(&server)], vec![]);
    access.response_bytes = 1000;
    let session = egress(Names::new(&[])).session(access);
    let result = session.fetch(request(&server.url("/bomb"))).await;
    assert_eq!(result, Err(EgressError::TooLarge { limit: 1000 }));
    assert!(
        session
            .fetch(request(&server.url("/status/200")))
            .await
            .is_ok(),
        "nothing was spent"
    );
}

#[tokio::test]
async fn a_rule_has_a_budget_of_its_own() {
    let server = Server::start().await;
    let mut rule = open(&server);
    rule.max_response_bytes = Some(1000);
    rule.max_request_bytes = Some(10);
    let session = session(vec![rule], vec![]);
    let result = session.fetch(request(&server.url("/endless"))).await;
    assert_eq!(result, Err(EgressError::TooLarge { limit: 1000 }));
    let large = Request {
        method: "POST".to_owned(),
        body: Some(Bytes::from_static(b"12345678901")),
        ..request(&server.url("/echo"))
    };
    let result = session.fetch(large).await;
    assert_eq!(result, Err(EgressError::RequestTooLarge { limit: 10 }));
    let result = send(
        &session,
        post(&server.url("/echo"), body(&["123456", "78901"], true)),
    )
    .await;
    assert_eq!(result, Err(EgressError::RequestTooLarge { limit: 4 }));
}

#[tokio::test]
async fn a_compressed_body_comes_as_it_is() {
    let server = Server::start().await;
    let session = session(vec![open(&server)], vec![]);
    let answer = session
        .fetch(request(&server.url("/bomb")))
        .await
        .expect("an answer");
    assert_eq!(answer.body.len(), 1 << 16);
    assert!(
        answer
            .headers
            .contains(&("content-encoding".to_owned(), "gzip".to_owned()))
    );
}

#[tokio::test]
async fn a_slow_or_silent_server_is_not_waited_for_for_ever() {
    let server = Server::start().await;
    let session = session(vec![open(&server)], vec![]);
    for path in ["/slow", "/silent"] {
        let start = Instant::now();
        let timeout = Some(Duration::from_millis(200));
        let result = session
            .fetch(Request {
                timeout,
                ..request(&server.url(path))
            })
            .await;
        assert_eq!(result, Err(EgressError::Timeout), "{path}");
        assert!(start.elapsed() < Duration::from_secs(2), "{path}");
    }
    assert_eq!(
        send(&session, get(&server.url("/silent"))).await,
        Err(EgressError::Timeout)
    );
}

#[tokio::test]
async fn a_request_body_that_is_never_finished_times_out() {
    let server = Server::start().await;
    let session = session(vec![open(&server)], vec![]);
    let start = Instant::now();
    let result = send(&session, post(&server.url("/echo"), body(&["some"], false))).await;
    assert_eq!(result, Err(EgressError::Timeout));
    assert!(start.elapsed() < Duration::from_secs(2));
}

#[tokio::test]
async fn a_secret_that_is_split_over_a_flowing_body_does_not_leave() {
    let server = Server::start().await;
    let token = credential("token", Placement::Bearer, vec![]);
    let session = session(vec![open(&server)], vec![token]);
    let (head, tail) = SECRET.split_at(7);
    let hostile = post(&server.url("/echo"), body(&["x", head, tail, "y"], true));
    let result = send(&session, hostile).await;
    assert_eq!(
        result,
        Err(EgressError::SecretInRequest {
            name: "token".to_owned()
        })
    );
    let bodies: Vec<u8> = server
        .log
        .all()
        .into_iter()
        .flat_map(|seen| seen.body)
        .collect();
    assert!(
        !bodies.windows(4).any(|part| part == b"sk-4"),
        "not even its first part"
    );
    let honest = post(&server.url("/echo"), body(&["x", head, "y"], true));
    let text = send(&session, honest).await.expect("an answer");
    assert!(text.ends_with(&format!("x{head}y")), "{text}");
}

#[tokio::test]
async fn an_automatic_credential_is_added_to_a_stream_and_its_echo_masked() {
    let server = Server::start().await;
    let token = credential("token", Placement::Bearer, vec![open(&server)]);
    let token = Credential {
        automatic: true,
        ..token
    };
    let session = session(vec![open(&server)], vec![token]);
    let text = send(&session, get(&server.url("/split/3")))
        .await
        .expect("an answer");
    assert_eq!(text, "you said: Bearer ******************** and no more");
}

#[tokio::test]
async fn an_answer_flows_at_once_unless_its_server_can_have_a_secret() {
    let server = Server::start().await;
    let audience = common::rule(&format!("http://a.test:{}/other", server.port()));
    let token = credential("token", Placement::Bearer, vec![audience]);
    let session = session(vec![open(&server)], vec![token]);
    let first = async |name: &str| {
        let url = server.named(name, "/slow");
        let response = session.send(get(&url), false, LIMITS).await;
        let mut body = response.expect("an answer").into_body();
        // The server sends a byte every 30 ms and a form of the secret has 60 bytes.
        let frame = tokio::time::timeout(Duration::from_secs(1), body.frame()).await;
        frame.ok().map(|frame| frame.unwrap().unwrap())
    };
    assert!(first("b.test").await.is_some(), "it was never given one");
    assert!(first("a.test").await.is_none(), "whatever the path");
    let named = Request {
        credential: Some("token".to_owned()),
        ..request(&server.named("a.test", "/other"))
    };
    session.fetch(named).await.expect("an answer");
    assert!(first("b.test").await.is_none(), "the other may have led on");
}

#[tokio::test]
async fn an_answer_with_too_many_headers_is_refused() {
    let server = Server::start().await;
    let session = session(vec![open(&server)], vec![]);
    assert!(
        session
            .fetch(request(&server.url("/headers/50")))
            .await
            .is_ok()
    );
    let result = session.fetch(request(&server.url("/headers/500"))).await;
    assert!(
        matches!(result, Err(EgressError::Failed { sent: true, .. })),
        "{result:?}"
    );
}

#[tokio::test]
async fn a_redirected_post_keeps_or_loses_its_body_by_the_status() {
    let server = Server::start().await;
    let session = session(vec![open(&server)], vec![]);
    for (status, method, body) in [
        (301, "GET", ""),
        (302, "GET", ""),
        (303, "GET", ""),
        (307, "POST", "x"),
        (308, "POST", "x"),
    ] {
        let post = Request {
            method: "POST".to_owned(),
            headers: vec![("content-type".to_owned(), "text/plain".to_owned())],
            body: Some(Bytes::from_static(b"x")),
            ..request(&server.url(&format!("/redirect/{status}?to=/echo")))
        };
        let answer = session.fetch(post).await.expect("an answer");
        assert_eq!(answer.url, server.url("/echo"));
        let seen = server.log.last();
        assert_eq!(
            (seen.method.as_str(), &seen.body[..]),
            (method, body.as_bytes()),
            "{status}"
        );
        assert_eq!(
            seen.headers.contains_key("content-type"),
            !body.is_empty(),
            "{status}"
        );
    }
}

#[tokio::test]
async fn a_dropped_answer_ends_its_connection() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let session = session(vec![common::rule(&url)], vec![]);
    let serve = async {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut bytes = vec![0; 4096];
        assert!(stream.read(&mut bytes).await.unwrap() > 0);
        stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n1")
            .await
            .unwrap();
        // The other side closes: nothing more to read.
        stream.read(&mut bytes).await.unwrap_or(0)
    };
    let ask = async {
        let response = session
            .send(get(&url), false, LIMITS)
            .await
            .expect("an answer");
        drop(response);
    };
    let both = async { tokio::join!(serve, ask).0 };
    let read = tokio::time::timeout(Duration::from_secs(5), both)
        .await
        .expect("it ends");
    assert_eq!(read, 0);
}
