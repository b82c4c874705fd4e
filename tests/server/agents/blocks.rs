//! Memory blocks: by themselves, shared by agents, and in their system messages.

use serde_json::json;

use super::{
    NOBODY, agent, detail, each, made, on_both_databases, patched, path, read, text, touched,
};
use crate::support::TestServer;

/// An agent's system message.
async fn prompt(server: &TestServer, agent: &serde_json::Value) -> String {
    let context = read(server, &format!("{}/context", path(agent))).await;
    let messages = read(
        server,
        &format!("{}/messages?limit=1&order=asc", path(agent)),
    )
    .await;
    assert_eq!(messages[0]["message_type"], "system_message", "{context}");
    text(&messages[0]["content"]).to_owned()
}

#[tokio::test]
async fn a_block_has_every_field_and_reads_back() {
    for server in on_both_databases().await {
        let least = made(
            &server,
            "/v1/blocks/",
            &json!({ "label": "human", "value": "x" }),
        )
        .await;
        for (field, expected) in [
            ("limit", json!(100_000)),
            ("read_only", json!(false)),
            ("metadata", json!({})),
            ("tags", json!([])),
            ("is_template", json!(false)),
            ("preserve_on_migration", json!(false)),
            ("hidden", json!(null)),
            ("created_by_id", json!(null)),
            ("project_id", json!(null)),
        ] {
            assert_eq!(least[field], expected, "{field}");
        }
        assert!(!text(&least["description"]).is_empty());
        let body = json!({
            "label": "Notes-1/a", "value": "längerer Text", "limit": 3, "read_only": true,
            "description": "d", "metadata": { "k": [1] }, "tags": ["t"], "project_id": "p",
            "is_template": true, "template_name": "n", "hidden": false,
            "preserve_on_migration": true,
        });
        let most = made(&server, "/v1/blocks/", &body).await;
        for (field, expected) in body.as_object().unwrap() {
            assert_eq!(most[field], *expected, "{field}");
        }
        let one = format!("/v1/blocks/{}", text(&most["id"]));
        assert_eq!(read(&server, &one).await, most);
        let other = made(
            &server,
            "/v1/blocks/",
            &json!({ "label": "x", "value": "" }),
        )
        .await;
        assert_eq!(other["description"], json!(null));
        assert_eq!(server.delete(&one).await.body, json!(null));
        let gone = format!("Block with id '{}' not found", text(&most["id"]));
        assert_eq!(detail(&server.get(&one).await), (404, &*gone));
        assert_eq!(detail(&server.delete(&one).await), (404, &*gone));
        let patch = server.patch(&one, &json!({ "value": "y" })).await;
        assert_eq!(detail(&patch), (404, &*gone));
    }
}

#[tokio::test]
async fn every_filter_of_the_list_selects() {
    for server in on_both_databases().await {
        let identity = json!({ "identifier_key": "k", "name": "Ada", "identity_type": "user" });
        let identity = made(&server, "/v1/identities/", &identity).await;
        let mut ids = Vec::new();
        for body in [
            json!({ "label": "human", "value": "likes tea", "tags": ["a", "b"] }),
            json!({ "label": "human", "value": "likes wine", "tags": ["b"], "project_id": "p" }),
            json!({ "label": "team", "value": "x", "description": "Who is there", "is_template": true, "template_name": "crew 1" }),
            json!({ "label": "secret", "value": "y", "hidden": true }),
        ] {
            let block = made(&server, "/v1/blocks/", &body).await;
            ids.push(text(&block["id"]).to_owned());
        }
        let (identity, mine) = (text(&identity["id"]), &ids[1]);
        let attach = format!("/v1/blocks/{mine}/identities/attach/{identity}");
        assert_eq!(touched(&server, &attach).await.body["id"], **mine);
        agent(&server, json!({ "block_ids": [ids[0]] })).await;
        agent(&server, json!({ "block_ids": [ids[0], ids[2]] })).await;
        for (query, expected) in [
            (String::new(), &[0, 1, 2][..]),
            ("order=desc".to_owned(), &[2, 1, 0]),
            ("label=human".to_owned(), &[0, 1]),
            ("label_search=EA".to_owned(), &[2]),
            ("value_search=TEA".to_owned(), &[0]),
            ("description_search=who".to_owned(), &[2]),
            ("templates_only=true".to_owned(), &[2]),
            ("name=crew 1".to_owned(), &[2]),
            ("tags=a&tags=b".to_owned(), &[0, 1]),
            ("tags=a&tags=b&match_all_tags=true".to_owned(), &[0]),
            ("project_id=p".to_owned(), &[1]),
            (format!("identity_id={identity}"), &[1]),
            ("identifier_keys=k".to_owned(), &[1]),
            ("connected_to_agents_count_gt=1".to_owned(), &[0]),
            ("connected_to_agents_count_lt=1".to_owned(), &[1]),
            (
                "connected_to_agents_count_eq=0&connected_to_agents_count_eq=1".to_owned(),
                &[1, 2],
            ),
            ("limit=1".to_owned(), &[0]),
            (format!("after={}", ids[0]), &[1, 2]),
            (format!("before={}", ids[1]), &[0]),
        ] {
            let list = read(&server, &format!("/v1/blocks/?{query}")).await;
            let expected: Vec<_> = expected
                .iter()
                .map(|at: &usize| ids[*at].as_str())
                .collect();
            assert_eq!(each(&list, "id"), expected, "{query}");
        }
        assert_eq!(read(&server, "/v1/blocks/count?label=human").await, 2);
        let detach = format!("/v1/blocks/{mine}/identities/detach/{identity}");
        touched(&server, &detach).await;
        let left = read(&server, &format!("/v1/blocks/?identity_id={identity}")).await;
        assert_eq!(left, json!([]));
        let agents = read(
            &server,
            &format!("/v1/blocks/{}/agents?include=agent.blocks", ids[0]),
        )
        .await;
        assert_eq!(agents.as_array().unwrap().len(), 2);
        assert_eq!(agents[0]["blocks"].as_array().unwrap().len(), 2);
    }
}

#[tokio::test]
async fn a_change_of_a_shared_block_rewrites_the_prompt_of_every_agent_that_has_it() {
    for server in on_both_databases().await {
        let shared = json!({ "label": "team", "value": "Ada", "read_only": true });
        let shared = made(&server, "/v1/blocks/", &shared).await;
        let body = json!({ "block_ids": [shared["id"]] });
        let agents = [
            agent(&server, body.clone()).await,
            agent(&server, body).await,
        ];
        let by_id = format!("/v1/blocks/{}", text(&shared["id"]));
        // What is read-only is so for tools.
        let changed = patched(&server, &by_id, &json!({ "value": "Ada, Bo" })).await;
        assert_eq!(
            (&changed["value"], &changed["read_only"]),
            (&json!("Ada, Bo"), &json!(true))
        );
        for agent in &agents {
            assert!(prompt(&server, agent).await.contains("Ada, Bo"));
            assert_eq!(
                prompt(&server, agent)
                    .await
                    .matches("- read_only=true")
                    .count(),
                1
            );
        }
        let by_label = format!("{}/core-memory/blocks/team", path(&agents[0]));
        let changed = patched(&server, &by_label, &json!({ "value": "Cy", "limit": 2 })).await;
        assert_eq!(read(&server, &by_label).await, changed);
        for agent in &agents {
            let prompt = prompt(&server, agent).await;
            assert!(prompt.contains("Cy") && !prompt.contains("Ada"), "{prompt}");
            assert!(prompt.contains("- chars_limit=2\n"), "{prompt}");
        }
        // A value may be longer than its limit.
        let long = patched(&server, &by_label, &json!({ "value": "longer" })).await;
        assert_eq!(
            (&long["value"], &long["limit"]),
            (&json!("longer"), &json!(2))
        );
    }
}

#[tokio::test]
async fn blocks_come_and_go_and_the_prompt_follows_when_it_is_made_anew() {
    for server in on_both_databases().await {
        let body = json!({ "memory_blocks": [{ "label": "human", "value": "Bob" }] });
        let agent = agent(&server, body).await;
        let block = made(
            &server,
            "/v1/blocks/",
            &json!({ "label": "team", "value": "Ada" }),
        )
        .await;
        let blocks = format!("{}/core-memory/blocks", path(&agent));
        let attach = format!("{blocks}/attach/{}", text(&block["id"]));
        for _ in 0..2 {
            let attached = touched(&server, &attach).await;
            assert_eq!(each(&attached.body["blocks"], "label"), ["human", "team"]);
        }
        assert!(!prompt(&server, &agent).await.contains("Ada"));
        let list = read(&server, &blocks).await;
        assert_eq!(each(&list, "label"), ["team", "human"]);
        let list = read(&server, &format!("{blocks}?order=asc&limit=1")).await;
        assert_eq!(each(&list, "label"), ["human"]);
        server
            .post(&format!("{}/recompile", path(&agent)), &json!({}))
            .await;
        assert!(prompt(&server, &agent).await.contains("Ada"));
        let detach = format!("{blocks}/detach/{}", text(&block["id"]));
        let detached = touched(&server, &detach).await;
        assert_eq!(each(&detached.body["blocks"], "label"), ["human"]);
        assert!(prompt(&server, &agent).await.contains("Ada"));
        let missing = format!(
            "No block with id '{}' found for agent '{}'",
            text(&block["id"]),
            text(&agent["id"])
        );
        assert_eq!(detail(&touched(&server, &detach).await), (404, &*missing));
        let gone = server.get(&format!("{blocks}/team")).await;
        let missing = format!(
            "No block with label 'team' found for agent '{}'",
            text(&agent["id"])
        );
        assert_eq!(detail(&gone), (404, &*missing));
    }
}

#[tokio::test]
async fn an_agent_has_each_label_once() {
    for server in on_both_databases().await {
        let body = json!({ "memory_blocks": [{ "label": "human", "value": "Bob" }] });
        let agent = agent(&server, body).await;
        let other = made(
            &server,
            "/v1/blocks/",
            &json!({ "label": "human", "value": "Eve" }),
        )
        .await;
        let attach = format!(
            "{}/core-memory/blocks/attach/{}",
            path(&agent),
            text(&other["id"])
        );
        let both = json!({
            "memory_blocks": [{ "label": "human", "value": "x" }], "block_ids": [other["id"]],
            "model": super::SCRIPTED,
        });
        for refused in [
            touched(&server, &attach).await,
            server.post("/v1/agents/", &both).await,
        ] {
            let (status, text) = detail(&refused);
            assert_eq!(status, 409, "{text}");
            assert!(
                text.starts_with("A unique constraint was violated for BlocksAgents."),
                "{text}"
            );
            assert_eq!(refused.headers["x-should-retry"], "false");
        }
        let unknown = format!("block-{NOBODY}");
        let body = json!({ "block_ids": [unknown], "model": super::SCRIPTED });
        let (status, text) = super::post_detail(&server, "/v1/agents/", &body).await;
        assert_eq!(status, 409);
        assert!(
            text.starts_with("A foreign key constraint was violated") && text.contains(&unknown),
            "{text}"
        );
        let attach = format!("{}/core-memory/blocks/attach/{unknown}", path(&agent));
        let missing = format!("Block with id '{unknown}' not found");
        assert_eq!(detail(&touched(&server, &attach).await), (404, &*missing));
    }
}

#[tokio::test]
async fn a_deleted_block_is_taken_from_its_agents() {
    let server = TestServer::start().await;
    let block = made(
        &server,
        "/v1/blocks/",
        &json!({ "label": "team", "value": "Ada" }),
    )
    .await;
    let agent = agent(&server, json!({ "block_ids": [block["id"]] })).await;
    server
        .delete(&format!("/v1/blocks/{}", text(&block["id"])))
        .await;
    let after = read(&server, &format!("{}?include=agent.blocks", path(&agent))).await;
    assert_eq!(after["blocks"], json!([]));
}
