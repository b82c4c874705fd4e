//! Grants take effect at once, and malformed ones not at all.

use std::time::Duration;

use bulkhead_domain::Timestamp;
use bulkhead_store::testing::Kind;
use serde_json::json;

use crate::support::TestServer;

#[tokio::test]
async fn a_grant_and_its_revocation_hold_for_the_next_call() {
    for kind in [Kind::Sqlite, Kind::Postgres] {
        let Some(server) = TestServer::start_kind(kind).await else {
            continue;
        };
        let server = server.with_friendly().await;
        for _ in 0..3 {
            assert_eq!(
                server.call("friendly/counter", json!({})).await.outcome(),
                "denied"
            );
            let body = json!({ "component": "friendly", "capabilities": { "state": true } });
            let id = server.grant(body).await;
            assert_eq!(
                server.call("friendly/counter", json!({})).await.outcome(),
                "ok"
            );
            let revoked = server.delete(&format!("/v1/grants/{id}")).await;
            assert_eq!(revoked.status, 200, "{revoked:?}");
        }
        assert_eq!(
            server.call("friendly/counter", json!({})).await.outcome(),
            "denied"
        );
    }
}

#[tokio::test]
async fn a_grant_reads_back_and_is_listed_for_its_tool() {
    let server = TestServer::start().await;
    let body = json!({
        "component": "a", "tool": "t", "capabilities": { "http": ["https://a.com/v1"] },
        "limits": { "fuel": 7 }, "note": "because",
    });
    let id = server.grant(body).await;
    server
        .grant(json!({ "component": "a", "capabilities": {} }))
        .await;
    server
        .grant(json!({ "component": "a", "tool": "other", "capabilities": {} }))
        .await;
    let grant = server.get(&format!("/v1/grants/{id}")).await.body;
    assert_eq!(grant["capabilities"]["http"][0]["host"], "a.com");
    assert_eq!(
        (&grant["limits"], &grant["note"]),
        (&json!({ "fuel": 7 }), &json!("because"))
    );
    let listed = server.get("/v1/grants?component=a&tool=t").await;
    assert_eq!(listed.body.as_array().unwrap().len(), 2);
    assert_eq!(server.delete(&format!("/v1/grants/{id}")).await.status, 200);
    assert_eq!(
        server.delete(&format!("/v1/grants/{id}")).await.refusal(),
        (404, "unknown_grant")
    );
}

#[tokio::test]
async fn a_grant_for_one_tool_is_none_for_another() {
    let server = TestServer::start().await.with_friendly().await;
    let body =
        json!({ "component": "friendly", "tool": "echo", "capabilities": { "state": true } });
    server.grant(body).await;
    assert_eq!(
        server.call("friendly/counter", json!({})).await.outcome(),
        "denied"
    );
}

#[tokio::test]
async fn an_expired_grant_counts_for_nothing_and_needs_no_change_to_expire() {
    let server = TestServer::start().await.with_friendly().await;
    let soon = Timestamp::from_micros(Timestamp::now().micros() + 1_500_000);
    let body =
        json!({ "component": "friendly", "capabilities": { "state": true }, "expires_at": soon });
    server.grant(body).await;
    assert_eq!(
        server.call("friendly/counter", json!({})).await.outcome(),
        "ok"
    );
    tokio::time::sleep(Duration::from_millis(1_700)).await;
    assert_eq!(
        server.call("friendly/counter", json!({})).await.outcome(),
        "denied"
    );
    assert_eq!(server.get("/v1/grants").await.body[0]["expired"], true);
}

#[tokio::test]
async fn a_grant_s_limits_take_the_place_of_the_defaults_and_a_request_s_that_of_both() {
    let server = TestServer::start().await.with_hostile().await;
    let body =
        json!({ "component": "hostile", "capabilities": {}, "limits": { "fuel": 5_000_000 } });
    server.grant(body).await;
    let stopped = server.call("hostile/spin", json!({})).await;
    assert_eq!(stopped.outcome(), "out_of_fuel");
    assert!(stopped.body["receipt"]["fuel"]["call"].as_u64().unwrap() <= 5_000_000);
    let more = server
        .call_with("hostile/spin", json!({ "limits": { "fuel": 20_000_000 } }))
        .await;
    assert!(more.body["receipt"]["fuel"]["call"].as_u64().unwrap() > 5_000_000);
}

#[tokio::test]
async fn malformed_grants_are_refused_with_every_problem() {
    let server = TestServer::start().await;
    for (body, code, place) in [
        (json!({}), "invalid_body", ""),
        (json!({ "component": "a" }), "invalid_body", ""),
        (
            json!({ "component": "a", "capabilities": { "htpp": [] } }),
            "invalid_body",
            "/capabilities",
        ),
        (
            json!({ "component": "a", "capabilities": { "http": ["ftp://a"] } }),
            "invalid_body",
            "/capabilities/http/0",
        ),
        (
            json!({ "component": "a", "capabilities": {}, "limits": { "fule": 1 } }),
            "invalid_body",
            "/limits",
        ),
        (
            json!({ "component": "a", "capabilities": {}, "expires_at": "soon" }),
            "invalid_body",
            "/expires_at",
        ),
        (
            json!({ "component": "a", "capabilities": {}, "expires_at": "2001-01-01T00:00:00Z" }),
            "invalid_grant",
            "/expires_at",
        ),
        (
            json!({ "component": "a", "capabilities": {}, "tool": "" }),
            "invalid_grant",
            "/tool",
        ),
    ] {
        let refused = server.post("/v1/grants", &body).await;
        assert_eq!(refused.refusal(), (422, code), "{body}");
        assert!(refused.places()[0].starts_with(place), "{refused:?}");
    }
    let several = json!({ "component": "a", "tool": "", "capabilities": { "credentials": ["*"], "env": ["A=B"] } });
    let refused = server.post("/v1/grants", &several).await;
    assert_eq!(
        refused.places(),
        [
            "/capabilities/credentials/0",
            "/capabilities/env/0",
            "/tool"
        ]
    );
    let name = server
        .post(
            "/v1/grants",
            &json!({ "component": "A B", "capabilities": {} }),
        )
        .await;
    assert_eq!(name.refusal(), (422, "invalid_parameter"));
    assert_eq!(server.get("/v1/grants").await.body, json!([]));
}

#[tokio::test]
async fn another_server_on_the_same_database_learns_of_a_revocation() {
    let Some(database) = bulkhead_store::testing::TestDatabase::create(Kind::Postgres).await else {
        return;
    };
    let url = database.url().to_owned();
    let (first_url, key) = (url.clone(), "ab".repeat(32));
    let second_key = key.clone();
    let first = TestServer::start_with(move |config| {
        config.database_url = Some(first_url);
        config.key = Some(key);
    });
    let first = first.await.with_friendly().await;
    let second = TestServer::start_with(move |config| {
        config.database_url = Some(url);
        config.key = Some(second_key);
    });
    let second = second.await;
    let body = json!({ "component": "friendly", "capabilities": { "state": true } });
    let id = first.grant(body).await;
    assert_eq!(
        second.call("friendly/counter", json!({})).await.outcome(),
        "ok"
    );
    first.delete(&format!("/v1/grants/{id}")).await;
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    assert_eq!(
        second.call("friendly/counter", json!({})).await.outcome(),
        "denied"
    );
}
