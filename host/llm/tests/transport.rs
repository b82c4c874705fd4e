//! What holds for every provider: repeats, time-outs, broken connections.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::{sync::Arc, time::Duration};

use bulkhead_domain::{LlmConfig, Part};
use bulkhead_llm::{ChatMessage, ChatRequest, Client, Delta, ErrorKind, Settings};
use common::{Answer, Server, ask, settings, stream, stream_with};
use serde_json::json;
use tokio::{net::TcpListener, sync::mpsc};

/// Long enough for a loopback server under load, short enough for a test.
const SHORT: Duration = Duration::from_millis(300);

fn request(server: &Server) -> ChatRequest {
    let config = LlmConfig::new("openai", "openai", "gpt-4o", 128_000);
    let hello = ChatMessage::User(vec![Part::text("Hi")]);
    server.request("OpenAI", config, vec![hello])
}

fn said() -> Answer {
    let message = json!({"role": "assistant", "content": "Hi."});
    let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
    Answer::json(200, json!({"model": "gpt-4o", "choices": [choice]}))
}

fn begun() -> String {
    let chunk = json!({"choices": [{"index": 0, "delta": {"content": "He"}}]});
    format!("data: {chunk}\n\n")
}

fn refused(status: u16) -> Answer {
    Answer::json(status, json!({"error": {"message": "not now"}}))
}

#[tokio::test]
async fn a_passing_failure_is_repeated() {
    for status in [408, 409, 429, 500, 503] {
        let server = Server::with(vec![refused(status), refused(status), said()]).await;
        let reply = ask(&request(&server), None).await.unwrap();
        assert_eq!(reply.content, [Part::text("Hi.")]);
        let requests = server.requests();
        assert_eq!(requests.len(), 3, "{status}");
        assert!(requests.iter().all(|one| one.body == requests[0].body));
    }
}

#[tokio::test]
async fn three_tries_are_enough() {
    let server = Server::with(vec![refused(500); 5]).await;
    let error = ask(&request(&server), None).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Server);
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn what_will_not_pass_is_not_repeated() {
    let quota = json!({"error": {"code": "insufficient_quota", "message": "pay"}});
    let answers = [
        refused(400),
        refused(401),
        refused(404),
        Answer::json(429, quota),
        refused(500).header("x-should-retry", "false"),
    ];
    for answer in answers {
        let server = Server::with(vec![answer; 3]).await;
        ask(&request(&server), None).await.unwrap_err();
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_provider_that_asks_for_a_long_wait_gets_the_caller_to_decide() {
    let server = Server::with(vec![refused(429).header("retry-after", 60), said()]).await;
    let error = ask(&request(&server), None).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::RateLimit);
    assert_eq!(error.retry_after, Some(Duration::from_mins(1)));
    assert_eq!(server.requests().len(), 1);

    let server = Server::with(vec![refused(429).header("retry-after-ms", 5), said()]).await;
    ask(&request(&server), None).await.unwrap();
}

#[tokio::test]
async fn a_server_that_is_not_there_is_a_failed_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let server = Server::with(vec![]).await;
    let mut request = request(&server);
    request.endpoint.base_url = format!("http://{address}");
    let error = ask(&request, None).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Connection);
    assert!(error.message.contains(&address.to_string()), "{error}");
}

#[tokio::test]
async fn a_connection_that_closes_before_an_answer_is_tried_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = Server::with(vec![]).await;
    let mut request = request(&server);
    request.endpoint.base_url = format!("http://{}", listener.local_addr().unwrap());
    let accepted = tokio::spawn(async move {
        for tries in 1.. {
            // Accepted and closed.
            drop(listener.accept().await.unwrap());
            if tries == 3 {
                return tries;
            }
        }
        unreachable!("three connections come")
    });
    let error = ask(&request, None).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Connection);
    assert_eq!(accepted.await.unwrap(), 3);
}

#[tokio::test]
async fn a_stream_that_breaks_is_not_repeated() {
    let broken = Answer::stream(&begun(), 10).broken();
    let server = Server::with(vec![broken, said()]).await;
    let (reply, deltas) = stream(&request(&server)).await;
    let error = reply.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Connection);
    assert!(error.partial);
    assert_eq!(deltas, [Delta::Text("He".to_owned())]);
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_document_that_breaks_off_is_a_failed_connection() {
    let server = Server::with(vec![said().broken(), said()]).await;
    let error = ask(&request(&server), None).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Connection);
    assert!(!error.partial);
}

#[tokio::test]
async fn each_wait_has_an_end() {
    let short = Settings {
        answer_timeout: SHORT,
        silence_timeout: SHORT,
        ..settings()
    };
    // No answer.
    let server = Server::with(vec![Answer::none(), Answer::none()]).await;
    let client = Client::new(short).unwrap();
    let error = client.chat(&request(&server), None).await.unwrap_err();
    assert_eq!((error.kind, error.partial), (ErrorKind::Timeout, false));
    assert!(error.message.contains("300 ms"), "{error}");

    // An answer without end.
    let server = Server::with(vec![said().silent()]).await;
    let error = client.chat(&request(&server), None).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Timeout);

    // A stream that falls silent.
    let server = Server::with(vec![Answer::stream(&begun(), 100).silent()]).await;
    let (reply, _) = stream_with(&request(&server), short).await;
    let error = reply.unwrap_err();
    assert_eq!((error.kind, error.partial), (ErrorKind::Timeout, true));
    assert_eq!(server.requests().len(), 1);

    // A stream that is still not done when its time is over.
    let brief = Settings {
        stream_timeout: SHORT,
        ..settings()
    };
    let server = Server::with(vec![Answer::stream(&begun(), 100).silent()]).await;
    let (reply, _) = stream_with(&request(&server), brief).await;
    let error = reply.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Timeout);
    assert!(error.message.contains("did not end"), "{error}");
}

#[tokio::test]
async fn leaving_ends_the_request() {
    let server = Arc::new(Server::with(vec![Answer::stream(&begun(), 100).silent()]).await);
    let client = Client::new(settings()).unwrap();
    let (sender, mut receiver) = mpsc::channel(8);
    let request = request(&server);
    let asking = tokio::spawn(async move { client.chat(&request, Some(sender)).await });
    assert_eq!(receiver.recv().await, Some(Delta::Text("He".to_owned())));
    asking.abort();
    tokio::time::timeout(Duration::from_secs(10), server.client_left())
        .await
        .unwrap();
}

#[tokio::test]
async fn pieces_that_nobody_reads_are_no_error() {
    let done = format!("{}data: [DONE]\n\n", begun());
    let server = Server::with(vec![Answer::stream(&done, 100)]).await;
    let (sender, receiver) = mpsc::channel(1);
    drop(receiver);
    let reply = ask(&request(&server), Some(sender)).await.unwrap();
    assert_eq!(reply.content, [Part::text("He")]);
}

#[tokio::test]
async fn a_key_is_not_carried_to_where_a_redirect_points() {
    let other = Server::with(vec![said()]).await;
    let redirect = refused(307).header("location", format!("{}/x", other.base_url));
    let server = Server::with(vec![redirect]).await;
    let error = ask(&request(&server), None).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::InvalidResponse);
    assert!(error.message.contains("not followed"), "{error}");
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn connections_are_used_again_after_a_stream() {
    let done = format!("{}data: [DONE]\n\n", begun());
    let server = Server::with(vec![Answer::stream(&done, 100).late(); 100]).await;
    let client = Client::new(settings()).unwrap();
    // A connection is free a moment after the answer; how long that takes is not the point.
    for asked in 1..=100 {
        let (sender, _receiver) = mpsc::channel(8);
        client.chat(&request(&server), Some(sender)).await.unwrap();
        if server.connections() < asked {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("each request had a connection of its own");
}

#[tokio::test]
async fn endpoints_that_are_none_are_refused_before_anything_is_sent() {
    let server = Server::with(vec![]).await;
    let mut bad = request(&server);
    for base_url in ["", "localhost:1", "ftp://127.0.0.1", "http://"] {
        base_url.clone_into(&mut bad.endpoint.base_url);
        let error = ask(&bad, None).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::BadRequest, "{base_url}");
    }
    let mut bad = request(&server);
    bad.endpoint.api_key = Some("line\nfeed".to_owned().into());
    let error = ask(&bad, None).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Authentication);
    assert!(!error.message.contains("feed"));
    let mut bad = request(&server);
    bad.endpoint.headers = vec![("no header".to_owned(), "x".to_owned())];
    let error = ask(&bad, None).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::BadRequest);
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn headers_of_the_endpoint_go_with_each_request() {
    let server = Server::with(vec![said()]).await;
    let mut request = request(&server);
    request.endpoint.headers = vec![("OpenAI-Organization".to_owned(), "org-1".to_owned())];
    ask(&request, None).await.unwrap();
    let sent = server.only_request();
    assert_eq!(sent.headers["openai-organization"], "org-1");
}
