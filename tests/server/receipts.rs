//! Receipts by id and by filter.

use bulkhead_store::testing::Kind;
use serde_json::json;

use crate::support::TestServer;

#[tokio::test]
async fn receipts_are_found_by_every_filter_and_page_by_page() {
    for kind in [Kind::Sqlite, Kind::Postgres] {
        let Some(server) = TestServer::start_kind(kind).await else {
            continue;
        };
        let server = server.with_friendly().await;
        for i in 0..5 {
            let body = json!({ "input": { "left": i, "right": 1 }, "agent_id": format!("agent-{}", i % 2) });
            assert_eq!(server.call_with("friendly/add", body).await.outcome(), "ok");
        }
        server
            .call("friendly/fail", json!({ "kind": "denied" }))
            .await;
        let count = async |query: &str| {
            let listed = server.get(&format!("/v1/receipts?{query}")).await;
            assert_eq!(listed.status, 200, "{listed:?}");
            listed.body.as_array().unwrap().len()
        };
        let digest = server.get("/v1/components/friendly").await.body["digest"]
            .as_str()
            .unwrap()
            .to_owned();
        assert_eq!(count("").await, 6);
        assert_eq!(count(&format!("digest={digest}")).await, 6);
        assert_eq!(count("tool=add").await, 5);
        assert_eq!(count("agent_id=agent-0").await, 3);
        assert_eq!(count("outcome=ok").await, 5);
        assert_eq!(count("outcome=out_of_fuel").await, 0);
        assert_eq!(count("since=2001-01-01T00:00:00Z").await, 6);
        assert_eq!(count("until=2001-01-01T00:00:00Z").await, 0);
        let mut seen = Vec::new();
        let mut query = "limit=2".to_owned();
        loop {
            let page = server.get(&format!("/v1/receipts?{query}")).await.body;
            let page = page.as_array().unwrap();
            let Some(last) = page.last() else { break };
            query = format!("limit=2&after={}", last["id"].as_str().unwrap());
            seen.extend(
                page.iter()
                    .map(|receipt| receipt["id"].as_str().unwrap().to_owned()),
            );
        }
        let all = seen.len();
        seen.sort();
        seen.dedup();
        assert_eq!((all, seen.len()), (6, 6));
    }
}

#[tokio::test]
async fn a_receipt_can_be_read_as_soon_as_its_call_was_answered() {
    let server = TestServer::start().await.with_friendly().await;
    for i in 0..20 {
        let called = server
            .call("friendly/add", json!({ "left": i, "right": i }))
            .await;
        let id = called.body["receipt"]["id"].as_str().unwrap();
        assert_eq!(server.get(&format!("/v1/receipts/{id}")).await.status, 200);
    }
}
