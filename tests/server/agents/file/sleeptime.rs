//! An agent and what looks after its memory, in one file.

use serde_json::{Value, json};

use super::{agent, detail, document, exported, import, on_both_databases, path, read, say, text};
use crate::support::TestServer;

/// An agent that has another one which looks after its memory.
async fn main_agent(server: &TestServer) -> Value {
    let body = json!({
        "name": "Main", "enable_sleeptime": true, "include_base_tools": false,
        "memory_blocks": [{ "label": "human", "value": "Bob" }],
    });
    agent(server, body).await
}

#[tokio::test]
async fn an_agent_is_written_with_what_looks_after_its_memory_and_read_with_it() {
    for server in on_both_databases().await {
        let main = main_agent(&server).await;
        say(&server, &main, "say hello").await;
        let mut written = exported(&server, &main, "").await;
        let agents = written["agents"].as_array().unwrap();
        let names: Vec<_> = agents.iter().map(|agent| text(&agent["name"])).collect();
        assert_eq!(names, ["Main", "Main-sleeptime"]);
        let mut messages = Vec::new();
        for (at, agent) in agents.iter().enumerate() {
            assert_eq!(agent["id"], format!("agent-{at}"));
            assert_eq!(agent["group_ids"], json!(["group-0"]));
            for message in agent["messages"].as_array().unwrap() {
                assert_eq!(message["agent_id"], agent["id"]);
                messages.push(text(&message["id"]).to_owned());
            }
        }
        let count = messages.len();
        messages.sort();
        messages.dedup();
        assert!(messages.len() == count && count > 3, "{messages:?}");
        assert_eq!(
            (&agents[0]["block_ids"], &agents[1]["block_ids"]),
            (&json!(["block-0"]), &json!(["block-1", "block-0"]))
        );
        assert_eq!(written["blocks"].as_array().unwrap().len(), 2);
        assert_eq!(
            written["groups"],
            json!([{
                "id": "group-0", "agent_ids": ["agent-1"],
                "description": "Main and who looks after its memory",
                "manager_config": { "manager_type": "sleeptime", "manager_agent_id": "agent-0",
                    "sleeptime_agent_frequency": 5 },
                "project_id": null, "shared_block_ids": [], "hidden": null,
            }])
        );
        let config = &mut written["groups"][0]["manager_config"];
        config["sleeptime_agent_frequency"] = json!(7);
        let answer = import(&server, &written, &[]).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let ids = answer.body["agent_ids"].as_array().unwrap();
        let (copy, other) = (text(&ids[0]), text(&ids[1]));
        let include = "include=agent.managed_group&include=agent.blocks";
        let copy = read(&server, &format!("/v1/agents/{copy}?{include}")).await;
        let group = &copy["managed_group"];
        assert_eq!(
            (&group["agent_ids"], &group["sleeptime_agent_frequency"]),
            (&json!([other]), &json!(7))
        );
        assert_eq!(
            (&copy["name"], &copy["enable_sleeptime"]),
            (&json!("Main_copy"), &json!(true))
        );
        let shared = read(&server, &format!("/v1/agents/{other}?{include}")).await;
        assert_eq!(shared["blocks"][1]["id"], copy["blocks"][0]["id"]);
        // The pair is one as any other.
        assert_eq!(server.delete(&path(&copy)).await.status, 200);
        assert_eq!(server.get(&format!("/v1/agents/{other}")).await.status, 404);
        assert_eq!(server.get(&path(&main)).await.status, 200);
    }
}

#[tokio::test]
async fn a_group_that_can_not_be_leaves_nothing_of_its_file() {
    let server = TestServer::start().await;
    let mut file = document(json!({}));
    let config = json!({ "manager_type": "sleeptime", "manager_agent_id": "agent-0",
        "sleeptime_agent_frequency": 0 });
    file["groups"] = json!([{ "id": "group-0", "agent_ids": ["agent-0"], "description": "",
        "manager_config": config }]);
    let refused = import(&server, &file, &[]).await;
    let (status, text) = detail(&refused);
    assert!(
        status == 400 && text.contains("sleeptime_agent_frequency"),
        "{text}"
    );
    assert_eq!(read(&server, "/v1/agents/count").await, 0);
    file["groups"][0]["manager_config"] = json!({ "manager_type": "round_robin" });
    assert_eq!(import(&server, &file, &[]).await.status, 200);
    assert_eq!(read(&server, "/v1/groups/count").await, 1);
}
