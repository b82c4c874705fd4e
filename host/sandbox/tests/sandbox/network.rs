//! Tools that reach out: hostile guests 18, 19, 20, 23 and 24 through a real guest. The rules
//! themselves are tested in `bulkhead-egress`.

use std::{net::SocketAddr, sync::Arc};

use crate::common::*;
use bulkhead_domain::{HostCallOutcome, Outcome};
use bulkhead_policy::{Capabilities, Limits};
use bulkhead_sandbox::{
    Authority, Component, Report, Sandbox,
    egress::{Credential, Placement, Secret},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

const SECRET: &str = "s3cr3t-t0ken-of-the-test";

/// A server that answers every request with what `answer` writes for the request's head.
async fn serve<F>(answer: fn(String, TcpStream) -> F) -> SocketAddr
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut head = Vec::new();
                let mut buffer = [0; 4_096];
                while !head.windows(4).any(|end| end == b"\r\n\r\n") {
                    match stream.read(&mut buffer).await {
                        Ok(0) | Err(_) => return,
                        Ok(read) => head.extend_from_slice(&buffer[..read]),
                    }
                }
                answer(String::from_utf8_lossy(&head).into_owned(), stream).await;
            });
        }
    });
    address
}

async fn echo(head: String, mut stream: TcpStream) {
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nx-echo: {}\r\nconnection: close\r\n\r\n{head}",
        head.len(),
        head.lines()
            .find(|line| line.to_lowercase().starts_with("authorization"))
            .unwrap_or("-"),
    );
    let _ = stream.write_all(answer.as_bytes()).await;
}

async fn endless(_: String, mut stream: TcpStream) {
    let _ = stream
        .write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")
        .await;
    let chunk = [b'x'; 16_384];
    // Bounded all the same: the host hangs up long before.
    for _ in 0..100_000 {
        if stream.write_all(&chunk).await.is_err() {
            return;
        }
    }
}

async fn silent(_: String, stream: TcpStream) {
    tokio::time::sleep(std::time::Duration::from_secs(20)).await;
    drop(stream);
}

fn authority(component: &Component, grant: Value, secret: bool) -> Arc<Authority> {
    let grant: Capabilities = serde_json::from_value(grant).unwrap();
    let credential = |audience: &str| Credential {
        name: "example".to_owned(),
        secret: Secret::new(SECRET.to_owned()).unwrap(),
        placement: Placement::Bearer,
        audience: vec![audience.parse().unwrap()],
        automatic: false,
    };
    let audience = grant.http[0].clone();
    let credentials = if secret {
        vec![Credential {
            audience: vec![audience],
            ..credential("example.com")
        }]
    } else {
        Vec::new()
    };
    Authority::for_tool(component, "fetch", &grant, None, credentials, "test").unwrap()
}

async fn fetch(
    sandbox: &Sandbox,
    component: &Component,
    authority: Arc<Authority>,
    input: Value,
) -> Report {
    let limits = Limits {
        timeout_ms: 3_000,
        http_response_bytes: 1 << 20,
        ..Limits::default()
    };
    let call = call("fetch", input)
        .with_authority(authority)
        .with_limits(limits);
    sandbox.call(component, call).await
}

#[tokio::test]
async fn a_granted_host_is_reached_and_the_receipt_says_so() {
    let sandbox = sandbox();
    let component = friendly(&sandbox).await;
    let base = format!("http://{}", serve(echo).await);
    let authority = authority(&component, json!({"http": [base]}), false);
    let report = fetch(
        &sandbox,
        &component,
        authority,
        json!({"url": format!("{base}/a?q=1")}),
    )
    .await;
    let output = report.result.unwrap().structured.unwrap();
    assert!(
        output["body"]
            .as_str()
            .unwrap()
            .starts_with("GET /a?q=1 HTTP/1.1")
    );
    let host_call = &report.receipt.host_calls[0];
    assert_eq!(
        host_call.target.as_deref(),
        Some(format!("GET {base}/a").as_str())
    );
    assert_eq!(host_call.outcome, HostCallOutcome::Ok);
}

#[tokio::test]
async fn without_a_grant_nothing_leaves_and_the_missing_grant_is_named() {
    let sandbox = sandbox();
    let component = friendly(&sandbox).await;
    let base = format!("http://{}", serve(echo).await);
    for grant in [
        json!({}),
        json!({"http": ["*"]}),
        json!({"http": ["http://127.0.0.1:1"]}),
    ] {
        let grant: Capabilities = serde_json::from_value(grant).unwrap();
        let authority =
            Authority::for_tool(&component, "fetch", &grant, None, Vec::new(), "test").unwrap();
        let report = fetch(&sandbox, &component, authority, json!({"url": base})).await;
        assert_eq!(outcome(&report), Outcome::Denied);
        assert!(
            report.receipt.denials[0].message.contains("--allow-host"),
            "{:?}",
            report.receipt
        );
    }
}

#[tokio::test]
async fn metadata_and_private_addresses_are_denied_in_every_spelling() {
    let sandbox = sandbox();
    let component = friendly(&sandbox).await;
    let grant = json!({"http": ["http://*", "https://*"]});
    let authority = authority(&component, grant, false);
    for url in [
        "http://169.254.169.254/latest/meta-data/",
        "http://127.0.0.1/",
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f.0.0.1/",
        "http://0177.0.0.1/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://localhost/",
        "http://localhost./",
        "http://10.0.0.1/",
    ] {
        let report = fetch(
            &sandbox,
            &component,
            Arc::clone(&authority),
            json!({"url": url}),
        )
        .await;
        assert_eq!(
            outcome(&report),
            Outcome::Denied,
            "{url}: {:?}",
            report.result
        );
    }
    neighbour_is_unharmed(&sandbox, &component).await;
}

#[tokio::test]
async fn a_credential_is_added_on_the_way_out_and_never_seen_inside() {
    let sandbox = sandbox();
    let component = friendly(&sandbox).await;
    let base = format!("http://{}", serve(echo).await);
    let authority = authority(
        &component,
        json!({"http": [base], "credentials": ["example"]}),
        true,
    );
    let input = json!({"url": base, "credential": "example"});
    let report = fetch(&sandbox, &component, authority, input).await;
    let everything = serde_json::to_string(&report).unwrap();
    assert_eq!(outcome(&report), Outcome::Ok);
    assert!(!everything.contains(SECRET));
    let output = report.result.unwrap().structured.unwrap();
    let body = output["body"].as_str().unwrap().to_lowercase();
    assert!(
        body.contains("authorization: bearer"),
        "it was sent: {body}"
    );
}

#[tokio::test]
async fn a_credential_that_is_not_granted_is_not_used() {
    let sandbox = sandbox();
    let component = friendly(&sandbox).await;
    let base = format!("http://{}", serve(echo).await);
    let authority = authority(&component, json!({"http": [base]}), true);
    let input = json!({"url": base, "credential": "example"});
    let report = fetch(&sandbox, &component, authority, input).await;
    assert_eq!(outcome(&report), Outcome::Denied);
    assert_eq!(report.receipt.denials[0].capability, "credential");
}

#[tokio::test]
async fn an_answer_without_end_is_cut_off() {
    let sandbox = sandbox();
    let component = friendly(&sandbox).await;
    let base = format!("http://{}", serve(endless).await);
    let authority = authority(&component, json!({"http": [base]}), false);
    let report = fetch(&sandbox, &component, authority, json!({"url": base})).await;
    assert_eq!(outcome(&report), Outcome::ToolError);
    assert_eq!(
        report.receipt.host_calls[0].outcome,
        HostCallOutcome::Failed
    );
    neighbour_is_unharmed(&sandbox, &component).await;
}

#[tokio::test]
async fn a_server_that_never_answers_costs_no_more_than_the_deadline() {
    let sandbox = sandbox();
    let component = friendly(&sandbox).await;
    let base = format!("http://{}", serve(silent).await);
    let authority = authority(&component, json!({"http": [base]}), false);
    let input = json!({"url": base, "timeout_ms": 100});
    let report = fetch(&sandbox, &component, authority, input).await;
    assert_eq!(outcome(&report), Outcome::ToolError);
    assert!(report.receipt.wall_us < 2_500_000);
}

#[tokio::test]
async fn requests_without_end_meet_their_budget() {
    let sandbox = sandbox();
    let component = hostile(&sandbox).await;
    let base = format!("http://{}", serve(echo).await);
    let grant: Capabilities = serde_json::from_value(json!({"http": [base]})).unwrap();
    let authority = Authority::for_tool(
        &component,
        "fetch_forever",
        &grant,
        None,
        Vec::new(),
        "test",
    )
    .unwrap();
    let limits = Limits {
        http_requests: 5,
        ..tight()
    };
    let call = call("fetch_forever", json!({"url": base}))
        .with_authority(authority)
        .with_limits(limits);
    let report = sandbox.call(&component, call).await;
    let found = outcome(&report);
    assert!(
        matches!(found, Outcome::OutOfFuel | Outcome::DeadlineExceeded),
        "{found}"
    );
    let sent = report
        .receipt
        .host_calls
        .iter()
        .filter(|call| call.outcome == HostCallOutcome::Ok);
    assert_eq!(sent.count(), 5);
    let friendly = friendly(&sandbox).await;
    neighbour_is_unharmed(&sandbox, &friendly).await;
}

// wasi:http: a component that knows nothing of the sandbox takes the same way out.

async fn plain(tool: &str, grant: Value, credentials: Vec<Credential>, input: Value) -> Report {
    let sandbox = sandbox();
    let component = install(&sandbox, bulkhead_fixtures::REQUESTS).await;
    let grant: Capabilities = serde_json::from_value(grant).unwrap();
    let authority =
        Authority::for_tool(&component, tool, &grant, None, credentials, "test").unwrap();
    let limits = Limits {
        timeout_ms: 2_000,
        ..Limits::default()
    };
    let call = call(tool, input)
        .with_authority(authority)
        .with_limits(limits);
    let report = sandbox.call(&component, call).await;
    let friendly = friendly(&sandbox).await;
    neighbour_is_unharmed(&sandbox, &friendly).await;
    report
}

fn get(authority: SocketAddr) -> Value {
    json!({"authority": authority.to_string(), "path": "/p?q=1", "use_tls": false})
}

#[tokio::test]
async fn a_wasi_http_request_is_granted_by_the_same_rules() {
    let address = serve(echo).await;
    let grant = json!({"http": [format!("http://{address}")]});
    let report = plain("get", grant, Vec::new(), get(address)).await;
    let output = report.result.unwrap().structured.unwrap();
    assert_eq!(output["result"][0], 200);
    assert!(
        output["result"][1]
            .as_str()
            .unwrap()
            .starts_with("GET /p?q=1 HTTP/1.1")
    );
    let sent = &report.receipt.host_calls[0];
    assert_eq!(
        (sent.interface.as_str(), sent.outcome),
        ("wasi:http", HostCallOutcome::Ok)
    );
    let body = output["result"][1].as_str().unwrap().len();
    assert_eq!((sent.bytes_in, sent.bytes_out), (0, body as u64));
}

#[tokio::test]
async fn a_wasi_http_request_without_a_grant_is_denied_with_the_grant_that_is_missing() {
    let address = serve(echo).await;
    let report = plain("get", json!({}), Vec::new(), get(address)).await;
    assert_eq!(outcome(&report), Outcome::Denied);
    assert!(report.receipt.denials[0].message.contains("--allow-host"));
}

#[tokio::test]
async fn a_credential_is_added_to_a_wasi_http_request_by_its_audience() {
    let address = serve(echo).await;
    let base = format!("http://{address}");
    let credential = Credential {
        name: "example".to_owned(),
        secret: Secret::new(SECRET.to_owned()).unwrap(),
        placement: Placement::Bearer,
        audience: vec![base.parse().unwrap()],
        automatic: true,
    };
    let grant = json!({"http": [base], "credentials": ["example"]});
    let report = plain("get", grant, vec![credential], get(address)).await;
    assert_eq!(outcome(&report), Outcome::Ok, "{report:?}");
    let everything = serde_json::to_string(&report).unwrap();
    assert!(
        everything.to_lowercase().contains("authorization: bearer"),
        "{everything}"
    );
    assert!(!everything.contains(SECRET), "{everything}");
}

#[tokio::test]
async fn a_request_body_that_is_never_finished_ends_with_the_call() {
    let address = serve(silent).await;
    let grant = json!({"http": [format!("http://{address}")]});
    let input = json!({"authority": address.to_string()});
    let report = plain("unfinished", grant, Vec::new(), input).await;
    assert_eq!(outcome(&report), Outcome::DeadlineExceeded);
    let sent = &report.receipt.host_calls;
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].outcome, HostCallOutcome::Failed);
    assert_eq!(sent[0].target, Some(format!("POST http://{address}/")));
}

#[tokio::test]
async fn what_the_handle_of_a_request_keeps_is_bounded() {
    for (bytes, accepted) in [(10, 300), (1 << 20, 0)] {
        let report = plain("hoard", json!({}), Vec::new(), json!({"bytes": bytes})).await;
        let output = report.result.unwrap().structured.unwrap();
        assert_eq!(output, json!({"result": accepted}), "{bytes}");
    }
}

#[tokio::test]
async fn a_socket_of_ones_own_is_refused_whatever_is_granted() {
    let address = serve(echo).await;
    let grant = json!({"http": [format!("http://{address}")]});
    let input = json!({"address": address.to_string()});
    let report = plain("connect", grant, Vec::new(), input).await;
    assert!(report.result.is_err());
    assert_eq!(outcome(&report), Outcome::ToolError);
}
