//! Pushing, looking, consenting, deleting.

use bulkhead_store::testing::Kind;
use serde_json::json;

use crate::support::TestServer;

#[tokio::test]
async fn a_pushed_component_is_described_listed_and_found_by_name_and_digest() {
    for kind in [Kind::Sqlite, Kind::Postgres] {
        let Some(server) = TestServer::start_kind(kind).await else {
            continue;
        };
        let pushed = server.push("friendly", bulkhead_fixtures::FRIENDLY).await;
        assert_eq!(pushed.status, 201, "{pushed:?}");
        assert_eq!(pushed.body["status"], "active");
        assert_eq!(pushed.body["kind"], "native");
        assert_eq!(pushed.body["diff"]["against"], json!(null));
        let tools = pushed.body["tools"].as_array().unwrap();
        let add = tools.iter().find(|tool| tool["name"] == "add").unwrap();
        assert_eq!(add["input_schema"]["required"], json!(["left", "right"]));
        let counter = tools.iter().find(|tool| tool["name"] == "counter").unwrap();
        assert_eq!(counter["wishes"], json!({ "state": true }));

        let digest = pushed.body["digest"].as_str().unwrap();
        let hex = digest.strip_prefix("sha256:").unwrap();
        for reference in ["friendly", digest, hex] {
            let found = server.get(&format!("/v1/components/{reference}")).await;
            assert_eq!(found.status, 200);
            assert_eq!(found.body["digest"], digest);
            assert_eq!(found.body["tools"], pushed.body["tools"]);
        }
        let listed = server
            .get("/v1/components?name=friendly&status=active")
            .await;
        assert_eq!(listed.body.as_array().unwrap().len(), 1);
        assert_eq!(
            server.get("/v1/components?name=other").await.body,
            json!([])
        );
    }
}

#[tokio::test]
async fn the_same_bytes_again_change_nothing_and_need_no_name() {
    let server = TestServer::start().await.with_friendly().await;
    let again = server.push("friendly", bulkhead_fixtures::FRIENDLY).await;
    assert_eq!(
        (again.status.as_u16(), &again.body["status"]),
        (200, &json!("active"))
    );
    assert_eq!(again.body["diff"]["wider"], false);
    let push = server.request(reqwest::Method::POST, "/v1/components");
    let push = push
        .header("content-type", "application/octet-stream")
        .body(bulkhead_fixtures::FRIENDLY);
    assert_eq!(push.send().await.unwrap().status(), 200);
    let other = server.push("other", bulkhead_fixtures::FRIENDLY).await;
    assert_eq!(other.refusal(), (409, "other_name"));
    let nameless = server.request(reqwest::Method::POST, "/v1/components");
    let nameless = nameless
        .header("content-type", "application/wasm")
        .body(bulkhead_fixtures::HOSTILE);
    assert_eq!(nameless.send().await.unwrap().status(), 422);
}

/// A component that imports nothing.
const PURE: &str = r#"(component
    (core module $m
        (func (export "add") (param i32 i32) (result i32)
            (i32.add (local.get 0) (local.get 1))))
    (core instance $i (instantiate $m))
    (func (export "add") (param "a" s32) (param "b" s32) (result s32)
        (canon lift (core func $i "add"))))"#;

/// Hostile guest 35.
#[tokio::test]
async fn an_upgrade_with_wider_wishes_runs_nothing_before_consent() {
    let server = TestServer::start().await;
    let first = server.push("tool", bulkhead_fixtures::PLAIN).await;
    assert_eq!(first.body["status"], "active", "{first:?}");
    let upgrade = server.push("tool", bulkhead_fixtures::FRIENDLY).await;
    assert_eq!(
        (upgrade.status.as_u16(), &upgrade.body["status"]),
        (201, &json!("pending"))
    );
    assert_eq!(upgrade.body["diff"]["wider"], true);
    assert_eq!(upgrade.body["diff"]["against"], first.body["digest"]);
    let added = upgrade.body["diff"]["wishes"]["added"].as_array().unwrap();
    assert!(
        added.iter().any(|change| change["capability"] == "state"),
        "{added:?}"
    );
    let names = &upgrade.body["diff"]["tools"]["added"];
    assert!(names.as_array().unwrap().contains(&json!("counter")));

    // Not even a tool without wishes.
    let digest = upgrade.body["digest"].as_str().unwrap();
    let add = json!({ "left": 1, "right": 2 });
    let refused = server.call(&format!("{digest}/add"), add.clone()).await;
    assert_eq!(refused.refusal(), (409, "consent_required"));
    assert_eq!(
        server.call("tool/add", add.clone()).await.refusal(),
        (404, "unknown_tool")
    );
    assert_eq!(
        server.get("/v1/receipts").await.body,
        json!([]),
        "nothing ran"
    );
    assert_eq!(
        server.get("/v1/components/tool").await.body["digest"],
        first.body["digest"]
    );
    let again = server.push("tool", bulkhead_fixtures::FRIENDLY).await;
    assert_eq!(
        again.body["status"], "pending",
        "asking twice is no consent"
    );

    let diff = server.get(&format!("/v1/components/{digest}/diff")).await;
    assert_eq!(diff.body, upgrade.body["diff"]);
    let activated = server
        .post(&format!("/v1/components/{digest}/activate"), &json!({}))
        .await;
    assert_eq!(
        (activated.status.as_u16(), &activated.body["status"]),
        (200, &json!("active"))
    );
    assert_eq!(server.call("tool/add", add).await.outcome(), "ok");
    let retired = server.get("/v1/components?name=tool&status=retired").await;
    assert_eq!(retired.body[0]["digest"], first.body["digest"]);
}

#[tokio::test]
async fn a_narrower_version_becomes_active_at_once() {
    let server = TestServer::start().await;
    server.push("tool", bulkhead_fixtures::FRIENDLY).await;
    let narrower = server.push("tool", wat::parse_str(PURE).unwrap()).await;
    assert_eq!(narrower.body["status"], "active", "{narrower:?}");
    assert_eq!(
        (&narrower.body["diff"]["wider"], &narrower.body["pure"]),
        (&json!(false), &json!(true))
    );
    assert!(
        !narrower.body["diff"]["wishes"]["removed"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    let called = server.call("tool/add", json!({ "a": 2, "b": 3 })).await;
    assert_eq!(called.outcome(), "ok", "{called:?}");
}

#[tokio::test]
async fn a_version_that_follows_a_deleted_one_inherits_no_consent() {
    let server = TestServer::start().await;
    let plain = server.push("tool", bulkhead_fixtures::PLAIN).await;
    let pending = server.push("tool", bulkhead_fixtures::HOSTILE).await;
    assert_eq!(pending.body["status"], "pending", "{pending:?}");
    server
        .grant(json!({ "component": "tool", "capabilities": { "state": true } }))
        .await;
    let digest = plain.body["digest"].as_str().unwrap();
    assert_eq!(
        server
            .delete(&format!("/v1/components/{digest}"))
            .await
            .status,
        200
    );
    // The name still has a version and its grants.
    let next = server.push("tool", bulkhead_fixtures::FRIENDLY).await;
    assert_eq!(next.body["status"], "pending");
}

#[tokio::test]
async fn with_the_last_version_its_grants_go() {
    let server = TestServer::start().await.with_friendly().await;
    server
        .grant(json!({ "component": "friendly", "capabilities": { "state": true } }))
        .await;
    assert_eq!(
        server.call("friendly/counter", json!({})).await.outcome(),
        "ok"
    );
    assert_eq!(server.delete("/v1/components/friendly").await.status, 200);
    assert_eq!(
        server.get("/v1/components/friendly").await.refusal(),
        (404, "unknown_component")
    );
    assert_eq!(
        server.call("friendly/counter", json!({})).await.refusal(),
        (404, "unknown_component")
    );
    assert_eq!(server.get("/v1/grants").await.body, json!([]));
    let server = server.with_friendly().await;
    assert_eq!(
        server.call("friendly/counter", json!({})).await.outcome(),
        "denied"
    );
    assert_eq!(
        server.delete("/v1/components/absent").await.refusal(),
        (404, "unknown_component")
    );
}

#[tokio::test]
async fn pushes_of_one_component_at_the_same_time_all_succeed() {
    let server = TestServer::start().await;
    let pushes = (0..8).map(|_| server.push("friendly", bulkhead_fixtures::FRIENDLY));
    for pushed in futures::future::join_all(pushes).await {
        assert!(pushed.status.is_success(), "{pushed:?}");
        assert_eq!(pushed.body["status"], "active");
    }
    assert_eq!(
        server
            .get("/v1/components")
            .await
            .body
            .as_array()
            .unwrap()
            .len(),
        1
    );
}
