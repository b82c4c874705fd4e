//! Credentials: added on the way out, never seen by the guest, never sent elsewhere.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use bulkhead_egress::{Credential, EgressError, Placement, Request, Response, Session};
use bytes::Bytes;
use common::{SECRET, Server, credential, open, request, session};

fn only(server: &Server, host: &str) -> bulkhead_policy::HttpRule {
    common::rule(&format!(
        r#"{{"host": "{host}", "port": {}}}"#,
        server.port()
    ))
}

fn with(server: &Server, placement: Placement) -> Session {
    let token = credential("token", placement, vec![only(server, "a.test")]);
    session(vec![open(server)], vec![token])
}

fn asking(url: &str) -> Request {
    Request {
        credential: Some("token".to_owned()),
        ..request(url)
    }
}

fn holds_secret(response: &Response) -> bool {
    format!("{response:?}").contains("4f9a") || response.body.windows(4).any(|w| w == b"4f9a")
}

#[tokio::test]
async fn a_credential_goes_where_it_belongs_and_its_echo_is_masked() {
    let server = Server::start().await;
    for (placement, sent) in [
        (Placement::Bearer, format!("Bearer {SECRET}")),
        (
            Placement::Basic {
                user: "me".to_owned(),
            },
            "Basic bWU6c2stNGY5YS8wYjFjKzJkM2U9eno=".to_owned(),
        ),
        (
            Placement::Header {
                name: "Authorization".to_owned(),
                prefix: "Token ".to_owned(),
            },
            format!("Token {SECRET}"),
        ),
    ] {
        let session = with(&server, placement);
        let mut request = asking(&server.named("a.test", "/echo"));
        request
            .headers
            .push(("authorization".to_owned(), "the guest's own".to_owned()));
        let answer = session.fetch(request).await.expect("an answer");
        let seen = server.log.last();
        assert_eq!(seen.headers["authorization"], sent);
        assert_eq!(seen.headers.get_all("authorization").iter().count(), 1);
        assert_eq!(seen.headers["accept-encoding"], "identity");
        assert!(!holds_secret(&answer), "{answer:?}");
        let text = String::from_utf8(answer.body.to_vec()).unwrap();
        assert!(text.contains("***"), "{text}");
    }
}

#[tokio::test]
async fn a_credential_in_the_query_shows_in_no_url() {
    let server = Server::start().await;
    let session = with(
        &server,
        Placement::Query {
            name: "key".to_owned(),
        },
    );
    for (path, shown) in [
        ("/echo?q=1", "/echo?q=1"),
        ("/echo?q=1&key=guest", "/echo?q=1&key=guest"),
        ("/redirect/302?to=/echo?q=1", "/echo?q=1"),
    ] {
        let answer = session
            .fetch(asking(&server.named("a.test", path)))
            .await
            .expect(path);
        assert_eq!(
            server.log.last().uri,
            "/echo?q=1&key=sk-4f9a%2F0b1c%2B2d3e%3Dzz"
        );
        assert_eq!(answer.url, server.named("a.test", shown));
        assert!(!holds_secret(&answer), "{answer:?}");
    }
}

#[tokio::test]
async fn a_server_that_repeats_the_query_in_a_redirect_gives_nothing_away() {
    let server = Server::start().await;
    let session = with(
        &server,
        Placement::Query {
            name: "key".to_owned(),
        },
    );
    // The redirect's target is the rest of the query, the added key included.
    let url = server.named("a.test", "/redirect/302?to=/echo?x=1");
    let answer = session.fetch(asking(&url)).await.expect("an answer");
    assert_eq!(answer.url, server.named("a.test", "/echo?x=1"));
    let url = server.named(
        "a.test",
        &format!("/redirect/302?to={}", server.named("b.test", "/echo?x")),
    );
    let result = session.fetch(asking(&url)).await;
    assert_eq!(
        result,
        Err(EgressError::SecretInRequest {
            name: "token".to_owned()
        })
    );
    assert!(
        server
            .log
            .all()
            .iter()
            .all(|seen| !seen.headers["host"].as_bytes().starts_with(b"b."))
    );
}

#[tokio::test]
async fn an_echo_that_is_split_over_chunks_is_masked() {
    let server = Server::start().await;
    let session = with(&server, Placement::Bearer);
    for size in [1, 2, 3, 7, 19] {
        let url = server.named("a.test", &format!("/split/{size}"));
        let answer = session.fetch(asking(&url)).await.expect("an answer");
        assert_eq!(
            answer.body,
            "you said: Bearer ******************** and no more"
        );
    }
}

#[tokio::test]
async fn an_echo_in_a_header_is_masked() {
    let server = Server::start().await;
    let session = with(&server, Placement::Bearer);
    let answer = session
        .fetch(asking(&server.named("a.test", "/header-echo")))
        .await
        .unwrap();
    let said = answer
        .headers
        .iter()
        .find(|(name, _)| name == "x-said")
        .unwrap();
    assert_eq!(said.1, "Bearer ********************");
}

#[tokio::test]
async fn a_compressed_answer_to_a_credential_is_refused() {
    let server = Server::start().await;
    let session = with(&server, Placement::Bearer);
    let result = session
        .fetch(asking(&server.named("a.test", "/bomb")))
        .await;
    assert!(
        matches!(result, Err(EgressError::Failed { sent: true, .. })),
        "{result:?}"
    );
    assert!(
        session
            .fetch(request(&server.named("a.test", "/bomb")))
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn no_part_of_an_answer_to_a_credential_is_asked_for_or_taken() {
    let server = Server::start().await;
    let session = with(&server, Placement::Bearer);
    let ranged = |request: Request| Request {
        headers: vec![
            ("Range".to_owned(), "bytes=0-5".to_owned()),
            ("If-Range".to_owned(), "\"tag\"".to_owned()),
        ],
        ..request
    };
    let url = server.named("a.test", "/echo");
    session
        .fetch(ranged(asking(&url)))
        .await
        .expect("an answer");
    let seen = server.log.last().headers;
    assert!(!seen.contains_key("range") && !seen.contains_key("if-range"));
    let part = server.named("a.test", "/status/206");
    let refused = session.fetch(ranged(asking(&part))).await;
    assert!(
        matches!(refused, Err(EgressError::Failed { sent: true, .. })),
        "{refused:?}"
    );
    // Without a credential parts are the guest's business.
    session
        .fetch(ranged(request(&url)))
        .await
        .expect("an answer");
    assert_eq!(server.log.last().headers["range"], "bytes=0-5");
    let answer = session.fetch(ranged(request(&part))).await.expect("a part");
    assert_eq!(answer.status, 206);
}

#[tokio::test]
async fn a_redirect_to_another_origin_loses_credentials_and_identity() {
    let server = Server::start().await;
    let token = credential("token", Placement::Bearer, vec![only(&server, "*")]);
    let session = session(vec![open(&server)], vec![token]);
    let to = server.named("b.test", "/echo");
    let url = server.named("a.test", &format!("/redirect/307?to={to}"));
    let mut asking = asking(&url);
    asking.headers.push(("cookie".to_owned(), "a=b".to_owned()));
    asking.headers.push(("x-kept".to_owned(), "yes".to_owned()));
    session.fetch(asking).await.expect("an answer");
    let [first, second] = &server.log.all()[..] else {
        panic!("two requests")
    };
    assert!(first.headers.contains_key("authorization") && first.headers.contains_key("cookie"));
    assert!(!second.headers.contains_key("authorization"));
    assert!(!second.headers.contains_key("cookie"));
    assert_eq!(second.headers["x-kept"], "yes");

    // The guest's own authorization too.
    let mut own = request(&url);
    own.headers
        .push(("authorization".to_owned(), "own".to_owned()));
    session.fetch(own).await.expect("an answer");
    assert!(!server.log.last().headers.contains_key("authorization"));
    let same = server.named("a.test", "/redirect/307?to=/echo");
    session.fetch(self::asking(&same)).await.expect("an answer");
    assert!(server.log.last().headers.contains_key("authorization"));
}

#[tokio::test]
async fn a_credential_that_is_unknown_or_for_others_is_refused() {
    let server = Server::start().await;
    let session = with(&server, Placement::Bearer);
    let wrong = session
        .fetch(asking(&server.named("b.test", "/echo")))
        .await;
    let unknown = Request {
        credential: Some("other".to_owned()),
        ..request(&server.url("/"))
    };
    let unknown = session.fetch(unknown).await;
    for result in [&wrong, &unknown] {
        assert!(
            matches!(result, Err(EgressError::Unauthorized(_))),
            "{result:?}"
        );
    }
    assert!(server.log.all().is_empty(), "nothing arrived");
}

#[tokio::test]
async fn an_automatic_credential_is_added_by_its_audience_alone() {
    let server = Server::start().await;
    let token = credential("token", Placement::Bearer, vec![only(&server, "a.test")]);
    let token = Credential {
        automatic: true,
        ..token
    };
    let session = session(vec![open(&server)], vec![token]);
    session
        .fetch(request(&server.named("a.test", "/echo")))
        .await
        .expect("an answer");
    assert!(server.log.last().headers.contains_key("authorization"));
    session
        .fetch(request(&server.named("b.test", "/echo")))
        .await
        .expect("an answer");
    assert!(!server.log.last().headers.contains_key("authorization"));
}

#[tokio::test]
async fn a_credential_that_was_not_asked_for_is_not_added() {
    let server = Server::start().await;
    let session = with(&server, Placement::Bearer);
    session
        .fetch(request(&server.named("a.test", "/echo")))
        .await
        .expect("an answer");
    assert!(!server.log.last().headers.contains_key("authorization"));
}

#[tokio::test]
async fn a_guest_that_knows_a_secret_can_send_it_nowhere_else() {
    let server = Server::start().await;
    let session = with(&server, Placement::Bearer);
    let url = server.named("b.test", "/echo");
    let base64 = "aHR0cHM6c2stNGY5YS8wYjFjKzJkM2U9eno6eA==";
    let escaped = "sk-4f9a%2f0b1c%2b2d3e%3dzz";
    let post = |body: String| Request {
        method: "POST".to_owned(),
        body: Some(Bytes::from(body)),
        ..request(&url)
    };
    let header = |value: &str| Request {
        headers: vec![("x".to_owned(), value.to_owned())],
        ..request(&url)
    };
    for hostile in [
        request(&format!("{url}?x={escaped}")),
        request(&format!("{url}/{SECRET}")),
        header(SECRET),
        header(base64),
        post(format!("<{SECRET}>")),
        post(format!("{{\"x\":\"{}\"}}", SECRET.replace('/', "\\/"))),
        post(escaped.to_owned()),
        post(base64.to_owned()),
        post("736b2d346639612f306231632b326433653d7a7a".to_owned()),
    ] {
        let result = session.fetch(hostile.clone()).await;
        let expected = Err(EgressError::SecretInRequest {
            name: "token".to_owned(),
        });
        assert_eq!(result, expected, "{hostile:?}");
    }
    assert!(server.log.all().is_empty(), "nothing arrived");
    // Where it belongs, a guest that was shown it may send it.
    let own = Request {
        url: server.named("a.test", "/echo"),
        ..header(SECRET)
    };
    let answer = session.fetch(own).await.expect("an answer");
    assert!(!holds_secret(&answer));
}

#[tokio::test]
async fn no_error_holds_a_secret() {
    let server = Server::start().await;
    let session = with(&server, Placement::Bearer);
    let secret_path = SECRET.replace('/', "%2f");
    for request in [
        asking(&server.named("a.test", &format!("/redirect/302?to=ftp://{SECRET}"))),
        asking(&server.named(
            "a.test",
            &format!("/redirect/302?to=https://a.test/{secret_path}"),
        )),
        asking(&format!("http://a.test:1/{secret_path}")),
        request(&format!("http://c.test/{secret_path}")),
        Request {
            credential: Some(SECRET.to_owned()),
            ..request(&server.url("/"))
        },
    ] {
        let error = session.fetch(request.clone()).await.expect_err("an error");
        let text = format!("{error} {error:?}");
        assert!(!text.contains("4f9a"), "{text}");
    }
    assert!(!format!("{session:?}").contains("4f9a"));
}
