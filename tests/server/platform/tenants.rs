//! What users of the platform see of `/v1`: what they made, and nothing of what others made.

use std::collections::BTreeMap;

use reqwest::Method;
use serde_json::{Value, json};

use super::Person;
use crate::{
    both::on_both,
    clients::{NOBODY, SCRIPTED, text},
    messages::memory::with_tools,
    support::TestServer,
};

/// Things of somebody, by the names that paths have for their ids.
async fn things(server: &TestServer, person: &Person) -> BTreeMap<&'static str, String> {
    let made = async |path: &str, body: Value| {
        let made = person.post(server, path, &body).await;
        assert_eq!(made.status, 200, "{path}: {made:?}");
        made.body
    };
    let agent = json!({ "model": SCRIPTED, "tags": ["private-tag"],
        "memory_blocks": [{ "label": "human", "value": "private" }] });
    let agent = made("/v1/agents/", agent).await;
    let agent_id = text(&agent["id"]).to_owned();
    let block = made(
        "/v1/blocks/",
        json!({ "label": "notes", "value": "private" }),
    )
    .await;
    let archive = made("/v1/archives/", json!({ "name": "private" })).await;
    let archive_id = text(&archive["id"]).to_owned();
    let passage = made(
        &format!("/v1/archives/{archive_id}/passages"),
        json!({ "text": "private" }),
    )
    .await;
    let conversation = made(
        &format!("/v1/conversations/?agent_id={agent_id}"),
        json!({}),
    )
    .await;
    let group = json!({ "agent_ids": [agent_id], "description": "private" });
    let group = made("/v1/groups/", group).await;
    let input = json!({ "input": "private", "streaming": false });
    let answer = made(&format!("/v1/agents/{agent_id}/messages"), input).await;
    let message = answer["messages"][0].clone();
    let config =
        json!({ "embedding_endpoint_type": "openai", "embedding_model": "m", "embedding_dim": 8 });
    let folder = json!({ "name": "private", "embedding_config": config });
    let folder = made("/v1/folders/", folder).await;
    let runs = person
        .get(server, &format!("/v1/runs/?agent_id={agent_id}"))
        .await
        .body;
    BTreeMap::from([
        ("block_id", text(&block["id"]).to_owned()),
        ("group_id", text(&group["id"]).to_owned()),
        ("archive_id", archive_id),
        ("folder_id", text(&folder["id"]).to_owned()),
        ("source_id", text(&folder["id"]).to_owned()),
        ("passage_id", text(&passage["id"]).to_owned()),
        ("memory_id", text(&passage["id"]).to_owned()),
        ("conversation_id", text(&conversation["id"]).to_owned()),
        ("message_id", text(&message["id"]).to_owned()),
        ("step_id", text(&message["step_id"]).to_owned()),
        ("run_id", text(&runs[0]["id"]).to_owned()),
        ("agent_id", agent_id),
    ])
}

/// The path with these ids in it; other parameters get a word.
fn filled(path: &str, ids: &BTreeMap<&str, String>) -> String {
    let parts = path.split('/').map(|part| {
        let name = part
            .strip_prefix('{')
            .and_then(|part| part.strip_suffix('}'));
        name.map_or(part.to_owned(), |name| {
            ids.get(name).cloned().unwrap_or_else(|| "human".to_owned())
        })
    });
    parts.collect::<Vec<_>>().join("/")
}

on_both! {
    async fn nobody_sees_or_changes_anything_of_somebody_else(server) {
        let ada = Person::new(&server, "ada").await;
        let bob = Person::new(&server, "bob").await;
        let of_ada = things(&server, &ada).await;
        let fresh: BTreeMap<_, _> = of_ada
            .iter()
            .map(|(name, id)| (*name, format!("{}-{NOBODY}", id.split('-').next().unwrap())))
            .collect();
        let document = server.get("/openapi.json").await.body;
        let mut asked = 0;
        for (path, methods) in document["paths"].as_object().unwrap() {
            if path.starts_with("/api/") || path.ends_with("/ws") || path.contains("health") || path.contains("ready") {
                continue;
            }
            for method in methods.as_object().unwrap().keys() {
                let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
                let body = (method != Method::GET && method != Method::DELETE).then(|| json!({}));
                let target = filled(path, &of_ada);
                let answer = super::ask(&server, Some(&bob.token), method.clone(), &target, body.as_ref()).await;
                asked += 1;
                let is_new = method == Method::POST && answer.status.is_success();
                for id in of_ada.values() {
                    let is_echo = answer.status.is_client_error() && target.contains(id.as_str());
                    assert!(is_echo || !answer.text.contains(id.as_str()), "{method} {target}: {answer:?}");
                }
                assert!(!answer.text.contains("private"), "{method} {target}: {answer:?}");
                if target == *path || is_new {
                    continue;
                }
                // As if it were not there, to the letter.
                let nothing = filled(path, &fresh);
                let none = super::ask(&server, Some(&bob.token), method.clone(), &nothing, body.as_ref()).await;
                let mut expected = none.text;
                for (name, id) in &fresh {
                    expected = expected.replace(id.as_str(), &of_ada[name]);
                }
                assert_eq!((answer.status, &answer.text), (none.status, &expected), "{method} {target}");
                assert!(!answer.status.is_server_error(), "{method} {target}: {answer:?}");
            }
        }
        assert!(asked > 150, "{asked}");
        for (path, name) in [
            ("/v1/agents/", "agent_id"), ("/v1/blocks/", "block_id"), ("/v1/archives/", "archive_id"), ("/v1/folders/", "folder_id"), ("/v1/sources/", "source_id"),
            ("/v1/runs/", "run_id"), ("/v1/steps/", "step_id"), ("/v1/messages/", "message_id"),
            ("/v1/conversations/", "conversation_id"),
        ] {
            let own = ada.get(&server, path).await;
            assert!(own.text.contains(&of_ada[name]), "{path}: {own:?}");
        }
    }

    async fn nobody_speaks_in_the_name_of_a_group_of_somebody_else(server) {
        let ada = Person::new(&server, "ada").await;
        let bob = Person::new(&server, "bob").await;
        let (of_ada, of_bob) = (things(&server, &ada).await, things(&server, &bob).await);
        let messages = format!("/v1/agents/{}/messages", of_bob["agent_id"]);
        for (group, count) in [(&of_bob["group_id"], 1), (&of_ada["group_id"], 0)] {
            let message = json!({ "role": "user", "content": "hello", "group_id": group });
            let sent = bob.post(&server, &messages, &json!({ "messages": [message] })).await;
            assert_eq!(sent.status, 200, "{sent:?}");
            // The installation sees all that there is.
            for path in [format!("/v1/groups/{group}/messages"), format!("/v1/messages/?group_id={group}")] {
                let listed = server.get(&path).await.body;
                assert_eq!(listed.as_array().unwrap().len(), count, "{path}: {listed}");
            }
        }
    }

    async fn an_id_is_not_hidden_by_the_way_in_which_it_is_written(server) {
        let ada = Person::new(&server, "ada").await;
        let bob = Person::new(&server, "bob").await;
        let of_ada = things(&server, &ada).await;
        for (path, name) in [
            ("/v1/agents/", "agent_id"), ("/latest/agents/", "agent_id"), ("/v1/blocks/", "block_id"),
            ("/v1/runs/", "run_id"), ("/v1/conversations/", "conversation_id"), ("/v1/steps/", "step_id"),
        ] {
            let id = &of_ada[name];
            let (kind, uuid) = id.split_once('-').unwrap();
            for other in [
                id.replace('-', "%2D"),
                format!("%{:02x}{}", id.as_bytes()[0], &id[1..]),
                format!("{kind}-{}", uuid.to_uppercase()),
                format!("{kind}-{}", uuid.replace('-', "")),
                format!("{kind}-%7B{uuid}%7D"),
                format!("{kind}-urn:uuid:{uuid}"),
            ] {
                let answer = bob.get(&server, &format!("{path}{other}")).await;
                assert!(answer.status.is_client_error(), "{path}{other}: {answer:?}");
                assert!(!answer.text.contains("private"), "{answer:?}");
            }
        }
        let id = of_ada["agent_id"].replace('-', "%2D");
        for path in ["/v1/runs/?agent_id=", "/v1/steps/?agent_id=", "/v1/conversations/?agent_id=",
            "/v1/conversations/default/messages?agent_id="] {
            let answer = bob.get(&server, &format!("{path}{id}")).await;
            assert!(answer.status.is_client_error() || answer.body == json!([]), "{path}: {answer:?}");
        }
        let plain = of_ada["block_id"].replace('-', "").replace("block", "block-");
        let body = json!({ "model": SCRIPTED, "block_ids": [plain] });
        let refused = bob.post(&server, "/v1/agents/", &body).await;
        assert!(refused.status.is_client_error(), "{refused:?}");
    }

    async fn a_word_of_a_route_that_is_written_otherwise_leads_nowhere(server) {
        let bob = Person::new(&server, "bob").await;
        let document = server.get("/openapi.json").await.body;
        let mut asked = 0;
        for (path, methods) in document["paths"].as_object().unwrap() {
            if path.contains('{') || !path.starts_with("/v1/") {
                continue;
            }
            for method in methods.as_object().unwrap().keys() {
                let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
                let body = (method != Method::GET).then(|| json!({}));
                let ask = async |path: &str| super::ask(&server, Some(&bob.token), method.clone(), path, body.as_ref()).await;
                if ask(path).await.status != 403 {
                    continue;
                }
                for word in path.split('/').skip(2).filter(|word| !word.is_empty()) {
                    let encoded = format!("/%{:02x}{}", word.as_bytes()[0], &word[1..]);
                    let [otherwise, nonsense] = [&encoded, "/nonsense"]
                        .map(|other| path.replacen(&format!("/{word}"), other, 1));
                    let (otherwise, nonsense) = (ask(&otherwise).await, ask(&nonsense).await);
                    assert_eq!(otherwise.status, nonsense.status, "{method} {path} {word}: {otherwise:?}");
                    asked += 1;
                }
            }
        }
        assert!(asked > 30, "{asked}");
    }

    async fn ids_of_others_in_a_body_are_ids_of_nothing(server) {
        let ada = Person::new(&server, "ada").await;
        let bob = Person::new(&server, "bob").await;
        let of_ada = things(&server, &ada).await;
        let of_bob = things(&server, &bob).await;
        let with = |block: &str| json!({ "model": SCRIPTED, "block_ids": [block] });
        let refused = bob.post(&server, "/v1/agents/", &with(&of_ada["block_id"])).await;
        let none = bob.post(&server, "/v1/agents/", &with(&format!("block-{NOBODY}"))).await;
        assert_eq!(refused.status, none.status);
        assert_eq!(refused.text, none.text.replace(&format!("block-{NOBODY}"), &of_ada["block_id"]));
        let attach = format!("/v1/agents/{}/core-memory/blocks/attach/{}", of_bob["agent_id"], of_ada["block_id"]);
        let refused = bob.ask(&server, Method::PATCH, &attach).await;
        assert_eq!(refused.status, 404, "{refused:?}");
        let filter = format!("/v1/runs/?agent_id={}", of_ada["agent_id"]);
        assert_eq!(bob.get(&server, &filter).await.body, json!([]));
        let completion = json!({ "model": of_ada["agent_id"], "stream": true, "messages": [{ "role": "user", "content": "x" }] });
        let refused = bob.post(&server, "/v1/chat/completions", &completion).await;
        assert_eq!(refused.status, 404, "{refused:?}");
        let own = with(&of_bob["block_id"]);
        assert_eq!(bob.post(&server, "/v1/agents/", &own).await.status, 200);
    }

    async fn what_a_client_keeps_is_kept_as_given_whatever_it_looks_like(server) {
        let ada = Person::new(&server, "ada").await;
        let bob = Person::new(&server, "bob").await;
        let of_ada = things(&server, &ada).await;
        let foreign = &of_ada["agent_id"];
        let metadata = json!({ "peer_id": foreign, "deeper": [{ "block_ids": [of_ada["block_id"]] }] });
        // Something else of the body is replaced, and this is not.
        let block = json!({ "label": "notes", "value": foreign, "metadata": metadata, "project_id": foreign });
        let block = bob.post(&server, "/v1/blocks/", &block).await;
        assert_eq!(block.status, 200, "{block:?}");
        let block = bob.get(&server, &format!("/v1/blocks/{}", text(&block.body["id"]))).await.body;
        assert_eq!((&block["metadata"], &block["value"]), (&metadata, &json!(foreign)));
        let agent = json!({ "model": SCRIPTED, "metadata": metadata, "secrets": { "PEER_id": foreign } });
        let agent = bob.post(&server, "/v1/agents/", &agent).await;
        assert_eq!(agent.body["metadata"], metadata, "{agent:?}");
        assert!(agent.text.contains(foreign.as_str()), "{agent:?}");
    }

    async fn the_installation_is_not_a_users(server) {
        let ada = Person::new(&server, "ada").await;
        let root = Person::superuser(&server, "root").await;
        for path in ["/v1/components", "/v1/grants", "/v1/credentials", "/v1/receipts", "/metrics", "/v1/providers/"] {
            assert_eq!(ada.get(&server, path).await.refusal(), (403, "forbidden"), "{path}");
            assert_eq!(root.get(&server, path).await.status, 200, "{path}");
        }
        let tool = json!({ "source_code": "def f():\n    \"\"\"Does.\"\"\"\n" });
        assert_eq!(ada.post(&server, "/v1/tools/", &tool).await.refusal(), (403, "forbidden"));
        assert_eq!(ada.get(&server, "/v1/tools/").await.status, 200);
        let of_ada = things(&server, &ada).await;
        let seen = root.get(&server, &format!("/v1/agents/{}", of_ada["agent_id"])).await;
        assert_eq!(seen.body["created_by_id"], json!(ada.id), "{seen:?}");
    }
}

#[tokio::test]
async fn an_agent_does_not_reach_agents_of_somebody_else() {
    // The tools by which agents speak to each other come with the server.
    let server = with_tools().await;
    let ada = Person::new(&server, "ada").await;
    let bob = Person::new(&server, "bob").await;
    let made = async |person: &Person, body: Value| {
        let made = person.post(&server, "/v1/agents/", &body).await;
        assert_eq!(made.status, 200, "{made:?}");
        text(&made.body["id"]).to_owned()
    };
    let plain = json!({ "model": SCRIPTED, "tags": ["worker"] });
    let of_ada = made(&ada, plain.clone()).await;
    let of_nobody = crate::clients::agent(&server, plain.clone()).await;
    let other_of_bob = made(&bob, plain).await;
    let asks = json!({ "model": SCRIPTED, "include_multi_agent_tools": true });
    let asks = made(&bob, asks).await;
    for (target, is_reached) in [(&of_ada, false), (&of_nobody, false), (&other_of_bob, true)] {
        let call = json!({ "message": "hello", "other_agent_id": target });
        let input = json!({ "streaming": false,
            "input": format!("call send_message_to_agent_and_wait_for_reply with {call}") });
        let answer = bob
            .post(&server, &format!("/v1/agents/{asks}/messages"), &input)
            .await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let heard = server.get(&format!("/v1/agents/{target}/messages")).await;
        assert_eq!(
            heard.text.contains("Incoming message"),
            is_reached,
            "{heard:?}"
        );
    }
    let call = json!({ "message": "tagged", "match_all": ["worker"], "match_some": [] });
    let input = json!({ "streaming": false,
        "input": format!("call send_message_to_agents_matching_tags with {call}") });
    let answer = bob
        .post(&server, &format!("/v1/agents/{asks}/messages"), &input)
        .await;
    assert!(answer.text.contains(other_of_bob.as_str()), "{answer:?}");
    for id in [&of_ada, &of_nobody] {
        let heard = server.get(&format!("/v1/agents/{id}/messages")).await;
        assert!(!heard.text.contains("tagged"), "{heard:?}");
    }
}

#[tokio::test]
async fn agents_of_other_people_take_no_place_among_those_that_are_asked() {
    let server = with_tools().await;
    let ada = Person::new(&server, "ada").await;
    let tagged = json!({ "model": SCRIPTED, "tags": ["worker"], "include_base_tools": false });
    // As many as one call may ask, and older than the one that is meant.
    for _ in 0..50 {
        let made = ada.post(&server, "/v1/agents/", &tagged).await;
        assert_eq!(made.status, 200, "{made:?}");
    }
    let other = json!({ "model": SCRIPTED, "tags": ["worker", "night"] });
    let of_nobody = crate::clients::agent(&server, other).await;
    let asks = json!({ "model": SCRIPTED, "include_multi_agent_tools": true });
    let asks = crate::clients::agent(&server, asks).await;
    for (all, some) in [(vec!["worker"], vec![]), (vec!["worker"], vec!["night"])] {
        let call = json!({ "message": "tagged", "match_all": all, "match_some": some });
        let input = json!({ "streaming": false,
            "input": format!("call send_message_to_agents_matching_tags with {call}") });
        let answer = server
            .post(&format!("/v1/agents/{asks}/messages"), &input)
            .await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(answer.text.contains(of_nobody.as_str()), "{answer:?}");
    }
    let heard = ada.get(&server, "/v1/messages/?limit=500").await;
    assert!(!heard.text.contains("Incoming message"), "{heard:?}");
}
