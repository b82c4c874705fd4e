//! Credentials go in and never come out.

use bulkhead_store::testing::Kind;
use serde_json::{Value, json};

use crate::support::TestServer;

const SECRET: &str = "sk-very-secret-0123456789";

fn body(name: &str) -> Value {
    json!({
        "name": name, "secret": SECRET, "placement": { "type": "header", "name": "x-api-key" },
        "audience": ["https://api.example.com"],
    })
}

#[tokio::test]
async fn a_secret_is_in_no_answer() {
    for kind in [Kind::Sqlite, Kind::Postgres] {
        let Some(server) = TestServer::start_kind(kind).await else {
            continue;
        };
        let server = server.with_friendly().await;
        let stored = server.post("/v1/credentials", &body("example")).await;
        assert_eq!(stored.status, 201, "{stored:?}");
        assert_eq!(stored.body["placement"]["name"], "x-api-key");
        assert_eq!(stored.body["automatic"], false);
        let capabilities =
            json!({ "credentials": ["example"], "http": ["https://api.example.com"] });
        let id = server
            .grant(json!({ "component": "friendly", "capabilities": capabilities }))
            .await;
        // A place that resolves nowhere: whatever the error is, the secret is not in it.
        let fetch = json!({ "url": "https://unknown.invalid/", "credential": "example" });
        let answers = [
            stored,
            server.get("/v1/credentials").await,
            server.get(&format!("/v1/grants/{id}")).await,
            server.call("friendly/fetch", fetch).await,
            server.call("friendly/reveal", json!({ "name": "example" })).await,
            server.get("/v1/receipts").await,
            server.get("/metrics").await,
            server.post("/v1/credentials", &json!({ "secret": SECRET })).await,
            server.post("/v1/credentials", &json!({ "name": "c", "secret": "other-secret", "audience": SECRET, "placement": SECRET })).await,
            server.post("/v1/credentials", &json!(SECRET)).await,
            server.post("/v1/credentials", &json!({ "name": "*", "secret": SECRET, "audience": [], "placement": { "type": "bearer" } })).await,
            server.delete("/v1/credentials/example").await,
        ];
        for answer in answers {
            assert!(!answer.text.contains(SECRET), "{answer:?}");
        }
        assert_eq!(server.get("/v1/credentials").await.body, json!([]));
        assert_eq!(
            server.delete("/v1/credentials/example").await.refusal(),
            (404, "unknown_credential")
        );
    }
}

#[tokio::test]
async fn a_secret_is_not_on_the_disk_in_clear() {
    let mut server = TestServer::start().await;
    server.post("/v1/credentials", &body("example")).await;
    server.shutdown().await;
    let mut folders = vec![server.data_dir().to_owned()];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            files += 1;
            let bytes = std::fs::read(&path).unwrap();
            let found = bytes
                .windows(SECRET.len())
                .any(|window| window == SECRET.as_bytes());
            assert!(!found, "{}", path.display());
        }
    }
    assert!(files >= 3, "the database and the keys are there");
}

#[tokio::test]
async fn a_credential_that_may_be_revealed_is_revealed_to_its_tool_only_with_that_grant() {
    let server = TestServer::start().await.with_friendly().await;
    server.post("/v1/credentials", &body("example")).await;
    let ask = json!({ "name": "example" });
    assert_ne!(
        server.call("friendly/reveal", ask.clone()).await.outcome(),
        "ok"
    );
    server
        .grant(json!({ "component": "friendly", "capabilities": { "credentials": ["example"] } }))
        .await;
    assert_ne!(
        server.call("friendly/reveal", ask).await.outcome(),
        "ok",
        "using is not reading"
    );
}

#[tokio::test]
async fn a_credential_that_a_tool_may_read_is_kept_out_of_its_durable_state() {
    let server = TestServer::start().await.with_hostile().await;
    server.post("/v1/credentials", &body("example")).await;
    let capabilities = json!({ "state": true, "reveal": ["example"] });
    server
        .grant(json!({ "component": "hostile", "capabilities": capabilities }))
        .await;
    for in_key in [false, true] {
        let input = json!({ "name": "example", "in_key": in_key });
        let hoarded = server.call("hostile/hoard", input).await;
        assert_eq!(hoarded.outcome(), "denied", "{hoarded:?}");
        let denials = &hoarded.body["receipt"]["denials"];
        assert_eq!(denials[0]["capability"], "state", "{hoarded:?}");
        assert!(!hoarded.text.contains(SECRET), "{hoarded:?}");
    }
    let kept = server.call("hostile/hoard", json!({})).await;
    assert_eq!(kept.outcome(), "ok", "{kept:?}");
    assert_eq!(kept.body["output"]["content"], json!([]), "{kept:?}");
}

#[tokio::test]
async fn a_credential_of_the_same_name_is_replaced() {
    let server = TestServer::start().await;
    server.post("/v1/credentials", &body("example")).await;
    let mut other = body("example");
    other["placement"] = json!({ "type": "bearer" });
    other["automatic"] = true.into();
    assert_eq!(server.post("/v1/credentials", &other).await.status, 201);
    let listed = server.get("/v1/credentials").await.body;
    assert_eq!(listed.as_array().unwrap().len(), 1);
    assert_eq!(
        (&listed[0]["placement"], &listed[0]["automatic"]),
        (&json!({ "type": "bearer" }), &json!(true))
    );
}

#[tokio::test]
async fn malformed_credentials_are_refused_with_every_problem() {
    let server = TestServer::start().await;
    for (field, value, place) in [
        ("name", json!(""), "/name"),
        ("name", json!("*"), "/name"),
        ("secret", json!("short"), "/secret"),
        ("secret", json!("with\na break in it"), "/secret"),
        (
            "placement",
            json!({ "type": "header", "name": "no header" }),
            "/placement/name",
        ),
        (
            "placement",
            json!({ "type": "basic", "user": "a:b" }),
            "/placement/user",
        ),
        ("audience", json!([]), "/audience"),
    ] {
        let mut wrong = body("example");
        wrong[field] = value;
        let refused = server.post("/v1/credentials", &wrong).await;
        assert_eq!(refused.refusal(), (422, "invalid_credential"), "{field}");
        assert_eq!(refused.places(), [place]);
    }
    let mut unknown = body("example");
    unknown["placement"] = json!({ "type": "cookie" });
    assert_eq!(
        server.post("/v1/credentials", &unknown).await.refusal(),
        (422, "invalid_body")
    );
    assert_eq!(server.get("/v1/credentials").await.body, json!([]));
}
