//! The network as a hostile guest tries it: every way to an address that no grant opens.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use bulkhead_egress::{EgressError, Request};
use common::{Names, Server, access, egress, open, request, rule, session};

fn is_denied(result: &Result<bulkhead_egress::Response, EgressError>) -> bool {
    matches!(result, Err(EgressError::Denied { .. }))
}

#[tokio::test]
async fn no_spelling_of_a_private_address_passes_a_grant_for_any_host() {
    let server = Server::start().await;
    let port = server.port();
    let any = rule(&format!("any://*:{port}"));
    let mut access = access(vec![any], vec![]);
    access.requests = 1000;
    let session = egress(Names::new(&[])).session(access);
    for host in [
        "127.0.0.1",
        "127.1",
        "127.0.1",
        "2130706433",
        "0x7f000001",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "017700000001",
        "0x7f.0x0.0x0.0x1",
        "127.0.0.1.",
        "0",
        "0.0.0.0",
        "127.127.127.127",
        "%31%32%37.0.0.1",
        "\u{ff11}\u{ff12}\u{ff17}.0.0.1",
        "127\u{3002}0\u{3002}0\u{3002}1",
        "[::1]",
        "[::]",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::127.0.0.1]",
        "[64:ff9b:1::7f00:1]",
        "[2002:7f00:1::]",
        "[2001:0:7f00:1::]",
        "169.254.169.254",
        "0xa9fea9fe",
        "2852039166",
        "[fd00:ec2::254]",
        "[::ffff:169.254.169.254]",
        "100.100.100.200",
        "192.0.0.192",
        "168.63.129.16",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.0.1",
        "100.64.0.1",
        "198.18.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "[fe80::1]",
        "[fc00::1]",
        "[ff02::1]",
    ] {
        let result = session
            .fetch(request(&format!("http://{host}:{port}/echo")))
            .await;
        assert!(is_denied(&result), "{host}: {result:?}");
    }
    assert!(server.log.all().is_empty(), "nothing arrived");
}

#[tokio::test]
async fn a_denial_names_the_grant_that_is_missing() {
    let session = session(
        vec![rule("https://api.example.com"), rule("any://*")],
        vec![],
    );
    for (url, expected) in [
        (
            "http://api.example.com:8080/x?secret",
            "--allow-host http://api.example.com:8080",
        ),
        (
            "http://169.254.169.254/latest",
            "--allow-host http://169.254.169.254",
        ),
        (
            "http://a.test/x",
            r#"--allow-host '{"host":"a.test","scheme":"http","private":["127.0.0.0/8"]}'"#,
        ),
    ] {
        let error = session.fetch(request(url)).await.expect_err(url);
        let EgressError::Denied { message, missing } = &error else {
            panic!("{url}: {error:?}")
        };
        assert_eq!(missing, expected);
        assert!(
            !message.contains("secret"),
            "a query may hold anything: {message}"
        );
        // What the text names is a rule that the parser takes and that opens the way.
        let text = missing
            .trim_start_matches("--allow-host ")
            .trim_matches('\'');
        assert!(rule(text).matches(&bulkhead_policy::Target::parse(url).unwrap(), "GET"));
    }
}

#[tokio::test]
async fn a_name_that_leads_to_a_private_address_is_denied() {
    for addresses in [
        &["127.0.0.1"][..],
        &["10.0.0.1"],
        &["169.254.169.254"],
        &["::1"],
        &["::ffff:127.0.0.1"],
        &["64:ff9b::7f00:1"],
        &["fd00:ec2::254"],
        &["93.184.216.34", "127.0.0.1"],
        &["127.0.0.1", "93.184.216.34"],
    ] {
        let names = Names::new(&[("evil.test", &[addresses])]);
        let session = egress(names).session(access(vec![rule("any://*")], vec![]));
        let result = session.fetch(request("http://evil.test/")).await;
        assert!(is_denied(&result), "{addresses:?}: {result:?}");
    }
}

#[tokio::test]
async fn a_name_is_resolved_once_and_only_what_was_checked_is_connected_to() {
    let server = Server::start().await;
    // 192.0.2.0/24 stands in for a public address: it is opened by the rule and leads nowhere.
    let names = Names::new(&[("rebind.test", &[&["192.0.2.1"], &["127.0.0.1"]])]);
    let rule = rule(&format!(
        r#"{{"host": "rebind.test", "port": {}, "private": ["192.0.2.0/24"]}}"#,
        server.port()
    ));
    let session = egress(Arc::clone(&names) as _).session(access(vec![rule], vec![]));
    let mut first = request(&server.named("rebind.test", "/echo"));
    first.timeout = Some(Duration::from_millis(300));
    let result = session.fetch(first).await;
    assert!(
        matches!(
            result,
            Err(EgressError::Timeout | EgressError::Failed { .. })
        ),
        "{result:?}"
    );
    assert_eq!(names.asked.load(Ordering::SeqCst), 1);
    let second = session
        .fetch(request(&server.named("rebind.test", "/echo")))
        .await;
    assert!(is_denied(&second), "{second:?}");
    assert!(server.log.all().is_empty(), "nothing arrived");
}

#[tokio::test]
async fn a_redirect_to_a_private_address_is_denied() {
    let server = Server::start().await;
    let port = server.port();
    let rules = vec![
        rule(&format!(
            r#"{{"host": "a.test", "port": {port}, "private": ["127.0.0.1"]}}"#
        )),
        rule(&format!("any://*:{port}")),
    ];
    let session = session(rules, vec![]);
    for to in [
        server.url("/echo"),
        server.named("b.test", "/echo"),
        server.named("0x7f.1", "/echo"),
        format!("//127.0.0.1:{port}/echo"),
    ] {
        let url = server.named("a.test", &format!("/redirect/302?to={to}"));
        let result = session.fetch(request(&url)).await;
        assert!(is_denied(&result), "{to}: {result:?}");
    }
    assert!(
        server
            .log
            .all()
            .iter()
            .all(|seen| seen.uri.starts_with("/redirect"))
    );
}

#[tokio::test]
async fn a_redirect_is_held_to_the_rules_like_a_request() {
    let server = Server::start().await;
    let text = format!(
        r#"{{"host": "a.test", "port": {}, "path": "/redirect", "private": ["127.0.0.1"]}}"#,
        server.port()
    );
    let session = session(vec![rule(&text)], vec![]);
    for to in [
        "/echo",
        "https://a.test/redirect/1",
        "http://a.test:1/redirect/1",
    ] {
        let url = server.named("a.test", &format!("/redirect/307?to={to}"));
        let result = session.fetch(request(&url)).await;
        assert!(is_denied(&result), "{to}: {result:?}");
    }
    for to in [
        "file:///etc/passwd",
        "ftp://a.test/",
        "http://u:p@a.test/",
        "http://",
        "javascript:1",
    ] {
        let url = server.named("a.test", &format!("/redirect/302?to={to}"));
        let result = session.fetch(request(&url)).await;
        assert!(
            matches!(result, Err(EgressError::Invalid(_))),
            "{to}: {result:?}"
        );
    }
}

#[tokio::test]
async fn redirects_end() {
    let server = Server::start().await;
    let session = session(vec![open(&server)], vec![]);
    let result = session
        .fetch(request(&server.url("/redirect/302?to=")))
        .await;
    assert!(
        matches!(result, Err(EgressError::Failed { sent: true, .. })),
        "{result:?}"
    );
    assert_eq!(server.log.all().len(), 11, "one request and ten redirects");
}

#[tokio::test]
async fn another_port_is_another_place() {
    let server = Server::start().await;
    let session = session(vec![rule(r#"{"host": "127.0.0.1"}"#)], vec![]);
    assert!(is_denied(
        &session.fetch(request(&server.url("/echo"))).await
    ));
}

#[tokio::test]
async fn an_address_that_a_grant_names_is_open_in_every_spelling() {
    let server = Server::start().await;
    let session = session(
        vec![rule(&format!("http://127.0.0.1:{}", server.port()))],
        vec![],
    );
    for host in ["127.0.0.1", "127.1", "2130706433", "127.0.0.1."] {
        let answer = session
            .fetch(request(&server.named(host, "/echo")))
            .await
            .expect(host);
        assert_eq!(answer.status, 200);
        assert_eq!(
            server.log.last().headers["host"],
            server.address.to_string()
        );
    }
    let other = session
        .fetch(request(&server.named("a.test", "/echo")))
        .await;
    assert!(
        is_denied(&other),
        "a name is not the address that it leads to: {other:?}"
    );
}

#[tokio::test]
async fn a_final_dot_and_case_change_nothing() {
    let server = Server::start().await;
    let text = format!(
        r#"{{"host": "a.test", "port": {}, "private": ["127.0.0.1"]}}"#,
        server.port()
    );
    let session = session(vec![rule(&text)], vec![]);
    for host in ["a.test", "a.test.", "A.TEST"] {
        assert!(
            session
                .fetch(request(&server.named(host, "/echo")))
                .await
                .is_ok(),
            "{host}"
        );
        assert_eq!(
            server.log.last().headers["host"],
            format!("a.test:{}", server.port())
        );
    }
}

#[tokio::test]
async fn what_no_request_may_be_is_refused_before_anything_is_tried() {
    let server = Server::start().await;
    let session = session(vec![open(&server)], vec![]);
    let header = |name: &str, value: &str| Request {
        headers: vec![(name.to_owned(), value.to_owned())],
        ..request(&server.url("/echo"))
    };
    let method = |method: &str| Request {
        method: method.to_owned(),
        ..request(&server.url("/echo"))
    };
    for hostile in [
        request(&format!("http://user:password@{}/echo", server.address)),
        request(&format!("http://a.test@{}/echo", server.address)),
        request("ftp://127.0.0.1/"),
        request("file:///etc/passwd"),
        request("gopher://127.0.0.1:25/_HELO"),
        request("unix:/var/run/docker.sock"),
        request("http://"),
        request("http://*/"),
        request("http://a$(id)/"),
        request(""),
        request(&server.url("/echo\r\nHost: evil")),
        header("Host", "evil.test"),
        header("hOsT", "evil.test"),
        header("Transfer-Encoding", "chunked"),
        header("Content-Length", "0"),
        header("Connection", "upgrade"),
        header("Upgrade", "websocket"),
        header("TE", "trailers"),
        header("Trailer", "x"),
        header("Proxy-Authorization", "x"),
        header("Expect", "100-continue"),
        header("x", "a\r\nHost: evil.test"),
        header("x\r\nHost", "evil.test"),
        method("CONNECT"),
        method("TRACE"),
        method("connect"),
        method("GET / HTTP/1.1\r\nHost: evil"),
        method(""),
    ] {
        let result = session.fetch(hostile.clone()).await;
        assert!(
            matches!(result, Err(EgressError::Invalid(_))),
            "{hostile:?}: {result:?}"
        );
    }
    assert!(server.log.all().is_empty(), "nothing arrived");
}

#[tokio::test]
async fn an_escaped_path_does_not_leave_its_prefix() {
    let server = Server::start().await;
    let text = format!(
        r#"{{"host": "127.0.0.1", "port": {}, "path": "/v1"}}"#,
        server.port()
    );
    let session = session(vec![rule(&text)], vec![]);
    for path in [
        "/v1/../v2",
        "/v1/%2e%2e/v2",
        "/v1/..%2fv2",
        "/v1/..%5cv2",
        "/v1/..;/v2",
        "/v10",
    ] {
        assert!(
            is_denied(&session.fetch(request(&server.url(path))).await),
            "{path}"
        );
    }
    assert!(
        session
            .fetch(request(&server.url("/v1/a%2Fb")))
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn a_call_has_no_more_requests_than_its_budget() {
    let server = Server::start().await;
    let mut access = access(vec![open(&server)], vec![]);
    access.requests = 2;
    let session = egress(Names::new(&[])).session(access);
    assert!(
        session
            .fetch(request(&server.url("/redirect/302?to=/echo")))
            .await
            .is_ok()
    );
    let clone = session.clone();
    let result = clone.fetch(request(&server.url("/echo"))).await;
    assert_eq!(result, Err(EgressError::TooManyRequests { limit: 2 }));
}

#[tokio::test]
async fn a_path_that_looks_like_a_host_stays_a_path() {
    let server = Server::start().await;
    let session = session(vec![open(&server)], vec![]);
    for path in ["//evil.test/x", "/http://evil.test/", "/@evil.test", "/*"] {
        session.fetch(request(&server.url(path))).await.expect(path);
        let seen = server.log.last();
        assert_eq!(
            (seen.uri.as_str(), seen.headers["host"].as_bytes()),
            (path, server.address.to_string().as_bytes())
        );
    }
}
