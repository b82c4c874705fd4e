//! Lists of agents: which ones, in which order, in pages.

use serde_json::{Value, json};

use super::{agent, each, made, on_both_databases, read, text};
use crate::support::TestServer;

/// The names of a list.
async fn names(server: &TestServer, query: &str) -> Vec<String> {
    let list = read(server, &format!("/v1/agents/?{query}")).await;
    each(&list, "name").into_iter().map(str::to_owned).collect()
}

/// Four agents, the last one hidden.
async fn four(server: &TestServer) -> Vec<Value> {
    let identity = json!({ "identifier_key": "acme", "name": "Acme", "identity_type": "org" });
    let identity = made(server, "/v1/identities/", &identity).await;
    let bodies = [
        json!({ "name": "Ant", "tags": ["a", "b"], "project_id": "p1" }),
        json!({ "name": "Bee one", "tags": ["b"], "identity_ids": [identity["id"]] }),
        json!({ "name": "bee two", "tags": ["c"] }),
        json!({ "name": "Ghost", "tags": ["a"], "hidden": true }),
    ];
    let mut agents = Vec::new();
    for body in bodies {
        agents.push(agent(server, body).await);
    }
    agents
}

#[tokio::test]
async fn every_filter_selects() {
    for server in on_both_databases().await {
        let agents = four(&server).await;
        let identity = text(&read(&server, "/v1/identities/").await[0]["id"]).to_owned();
        for (query, expected) in [
            (String::new(), &["bee two", "Bee one", "Ant"][..]),
            ("order=asc".to_owned(), &["Ant", "Bee one", "bee two"]),
            ("ascending=true".to_owned(), &["Ant", "Bee one", "bee two"]),
            ("order=asc&limit=2".to_owned(), &["Ant", "Bee one"]),
            ("name=Bee one".to_owned(), &["Bee one"]),
            ("name=bee".to_owned(), &[]),
            (
                "query_text=BEE&order=asc".to_owned(),
                &["Bee one", "bee two"],
            ),
            ("tags=a&tags=c&order=asc".to_owned(), &["Ant", "bee two"]),
            ("tags=a&tags=b&match_all_tags=true".to_owned(), &["Ant"]),
            ("project_id=p1".to_owned(), &["Ant"]),
            (format!("identity_id={identity}"), &["Bee one"]),
            ("identity_id=nonsense".to_owned(), &[]),
            (
                "identifier_keys=acme&identifier_keys=x".to_owned(),
                &["Bee one"],
            ),
            ("last_stop_reason=end_turn".to_owned(), &[]),
            ("created_by_id=user-1".to_owned(), &[]),
            ("show_hidden_agents=true&limit=1".to_owned(), &["Ghost"]),
            (
                format!("order=asc&after={}", text(&agents[0]["id"])),
                &["Bee one", "bee two"],
            ),
            (
                format!("after={}", text(&agents[2]["id"])),
                &["Bee one", "Ant"],
            ),
            (
                format!("before={}", text(&agents[0]["id"])),
                &["bee two", "Bee one"],
            ),
        ] {
            assert_eq!(names(&server, &query).await, expected, "{query}");
        }
        for (query, expected) in [
            ("", 3),
            ("tags=b", 2),
            ("query_text=bee", 2),
            ("show_hidden_agents=true", 4),
            ("identity_id=nonsense", 0),
        ] {
            assert_eq!(
                read(&server, &format!("/v1/agents/count?{query}")).await,
                expected
            );
        }
    }
}

#[tokio::test]
async fn agents_are_ordered_by_their_last_change_where_that_is_asked_for() {
    let server = TestServer::start().await;
    let agents = four(&server).await;
    super::patched(
        &server,
        &super::path(&agents[0]),
        &json!({ "description": "new" }),
    )
    .await;
    assert_eq!(names(&server, "order_by=updated_at").await[0], "Ant");
    assert_eq!(names(&server, "sort_by=updated_at").await[0], "Ant");
    assert_eq!(names(&server, "").await[0], "bee two");
}

#[tokio::test]
async fn tags_are_those_of_all_agents_in_alphabetical_order() {
    for server in on_both_databases().await {
        four(&server).await;
        for (query, expected) in [
            ("", json!(["a", "b", "c"])),
            ("order=desc", json!(["c", "b", "a"])),
            ("limit=1", json!(["a"])),
            ("after=a", json!(["b", "c"])),
            ("before=b", json!(["a"])),
            ("query_text=B", json!(["b"])),
            ("name=c", json!(["c"])),
            ("name=nothing", json!([])),
        ] {
            assert_eq!(
                read(&server, &format!("/v1/tags/?{query}")).await,
                expected,
                "{query}"
            );
        }
    }
}
