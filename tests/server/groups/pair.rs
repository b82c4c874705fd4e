//! An agent and what looks after its memory: made, changed and deleted together.

use serde_json::{Value, json};

use super::{labels, managed, pair};
use crate::{
    both::on_both,
    clients::{read, text},
    messages::{agent, detail, memory::with_tools},
    platform::Person,
    support::TestServer,
};

fn names(list: &Value) -> Vec<&str> {
    let mut names: Vec<_> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|one| text(&one["name"]))
        .collect();
    names.sort_unstable();
    names
}

#[tokio::test]
async fn an_agent_with_sleeptime_comes_with_one_that_has_the_tools_for_it() {
    let server = with_tools().await;
    let more = json!({
        "name": "Main", "enable_sleeptime": true, "include_base_tools": true,
        "memory_blocks": [{ "label": "human", "value": "Bob" }], "timezone": "Europe/Zurich",
    });
    let mut body = more.clone();
    body["model"] = json!("bulkhead/scripted");
    let main = server.post("/v1/agents/", &body).await;
    assert_eq!(main.status, 200, "{main:?}");
    let main = main.body;
    let expected = [
        "archival_memory_search",
        "conversation_search",
        "send_message",
    ];
    assert_eq!(names(&main["tools"]), expected);
    assert_eq!(main["enable_sleeptime"], true);
    let group = main["managed_group"].clone();
    assert_eq!(main["multi_agent_group"], group);
    for (field, expected) in [
        ("manager_type", json!("sleeptime")),
        ("manager_agent_id", main["id"].clone()),
        ("sleeptime_agent_frequency", json!(5)),
        ("turns_counter", json!(-1)),
        ("last_processed_message_id", Value::Null),
    ] {
        assert_eq!(group[field], expected, "{field}");
    }
    assert_eq!(group["agent_ids"].as_array().unwrap().len(), 1);
    let other = text(&group["agent_ids"][0]);
    let include = "include=agent.tools&include=agent.blocks&include=agent.managed_group";
    let other = read(&server, &format!("/v1/agents/{other}?{include}")).await;
    for (field, expected) in [
        ("name", json!("Main-sleeptime")),
        ("agent_type", json!("sleeptime_agent")),
        ("enable_sleeptime", Value::Null),
        ("managed_group", Value::Null),
        ("model", main["model"].clone()),
        ("timezone", json!("Europe/Zurich")),
        ("created_by_id", main["created_by_id"].clone()),
    ] {
        assert_eq!(other[field], expected, "{field}");
    }
    let expected = [
        "memory_finish_edits",
        "memory_insert",
        "memory_replace",
        "memory_rethink",
    ];
    assert_eq!(names(&other["tools"]), expected);
    let exits = json!({ "tool_name": "memory_finish_edits", "type": "exit_loop" });
    let rules = other["tool_rules"].as_array().unwrap();
    let is_exit =
        |rule: &&Value| rule["type"] == exits["type"] && rule["tool_name"] == exits["tool_name"];
    assert_eq!(
        (rules.len(), rules.iter().filter(is_exit).count()),
        (4, 1),
        "{rules:?}"
    );
    let shared = |block: &&Value| block["label"] == "human";
    let blocks = other["blocks"].as_array().unwrap();
    let human = blocks.iter().find(shared).unwrap();
    assert_eq!(human["id"], main["blocks"][0]["id"]);
    assert!(
        blocks
            .iter()
            .any(|block| block["label"] == "memory_persona")
    );
    // Lists of clients of today leave it out unless it is asked for.
    let path = format!("/v1/agents/{}", text(&main["id"]));
    assert_eq!(read(&server, &path).await["managed_group"], Value::Null);
}

#[tokio::test]
async fn an_agent_that_speaks_has_one_of_its_kind() {
    let server = TestServer::start().await;
    let (main, other) = pair(&server, json!({ "agent_type": "voice_convo_agent" })).await;
    let group = managed(&server, &main).await;
    assert_eq!(group["manager_type"], "voice_sleeptime");
    assert_eq!(
        (
            &group["max_message_buffer_length"],
            &group["min_message_buffer_length"]
        ),
        (&json!(30), &json!(15))
    );
    let other = read(&server, &format!("/v1/agents/{other}")).await;
    assert_eq!(other["agent_type"], "voice_sleeptime_agent");
}

on_both! {
    async fn what_looks_after_a_users_agent_is_the_users(server) {
        let ada = Person::new(&server, "ada").await;
        let bob = Person::new(&server, "bob").await;
        let body = json!({ "model": "bulkhead/scripted", "enable_sleeptime": true,
            "memory_blocks": [{ "label": "human", "value": "private" }] });
        let main = ada.post(&server, "/v1/agents/", &body).await.body;
        let group = &main["managed_group"];
        let (other, group_id) = (text(&group["agent_ids"][0]), text(&group["id"]));
        for path in [
            format!("/v1/agents/{other}"),
            format!("/v1/groups/{group_id}"),
            format!("/v1/agents/{}/groups", text(&main["id"])),
        ] {
            assert_eq!(ada.get(&server, &path).await.status, 200, "{path}");
            assert_eq!(bob.get(&server, &path).await.status, 404, "{path}");
        }
        let count = |person: Person| {
            let server = &server;
            async move { person.get(server, "/v1/groups/count").await.body }
        };
        let blocks = ada.get(&server, "/v1/blocks/").await.body;
        assert_eq!(blocks.as_array().unwrap().len(), 2, "{blocks}");
        let foreign = json!({ "agent_ids": [main["id"]], "description": "" });
        assert_eq!(bob.post(&server, "/v1/groups/", &foreign).await.status, 409);
        assert_eq!(count(ada).await, 1);
        assert_eq!(count(bob).await, 0);
    }

    async fn sleeptime_is_switched_on_and_off_and_on(server) {
        let more = json!({ "memory_blocks": [{ "label": "human", "value": "Bob" }] });
        let main = agent(&server, more).await;
        assert_eq!(managed(&server, &main).await, Value::Null);
        let path = format!("/v1/agents/{main}");
        let set = async |on: bool| {
            let answer = server.patch(&path, &json!({ "enable_sleeptime": on })).await;
            assert_eq!(answer.status, 200, "{answer:?}");
            assert_eq!(answer.body["enable_sleeptime"], on);
            answer.body["managed_group"].clone()
        };
        let group = set(true).await;
        let other = text(&group["agent_ids"][0]).to_owned();
        assert_eq!(labels(&server, &other).await, ["memory_persona", "human"]);
        assert_eq!(set(false).await, group, "the group stays");
        assert_eq!(set(true).await, group, "and is found again");
        assert_eq!(read(&server, "/v1/agents/count").await, 2);
    }

    async fn blocks_come_and_go_with_those_of_the_agent(server) {
        let more = json!({ "memory_blocks": [{ "label": "human", "value": "Bob" }] });
        let (main, other) = pair(&server, more).await;
        let notes = server.post("/v1/blocks/", &json!({ "label": "notes", "value": "x" })).await.body;
        let path = |how: &str| {
            format!("/v1/agents/{main}/core-memory/blocks/{how}/{}", text(&notes["id"]))
        };
        assert_eq!(server.patch(&path("attach"), &Value::Null).await.status, 200);
        assert_eq!(labels(&server, &other).await, ["memory_persona", "human", "notes"]);
        assert_eq!(server.patch(&path("detach"), &Value::Null).await.status, 200);
        assert_eq!(labels(&server, &other).await, ["memory_persona", "human"]);
        let body = json!({ "block_ids": [notes["id"]] });
        assert_eq!(server.patch(&format!("/v1/agents/{main}"), &body).await.status, 200);
        assert_eq!(labels(&server, &other).await, ["memory_persona", "notes"]);
    }

    async fn an_agent_takes_what_looks_after_its_memory_with_it(server) {
        let (main, other) = pair(&server, json!({})).await;
        let group = managed(&server, &main).await;
        let deleted = server.delete(&format!("/v1/agents/{main}")).await;
        assert_eq!(deleted.status, 200, "{deleted:?}");
        for path in [
            format!("/v1/agents/{main}"),
            format!("/v1/agents/{other}"),
            format!("/v1/groups/{}", text(&group["id"])),
        ] {
            assert_eq!(server.get(&path).await.status, 404, "{path}");
        }
        assert_eq!(read(&server, "/v1/agents/count").await, 0);
    }
}

#[tokio::test]
async fn what_looks_after_a_memory_has_none_that_looks_after_its_own() {
    let server = TestServer::start().await;
    let body = json!({ "agent_type": "sleeptime_agent", "enable_sleeptime": true,
        "model": "bulkhead/scripted" });
    let refused = server.post("/v1/agents/", &body).await;
    let (status, text) = detail(&refused);
    assert!(status == 400 && text.contains("sleeptime_agent"), "{text}");
    let (_, other) = pair(&server, json!({})).await;
    let path = format!("/v1/agents/{other}");
    let refused = server
        .patch(&path, &json!({ "enable_sleeptime": true }))
        .await;
    assert_eq!(detail(&refused).0, 400);
    assert_eq!(
        server.get(&path).await.body["enable_sleeptime"],
        Value::Null
    );
}
