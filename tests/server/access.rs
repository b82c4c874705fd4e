//! Who may ask, and what every request gets.

use std::time::{Duration, Instant};

use bulkhead_server::{Config, Server, StartError};
use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::support::{Answer, TestServer};

#[tokio::test]
async fn with_a_token_every_route_but_health_and_the_documentation_needs_it() {
    let server = TestServer::start_with(|config| config.token = Some("t0ken".to_owned())).await;
    let open = [
        "/v1/health",
        "/v1/health/",
        "/openapi.json",
        "/docs",
        "/docs/docs.js",
        "/docs/docs.css",
    ];
    for path in open {
        let answer = server.request(Method::GET, path).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
    }
    let routes = [
        "/v1/components",
        "/v1/grants",
        "/v1/credentials",
        "/v1/receipts",
        "/docs/",
        "/metrics",
        "/v1/components/a",
        "/nowhere",
    ];
    for path in routes {
        let refused = server.get(path).await;
        assert_eq!(refused.refusal(), (401, "unauthorized"), "{path}");
        assert_eq!(refused.body["detail"], "Unauthorized");
        let wrong = server.request(Method::GET, path).bearer_auth("token");
        assert_eq!(wrong.send().await.unwrap().status(), 401, "{path}");
        let allowed = server.request(Method::GET, path).bearer_auth("t0ken");
        assert_ne!(allowed.send().await.unwrap().status(), 401, "{path}");
        let allowed = server
            .request(Method::GET, path)
            .header("x-bare-password", "password t0ken");
        assert_ne!(allowed.send().await.unwrap().status(), 401, "{path}");
    }
    let post = server
        .post(
            "/v1/grants",
            &json!({ "component": "a", "capabilities": {} }),
        )
        .await;
    assert_eq!(post.refusal(), (401, "unauthorized"));
}

#[tokio::test]
async fn another_than_a_loopback_address_is_refused_without_a_token() {
    for (address, is_refused) in [
        ("0.0.0.0:0", true),
        ("[::]:0", true),
        ("192.0.2.1:0", true),
        ("[::ffff:192.0.2.1]:0", true),
        ("127.0.0.1:0", false),
        ("127.0.0.2:0", false),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::new(folder.path());
        config.builtin_tools = false;
        config.listen = address.parse().unwrap();
        match Server::start(config).await {
            Err(StartError::TokenRequired(refused)) => {
                assert!(is_refused, "{address}");
                assert_eq!(refused, address.parse().unwrap());
                assert_eq!(
                    std::fs::read_dir(folder.path()).unwrap().count(),
                    0,
                    "nothing was made"
                );
            }
            Ok(server) => {
                assert!(!is_refused, "{address}");
                server.shutdown().await.unwrap();
            }
            Err(error) => panic!("{address}: {error}"),
        }
    }
}

#[tokio::test]
async fn a_page_of_another_origin_is_refused() {
    let server = TestServer::start().await;
    let rebound = server
        .request(Method::GET, "/v1/components")
        .header("host", "evil.example:8283");
    let rebound = Answer::read(rebound.send().await.unwrap()).await;
    assert_eq!(rebound.refusal(), (403, "foreign_host"));
    // Probes name the host as they like.
    let probe = server
        .request(Method::GET, "/v1/health/")
        .header("host", "bulkhead.cluster.local");
    assert_eq!(probe.send().await.unwrap().status(), 200);
    let foreign = server
        .request(Method::POST, "/v1/grants")
        .header("origin", "https://evil.example");
    let foreign = Answer::read(foreign.json(&json!({})).send().await.unwrap()).await;
    assert_eq!(foreign.refusal(), (403, "foreign_origin"));
    let own = server
        .request(Method::GET, "/v1/components")
        .header("origin", server.url());
    assert_eq!(own.send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn unknown_routes_and_methods_are_told_apart() {
    let server = TestServer::start().await;
    for path in ["/", "/v1", "/v1/components/a/b", "/v1/components/a/tools/b"] {
        assert_eq!(
            server.get(path).await.refusal(),
            (404, "no_such_route"),
            "{path}"
        );
    }
    for (method, path) in [
        (Method::PUT, "/v1/components"),
        (Method::POST, "/openapi.json"),
        (Method::GET, "/v1/components/a/tools/b/call"),
        (Method::PATCH, "/v1/grants"),
    ] {
        let answer = Answer::read(server.request(method, path).send().await.unwrap()).await;
        assert_eq!(answer.refusal(), (405, "method_not_allowed"), "{path}");
        assert!(answer.headers.contains_key("allow"), "{answer:?}");
    }
    // Clients of the V1 API know its words.
    for (method, path, status, detail) in [
        (Method::GET, "/v1/nothing", 404, "Not Found"),
        (Method::GET, "/v1/componentsx", 404, "Not Found"),
        (Method::GET, "/v1/sandbox-config/a/b/c", 404, "Not Found"),
        (Method::DELETE, "/v1/health/", 405, "Method Not Allowed"),
        (Method::PATCH, "/v1/tools/", 405, "Method Not Allowed"),
    ] {
        let answer = Answer::read(server.request(method, path).send().await.unwrap()).await;
        assert_eq!(answer.status, status, "{path}");
        assert_eq!(answer.body, json!({ "detail": detail }), "{path}");
    }
}

#[tokio::test]
async fn every_answer_has_the_request_s_id_or_one_of_its_own() {
    let server = TestServer::start().await;
    let given = server
        .request(Method::GET, "/v1/health/")
        .header("x-request-id", "mine-1");
    assert_eq!(
        given.send().await.unwrap().headers()["x-request-id"],
        "mine-1"
    );
    let first = server.get("/nowhere").await.headers["x-request-id"].clone();
    let second = server.get("/v1/health/").await.headers["x-request-id"].clone();
    assert_ne!(first, second);
    let odd = server
        .request(Method::GET, "/v1/health/")
        .header("x-request-id", "a b");
    assert_ne!(odd.send().await.unwrap().headers()["x-request-id"], "a b");
}

#[tokio::test]
async fn a_connection_that_says_nothing_is_closed_and_others_are_served_meanwhile() {
    let server = TestServer::start().await;
    let mut slow = tokio::net::TcpStream::connect(server.address())
        .await
        .unwrap();
    slow.write_all(b"GET /v1/health/ HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow: ")
        .await
        .unwrap();
    assert_eq!(server.get("/v1/health/").await.status, 200);
    let started = Instant::now();
    let mut read = Vec::new();
    let closed = tokio::time::timeout(Duration::from_secs(25), slow.read_to_end(&mut read)).await;
    assert!(closed.is_ok(), "still open after {:?}", started.elapsed());
    assert!(!read.starts_with(b"HTTP/1.1 200"));
}

#[tokio::test]
async fn what_is_no_http_is_refused_and_harms_nobody() {
    let server = TestServer::start().await;
    let long = format!(
        "GET /{} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n",
        "a".repeat(100_000)
    );
    let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(500));
    for bytes in [
        &b"\x16\x03\x01\x02\x00"[..],
        b"nonsense\r\n\r\n",
        long.as_bytes(),
        many.as_bytes(),
    ] {
        let mut stream = tokio::net::TcpStream::connect(server.address())
            .await
            .unwrap();
        // The server may close before it has read all.
        let _ = stream.write_all(bytes).await;
        let _ = stream.shutdown().await;
        let mut read = Vec::new();
        let _ = tokio::time::timeout(Duration::from_secs(5), stream.read_to_end(&mut read)).await;
        assert!(
            !read.starts_with(b"HTTP/1.1 2"),
            "{:?}",
            String::from_utf8_lossy(&read)
        );
    }
    assert_eq!(server.get("/v1/health/").await.status, 200);
}

#[tokio::test]
async fn beyond_the_limit_connections_wait_for_their_turn() {
    let server = TestServer::start_with(|config| config.max_connections = 2).await;
    let held: Vec<_> =
        futures::future::join_all((0..2).map(|_| tokio::net::TcpStream::connect(server.address())))
            .await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    let waiting = server.get("/v1/health/");
    let mut waiting = std::pin::pin!(waiting);
    let early = tokio::time::timeout(Duration::from_millis(300), waiting.as_mut()).await;
    assert!(early.is_err(), "the third connection waits");
    drop(held);
    assert_eq!(waiting.await.status, 200);
}
