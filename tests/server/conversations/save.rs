//! Conversations are made, changed, listed, copied and deleted.

use serde_json::{Value, json};

use super::{begun, conversation, path};
use crate::{
    clients::{agent, detail, each, made, on_both_databases, patched, read, text, told},
    support::TestServer,
};

/// The texts of the user in a list of messages.
async fn asked(server: &TestServer, path: &str) -> Vec<String> {
    let list = read(
        server,
        &format!("{path}?include_return_message_types=user_message"),
    )
    .await;
    each(&list, "content")
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[tokio::test]
async fn conversations_are_made_changed_listed_and_deleted() {
    for server in on_both_databases().await {
        let agent = agent(&server, json!({})).await;
        let first = conversation(&server, &agent, json!({ "summary": "Tea at five" })).await;
        for (field, expected) in [
            ("agent_id", json!(agent)),
            ("summary", json!("Tea at five")),
            ("isolated_block_ids", json!([])),
            ("model", Value::Null),
            ("model_settings", Value::Null),
            ("last_message_at", Value::Null),
        ] {
            assert_eq!(first[field], expected, "{field}");
        }
        assert!(text(&first["id"]).starts_with("conv-"));
        assert_eq!(first["in_context_message_ids"].as_array().unwrap().len(), 1);
        assert_eq!(read(&server, &path(&first)).await, first);
        let second = conversation(&server, &agent, json!({})).await;
        for (query, expected) in [
            (format!("?agent_id={agent}"), &[&second, &first][..]),
            (format!("?agent_id={agent}&order=asc"), &[&first, &second]),
            (format!("?agent_id={agent}&limit=1"), &[&second]),
            (format!("?after={}", text(&second["id"])), &[&first]),
            ("?summary_search=TEA".to_owned(), &[&first]),
            ("?agent_id=nobody".to_owned(), &[]),
        ] {
            let list = read(&server, &format!("/v1/conversations/{query}")).await;
            let expected: Vec<_> = expected.iter().map(|one| text(&one["id"])).collect();
            assert_eq!(each(&list, "id"), expected, "{query}");
        }

        let change = json!({ "summary": "Wine at ten", "model": "bulkhead/scripted" });
        let changed = patched(&server, &path(&first), &change).await;
        assert_eq!(
            (&changed["summary"], &changed["model"]),
            (&change["summary"], &change["model"])
        );
        let changed = patched(&server, &path(&first), &json!({ "summary": null })).await;
        assert_eq!(changed["summary"], "Wine at ten");

        told(&server, &format!("{}/messages", path(&first)), "say yes").await;
        assert!(read(&server, &path(&first)).await["last_message_at"].is_string());
        let newest = "/v1/conversations/?order_by=last_message_at&limit=1";
        assert_eq!(read(&server, newest).await[0]["id"], first["id"]);

        let deleted = server.delete(&path(&first)).await;
        assert_eq!(
            (deleted.status.as_u16(), &deleted.body),
            (200, &Value::Null)
        );
        assert_eq!(detail(&server.get(&path(&first)).await).0, 404);
        assert_eq!(detail(&server.delete(&path(&first)).await).0, 404);
        let list = read(&server, &format!("/v1/conversations/?agent_id={agent}")).await;
        assert_eq!(each(&list, "id"), [text(&second["id"])]);
    }
}

#[tokio::test]
async fn a_conversation_begins_with_the_memory_of_the_moment() {
    let server = TestServer::start().await;
    let blocks = json!([{ "label": "human", "value": "Ada, who likes tea" }]);
    let agent = agent(&server, json!({ "memory_blocks": blocks })).await;
    let note = json!({ "text": "a fact", "tags": ["facts"] });
    made(
        &server,
        &format!("/v1/agents/{agent}/archival-memory"),
        &note,
    )
    .await;
    let made = conversation(&server, &agent, json!({})).await;
    let messages = read(&server, &format!("{}/messages", path(&made))).await;
    let prompt = text(&messages[0]["content"]);
    let id = text(&made["id"]);
    for expected in [
        "Ada, who likes tea",
        &format!("- CONVERSATION_ID: {id}"),
        "- 1 memories are stored in archival memory",
    ] {
        assert!(prompt.contains(expected), "{expected}: {prompt}");
    }
}

#[tokio::test]
async fn isolated_blocks_are_copies_that_go_with_the_conversation() {
    let server = TestServer::start().await;
    let blocks = json!([
        { "label": "human", "value": "shared", "limit": 50 },
        { "label": "persona", "value": "A butler" },
    ]);
    let agent = agent(&server, json!({ "memory_blocks": blocks })).await;
    let body = json!({ "isolated_block_labels": ["human", "human"] });
    let own = conversation(&server, &agent, body).await;
    let ids = own["isolated_block_ids"].as_array().unwrap();
    assert_eq!(ids.len(), 1);
    let block = format!("/v1/blocks/{}", text(&ids[0]));
    let copy = read(&server, &block).await;
    assert_eq!(
        (&copy["value"], &copy["limit"]),
        (&json!("shared"), &json!(50))
    );

    patched(&server, &block, &json!({ "value": "of this one alone" })).await;
    let recompile = format!("{}/recompile", path(&own));
    let prompt = made(&server, &recompile, &json!({})).await;
    let prompt = text(&prompt);
    assert!(
        prompt.contains("of this one alone") && prompt.contains("A butler"),
        "{prompt}"
    );
    let memory = format!("/v1/agents/{agent}/core-memory/blocks/human");
    assert_eq!(read(&server, &memory).await["value"], "shared");

    server.delete(&path(&own)).await;
    assert_eq!(detail(&server.get(&block).await).0, 404);
    assert_eq!(read(&server, &memory).await["value"], "shared");
}

#[tokio::test]
async fn a_fork_goes_on_from_what_was_said_by_itself() {
    for server in on_both_databases().await {
        let agent = agent(&server, json!({ "include_base_tools": false })).await;
        let source = begun(&server, &agent).await;
        for text in ["say one", "say two"] {
            told(&server, &format!("{source}/messages"), text).await;
        }
        let fork = made(&server, &format!("{source}/fork"), &json!({})).await;
        let ids = |conversation: &Value| {
            conversation["in_context_message_ids"]
                .as_array()
                .unwrap()
                .clone()
        };
        let original = read(&server, &source).await;
        assert_eq!(ids(&fork)[1..], ids(&original)[1..]);
        assert_ne!(
            ids(&fork)[0],
            ids(&original)[0],
            "each has a system message of its own"
        );

        let forked = format!("{}/messages", path(&fork));
        told(&server, &forked, "say three").await;
        told(&server, &format!("{source}/messages"), "say four").await;
        let all = ["say three", "say two", "say one"];
        assert_eq!(asked(&server, &forked).await, all);
        let source = format!("{source}/messages");
        assert_eq!(
            asked(&server, &source).await,
            ["say four", "say two", "say one"]
        );

        // Pages go over what was taken over and what is new alike.
        let list = read(&server, &format!("{forked}?order=asc&limit=4")).await;
        let third = text(&list.as_array().unwrap().last().unwrap()["id"]).to_owned();
        let kinds = each(&list, "message_type");
        assert_eq!(
            kinds,
            [
                "user_message",
                "assistant_message",
                "user_message",
                "assistant_message"
            ]
        );
        let rest = read(&server, &format!("{forked}?order=asc&after={third}")).await;
        let kinds = each(&rest, "message_type");
        assert_eq!(
            kinds,
            ["system_message", "user_message", "assistant_message"]
        );
        let older = read(&server, &format!("{forked}?before={third}&limit=1")).await;
        assert_eq!(each(&older, "content"), ["say two"]);

        server
            .delete(source.strip_suffix("/messages").unwrap())
            .await;
        assert_eq!(asked(&server, &forked).await, all);
        told(&server, &forked, "say five").await;
    }
}

#[tokio::test]
async fn an_agents_own_thread_can_be_forked() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({ "include_base_tools": false })).await;
    told(&server, &format!("/v1/agents/{agent}/messages"), "say one").await;
    for source in [
        format!("/v1/conversations/default/fork?agent_id={agent}"),
        format!("/v1/conversations/{agent}/fork"),
    ] {
        let fork = made(&server, &source, &json!({})).await;
        assert_eq!(fork["agent_id"], json!(agent));
        let messages = format!("{}/messages", path(&fork));
        assert_eq!(asked(&server, &messages).await, ["say one"], "{source}");
    }
}
