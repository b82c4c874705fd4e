//! Whatever is sent, the answer says what was wrong, and the server lives.

use reqwest::Method;
use serde_json::json;

use crate::support::{Answer, TestServer, call_path};

/// The server answers and a neighbour's call works.
async fn is_unharmed(server: &TestServer) {
    assert_eq!(server.get("/v1/health/").await.status, 200);
    let called = server
        .call("friendly/add", json!({ "left": 20, "right": 22 }))
        .await;
    assert_eq!(called.body["output"]["structured"], json!({ "sum": 42 }));
}

#[tokio::test]
async fn files_that_are_no_components_are_refused_with_their_reason() {
    let server = TestServer::start().await.with_friendly().await;
    let truncated = &bulkhead_fixtures::FRIENDLY[..bulkhead_fixtures::FRIENDLY.len() / 2];
    let module = wat::parse_str("(module)").unwrap();
    let empty = wat::parse_str("(component)").unwrap();
    let unknown_import = wat::parse_str(
        r#"(component
            (import "evil:host/powers@1.0.0" (instance (export "do" (func)))))"#,
    );
    let wrong_version = wat::parse_str(
        r#"(component
            (core module $m (func (export "f")))
            (core instance $i (instantiate $m))
            (func $f (canon lift (core func $i "f")))
            (instance $tools (export "describe" (func $f)))
            (export "bulkhead:tool/tools@9.0.0" (instance $tools)))"#,
    );
    for (what, bytes, codes) in [
        ("empty", Vec::new(), &["not_a_component"][..]),
        ("text", b"hello".to_vec(), &["not_a_component"]),
        (
            "truncated",
            truncated.to_vec(),
            &["not_a_component", "invalid_component"],
        ),
        ("core module", module, &["not_a_component"]),
        ("no exports", empty, &["no_tools"]),
        (
            "unknown import",
            unknown_import.unwrap(),
            &["unknown_imports"],
        ),
        (
            "wrong version",
            wrong_version.unwrap(),
            &["wrong_abi_version"],
        ),
    ] {
        let refused = server.push("bad", bytes).await;
        let (status, code) = refused.refusal();
        assert_eq!(status, 422, "{what}: {refused:?}");
        assert!(codes.contains(&code), "{what}: {refused:?}");
    }
    assert_eq!(server.get("/v1/components?name=bad").await.body, json!([]));
    is_unharmed(&server).await;
}

#[tokio::test]
async fn a_huge_file_is_refused_for_its_size_however_it_is_sent() {
    let server =
        TestServer::start_with(|config| config.sandbox.max_component_bytes = 4 << 20).await;
    let server = server.with_friendly().await;
    let huge = vec![0_u8; 6 << 20];
    assert_eq!(
        server.push("huge", huge).await.refusal(),
        (413, "component_too_large")
    );
    // Without a length before it.
    let chunks = (0..6).map(|_| Ok::<_, std::io::Error>(vec![0_u8; 1 << 20]));
    let body = reqwest::Body::wrap_stream(futures::stream::iter(chunks));
    assert_eq!(
        server.push("huge", body).await.refusal(),
        (413, "component_too_large")
    );
    is_unharmed(&server).await;
}

#[tokio::test]
async fn on_a_full_disk_a_push_is_refused_and_nothing_stored_is_lost() {
    let server = TestServer::start_with(|config| config.database_max_bytes = Some(3 << 20)).await;
    let server = server.with_friendly().await;
    let mut large = bulkhead_fixtures::HOSTILE.to_vec();
    // A custom section that nobody reads, with its length in LEB128 before it.
    let section = vec![0_u8; (4 << 20) - 1];
    large.push(0);
    large.extend([
        0x80 | (section.len() & 0x7f) as u8,
        0x80 | (section.len() >> 7 & 0x7f) as u8,
    ]);
    large.extend([
        0x80 | (section.len() >> 14 & 0x7f) as u8,
        (section.len() >> 21) as u8,
    ]);
    large.extend(section);
    assert_eq!(
        server.push("large", large).await.refusal(),
        (507, "store_full")
    );
    assert_eq!(
        server.get("/v1/components?name=large").await.body,
        json!([])
    );
    is_unharmed(&server).await;
    assert_eq!(
        server
            .get("/v1/receipts")
            .await
            .body
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[tokio::test]
async fn a_huge_body_of_a_call_is_refused() {
    let server = TestServer::start().await.with_friendly().await;
    let body = format!(r#"{{"input": {{"a": "{}"}}}}"#, "x".repeat(9 << 20));
    let sent = server.request(Method::POST, &call_path("friendly/echo"));
    let sent = sent
        .header("content-type", "application/json")
        .body(body)
        .send()
        .await
        .unwrap();
    assert_eq!(Answer::read(sent).await.refusal(), (413, "body_too_large"));
    is_unharmed(&server).await;
}

#[tokio::test]
async fn invalid_json_is_told_with_its_place() {
    let server = TestServer::start().await.with_friendly().await;
    for path in [&call_path("friendly/add"), "/v1/grants", "/v1/credentials"] {
        for body in ["", "{", "{\"input\": {]}", "nonsense", "\u{0}"] {
            let sent = server
                .request(Method::POST, path)
                .header("content-type", "application/json");
            let answer = Answer::read(sent.body(body).send().await.unwrap()).await;
            assert_eq!(answer.refusal(), (400, "invalid_json"), "{path} {body:?}");
            assert!(answer.text.contains("line 1 column"), "{answer:?}");
        }
    }
    for path in [&call_path("friendly/add"), "/v1/grants", "/v1/credentials"] {
        let refused = server.post(path, &json!([])).await;
        assert_eq!(refused.refusal(), (422, "invalid_body"), "{path}");
        assert!(
            refused.text.contains("must be a JSON object"),
            "{refused:?}"
        );
    }
    let nested = "[".repeat(200_000);
    let sent = server
        .request(Method::POST, &call_path("friendly/echo"))
        .header("content-type", "application/json");
    let answer = Answer::read(sent.body(nested).send().await.unwrap()).await;
    assert!(answer.status.is_client_error(), "{answer:?}");
    is_unharmed(&server).await;
}

#[tokio::test]
async fn a_body_of_another_media_type_is_refused() {
    let server = TestServer::start().await.with_friendly().await;
    for (path, media_type) in [
        (call_path("friendly/add"), "text/plain"),
        ("/v1/grants".to_owned(), "application/x-www-form-urlencoded"),
        ("/v1/components?name=a".to_owned(), "text/plain"),
    ] {
        let sent = server
            .request(Method::POST, &path)
            .header("content-type", media_type);
        let answer = Answer::read(sent.body("{}").send().await.unwrap()).await;
        assert_eq!(answer.refusal(), (415, "unsupported_media_type"), "{path}");
    }
}

#[tokio::test]
async fn input_that_fails_the_schema_is_told_every_problem_with_its_pointer() {
    let server = TestServer::start().await.with_friendly().await;
    let refused = server
        .call("friendly/add", json!({ "left": "one", "right": [2] }))
        .await;
    assert_eq!(refused.refusal(), (422, "invalid_input"));
    let mut places = refused.places();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places, ["/left", "/right"], "{refused:?}");
    assert_eq!(refused.body["receipt"]["outcome"], "invalid_input");
    let refused = server.call("friendly/add", json!({ "left": 1 })).await;
    assert_eq!(refused.refusal(), (422, "invalid_input"));
    assert!(refused.text.contains("right"), "{refused:?}");
    let refused = server.call("friendly/add", json!([1, 2])).await;
    assert_eq!(refused.refusal(), (422, "invalid_input"));
    is_unharmed(&server).await;
}

#[tokio::test]
async fn a_call_with_a_misspelt_field_is_refused() {
    let server = TestServer::start().await.with_friendly().await;
    for (body, place) in [
        (json!({ "imput": {} }), ""),
        (json!({ "input": {}, "limits": { "fule": 1 } }), "/limits"),
        (
            json!({ "input": {}, "limits": { "fuel": -1 } }),
            "/limits/fuel",
        ),
        (json!({ "limits": { "fuel": 0 } }), "/limits/fuel"),
        (
            json!({ "limits": { "timeout_ms": 0 } }),
            "/limits/timeout_ms",
        ),
        (
            json!({ "limits": { "memory_bytes": 0 } }),
            "/limits/memory_bytes",
        ),
        (json!({ "input": {}, "narrow": { "htpp": [] } }), "/narrow"),
        (
            json!({ "input": {}, "narrow": { "http": ["ftp://a"] } }),
            "/narrow/http/0",
        ),
        (json!({ "input": {}, "agent_id": "" }), "/agent_id"),
        (
            json!({ "input": {}, "idempotency_key": "a\nb" }),
            "/idempotency_key",
        ),
    ] {
        let refused = server.call_with("friendly/echo", body.clone()).await;
        assert_eq!(refused.refusal(), (422, "invalid_body"), "{body}");
        assert!(refused.places()[0].starts_with(place), "{refused:?}");
    }
}

#[tokio::test]
async fn unknown_things_and_malformed_names_are_told_apart() {
    let server = TestServer::start().await.with_friendly().await;
    let absent = format!("sha256:{}", "0".repeat(64));
    for (tool, expected) in [
        ("friendly/absent", (404, "unknown_tool")),
        ("absent/add", (404, "unknown_component")),
        (&*format!("{absent}/add"), (404, "unknown_component")),
        ("sha256:00/add", (422, "invalid_parameter")),
        ("UPPER/add", (422, "invalid_parameter")),
        ("%ff/add", (422, "invalid_parameter")),
    ] {
        assert_eq!(
            server.call(tool, json!({})).await.refusal(),
            expected,
            "{tool}"
        );
    }
    let unknown = server.call("friendly/absent", json!({})).await;
    assert!(
        unknown.text.contains("add"),
        "the names that there are help: {unknown:?}"
    );
    let uuid = "00000000-0000-4000-8000-000000000000";
    for (path, expected) in [
        ("/v1/receipts/x".to_owned(), (422, "invalid_parameter")),
        (
            format!("/v1/receipts/grant-{uuid}"),
            (422, "invalid_parameter"),
        ),
        (
            format!("/v1/receipts/receipt-{uuid}"),
            (404, "unknown_receipt"),
        ),
        ("/v1/grants/1".to_owned(), (422, "invalid_parameter")),
        (format!("/v1/grants/grant-{uuid}"), (404, "unknown_grant")),
        (
            "/v1/receipts?limit=-1".to_owned(),
            (422, "invalid_parameter"),
        ),
        (
            "/v1/receipts?since=yesterday".to_owned(),
            (422, "invalid_parameter"),
        ),
        (
            "/v1/receipts?outcome=fine".to_owned(),
            (422, "invalid_parameter"),
        ),
        (
            "/v1/receipts?outcom=ok".to_owned(),
            (422, "invalid_parameter"),
        ),
        (
            "/v1/components?status=new".to_owned(),
            (422, "invalid_parameter"),
        ),
    ] {
        assert_eq!(server.get(&path).await.refusal(), expected, "{path}");
    }
}

#[tokio::test]
async fn names_of_components_follow_the_rule() {
    let server = TestServer::start().await;
    for name in [
        "",
        "A",
        "-a",
        "a.b",
        "a%2Fb",
        "..",
        &"a".repeat(65),
        &"a".repeat(64),
    ] {
        let pushed = server.push(name, bulkhead_fixtures::PLAIN).await;
        assert_eq!(pushed.refusal(), (422, "invalid_parameter"), "{name}");
    }
}
