//! Hostile guests that reach out, over HTTP: 15, 18, 19, 20, 23, 24. What the rules refuse in which
//! spelling is tested in `bulkhead-egress`.

use std::{
    io::{self, Write as _},
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use bulkhead_egress::{Resolver, resolver::SystemResolver};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

use crate::support::{Answer, TestServer};

/// A server that answers every request with what `answer` makes of the request's head, and counts
/// the connections.
async fn serve<F>(
    answer: impl Fn(String, TcpStream) -> F + Send + 'static,
) -> (SocketAddr, Arc<AtomicUsize>)
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            counter.fetch_add(1, Ordering::Relaxed);
            let mut head = Vec::new();
            let mut buffer = [0; 4_096];
            while !head.windows(4).any(|end| end == b"\r\n\r\n") {
                match stream.read(&mut buffer).await {
                    Ok(0) | Err(_) => break,
                    Ok(read) => head.extend_from_slice(&buffer[..read]),
                }
            }
            tokio::spawn(answer(String::from_utf8_lossy(&head).into_owned(), stream));
        }
    });
    (address, count)
}

/// Answers with a status line's rest, headers and a body.
async fn answer(mut stream: TcpStream, status: &str, headers: &str, body: &[u8]) {
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-length: {}\r\n{headers}connection: close\r\n\r\n",
        body.len()
    );
    // The host may hang up.
    let _ = stream.write_all(head.as_bytes()).await;
    let _ = stream.write_all(body).await;
}

async fn fetch(server: &TestServer, input: Value) -> Answer {
    let body = json!({ "input": input, "limits": { "timeout_ms": 2_000, "http_response_bytes": 1 << 20 } });
    let call = server.call_with("friendly/fetch", body);
    let neighbour = server.call("friendly/add", json!({ "left": 1, "right": 1 }));
    let (fetched, neighbour) = futures::join!(call, neighbour);
    assert_eq!(neighbour.outcome(), "ok");
    assert_eq!(server.get("/v1/health/").await.body["status"], "ok");
    fetched
}

async fn granted(hosts: &[&str]) -> TestServer {
    let server = TestServer::start().await.with_friendly().await;
    let capabilities = json!({ "http": hosts });
    server
        .grant(json!({ "component": "friendly", "capabilities": capabilities }))
        .await;
    server
}

#[tokio::test]
async fn a_redirect_to_what_is_not_granted_is_not_followed() {
    let (inner, inner_count) = serve(|_, stream| answer(stream, "200 OK", "", b"inner")).await;
    let (outer, _) = serve(move |head, stream| async move {
        let to = if head.starts_with("GET /metadata") {
            "http://169.254.169.254/latest".to_owned()
        } else {
            format!("http://{inner}/")
        };
        answer(stream, "302 Found", &format!("location: {to}\r\n"), b"").await;
    })
    .await;
    let server = granted(&[&format!("http://{outer}")]).await;
    for path in ["other", "metadata"] {
        let harm = fetch(&server, json!({ "url": format!("http://{outer}/{path}") })).await;
        assert_eq!(harm.outcome(), "denied", "{harm:?}");
    }
    assert_eq!(inner_count.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_tunnel_and_a_host_of_ones_own_are_refused() {
    let (address, count) = serve(|_, stream| answer(stream, "200 OK", "", b"")).await;
    let server = granted(&[&format!("http://{address}")]).await;
    let url = format!("http://{address}/");
    for input in [
        json!({ "url": url, "method": "CONNECT" }),
        json!({ "url": url, "headers": [["Host", "internal.example"]] }),
        json!({ "url": url, "headers": [["transfer-encoding", "chunked"], ["content-length", "1"]] }),
        json!({ "url": url, "headers": [["x", "a\r\nhost: internal.example"]] }),
        json!({ "url": format!("http://{address}@169.254.169.254/") }),
    ] {
        let harm = fetch(&server, input.clone()).await;
        assert!(
            ["tool_error", "denied"].contains(&harm.outcome()),
            "{input}: {harm:?}"
        );
    }
    assert_eq!(count.load(Ordering::Relaxed), 0);
}

/// Says another address each time it is asked.
struct Rebinding(AtomicUsize);

impl Resolver for Rebinding {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        if host != "rebinding.example" {
            return SystemResolver.resolve(host);
        }
        let public = Ipv4Addr::new(192, 0, 2, 1).into();
        let times = self.0.fetch_add(1, Ordering::Relaxed);
        let address = if times == 0 {
            public
        } else {
            Ipv4Addr::LOCALHOST.into()
        };
        Box::pin(std::future::ready(Ok(vec![address])))
    }
}

#[tokio::test]
async fn a_name_that_points_inside_is_refused_whenever_it_does() {
    let (address, count) = serve(|_, stream| answer(stream, "200 OK", "", b"")).await;
    let resolver = Arc::new(Rebinding(AtomicUsize::new(0)));
    let asked = Arc::clone(&resolver);
    let server = TestServer::start_with(|config| config.egress.resolver = resolver).await;
    let server = server.with_friendly().await;
    let port = address.port();
    let capabilities = json!({ "http": [format!("http://rebinding.example:{port}")] });
    server
        .grant(json!({ "component": "friendly", "capabilities": capabilities }))
        .await;
    let url = format!("http://rebinding.example:{port}/");
    for times in 1..=3 {
        let harm = fetch(&server, json!({ "url": url, "timeout_ms": 300 })).await;
        assert_ne!(harm.outcome(), "ok", "{harm:?}");
        // Asked once for each request: what was checked is what is connected to.
        assert_eq!(asked.0.load(Ordering::Relaxed), times);
    }
    assert_eq!(count.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_bomb_of_compressed_bytes_stays_compressed() {
    let mut bomb = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    for _ in 0..256 {
        bomb.write_all(&[0; 1 << 20]).unwrap();
    }
    let bomb = Arc::new(bomb.finish().unwrap());
    let (address, _) = serve(move |_, stream| {
        let bomb = Arc::clone(&bomb);
        async move { answer(stream, "200 OK", "content-encoding: gzip\r\n", &bomb).await }
    })
    .await;
    let server = granted(&[&format!("http://{address}")]).await;
    let harm = fetch(&server, json!({ "url": format!("http://{address}/") })).await;
    assert!(
        harm.body["receipt"]["peak_memory_bytes"].as_u64().unwrap() < 16 << 20,
        "{harm:?}"
    );
    assert!(
        harm.body["receipt"]["host_calls"][0]["bytes_out"]
            .as_u64()
            .unwrap()
            < 1 << 20
    );
}

#[tokio::test]
async fn an_answer_without_end_and_thousands_of_headers_end_by_type() {
    let (address, _) = serve(|head, mut stream| async move {
        if head.starts_with("GET /endless") {
            let _ = stream
                .write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")
                .await;
            for _ in 0..10_000 {
                if stream.write_all(&[b'x'; 16_384]).await.is_err() {
                    return;
                }
            }
        }
    })
    .await;
    let server = granted(&[&format!("http://{address}")]).await;
    let harm = fetch(
        &server,
        json!({ "url": format!("http://{address}/endless") }),
    )
    .await;
    assert_eq!(harm.outcome(), "tool_error", "{harm:?}");
    let headers: Vec<_> = (0..32_769).map(|n| json!([format!("h{n}"), "v"])).collect();
    let harm = fetch(
        &server,
        json!({ "url": format!("http://{address}/"), "headers": headers }),
    )
    .await;
    assert_eq!(harm.outcome(), "tool_error", "{harm:?}");
}

#[tokio::test]
async fn requests_of_peers_are_the_callers() {
    let (address, count) = serve(|_, stream| answer(stream, "200 OK", "", b"")).await;
    let server = TestServer::start().await.with_friendly().await;
    let capabilities = json!({ "http": [format!("http://{address}")], "peers": ["*"] });
    server
        .grant(json!({ "component": "friendly", "capabilities": capabilities }))
        .await;
    let fetch = json!({ "url": format!("http://{address}/") });
    for (before, outcome) in [(1, "ok"), (2, "tool_error")] {
        count.store(0, Ordering::Relaxed);
        let input = json!({ "name": "friendly/fetch", "input": fetch, "before": before });
        let body = json!({ "input": input, "limits": { "http_requests": 2 } });
        let asked = server.call_with("friendly/ask_peer", body).await;
        assert_eq!(asked.outcome(), outcome, "{asked:?}");
        assert_eq!(count.load(Ordering::Relaxed), 2);
    }
}

#[tokio::test]
async fn requests_of_wasi_http_take_the_same_way_out() {
    let (address, count) = serve(|_, stream| async move {
        std::future::pending::<()>().await;
        drop(stream);
    })
    .await;
    let server = TestServer::start().await.with_friendly().await;
    let pushed = server.push("requests", bulkhead_fixtures::REQUESTS).await;
    assert_eq!(pushed.status, 201, "{pushed:?}");
    let input = json!({ "authority": address.to_string() });
    let body = json!({ "input": input, "limits": { "timeout_ms": 500 } });
    let denied = server.call_with("requests/unfinished", body.clone()).await;
    assert_eq!(denied.outcome(), "denied", "{denied:?}");
    assert_eq!(count.load(Ordering::Relaxed), 0);
    let capabilities = json!({ "http": [format!("http://{address}")] });
    server
        .grant(json!({ "component": "requests", "capabilities": capabilities }))
        .await;
    let harm = server.call_with("requests/unfinished", body).await;
    assert_eq!(harm.outcome(), "deadline_exceeded", "{harm:?}");
    let call = &harm.body["receipt"]["host_calls"][0];
    assert_eq!(
        (&call["interface"], &call["outcome"]),
        (&json!("wasi:http"), &json!("failed"))
    );
}

/// Hostile guest 24.
#[tokio::test]
async fn a_credential_is_in_no_answer_log_or_receipt_however_it_comes_back() {
    const SECRET: &str = "s3cr3t-t0ken-of-the-test";
    let (address, _) = serve(|head, stream| async move {
        let echo = head
            .lines()
            .find(|line| line.to_lowercase().starts_with("authorization"));
        let header = format!("x-echo: {}\r\n", echo.unwrap_or("-"));
        answer(stream, "200 OK", &header, head.as_bytes()).await;
    })
    .await;
    let server = granted(&[&format!("http://{address}")]).await;
    let stored = json!({
        "name": "example", "secret": SECRET, "placement": { "type": "bearer" },
        "audience": [format!("http://{address}")],
    });
    let stored = server.post("/v1/credentials", &stored).await;
    assert_eq!(stored.status, 201, "{stored:?}");
    server
        .grant(json!({ "component": "friendly", "capabilities": { "credentials": ["example"] } }))
        .await;
    let input = json!({ "url": format!("http://{address}/"), "credential": "example" });
    let fetched = fetch(&server, input).await;
    assert_eq!(fetched.outcome(), "ok", "{fetched:?}");
    assert!(
        fetched
            .text
            .to_lowercase()
            .contains("authorization: bearer"),
        "it was sent"
    );
    assert!(!fetched.text.contains(SECRET), "{fetched:?}");
    let receipts = server.get("/v1/receipts").await;
    assert!(!receipts.text.contains(SECRET));
}
