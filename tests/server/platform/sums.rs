//! What is said of a new agent, and how many do what.

use serde_json::json;

use super::{Person, project_with_agent};
use crate::{both::on_both, clients::text, messages::tool_with};

on_both! {
    async fn a_new_agent_names_its_project_and_its_type(server) {
        let root = Person::superuser(&server, "root").await;
        let ada = Person::new(&server, "ada").await;
        let (project, agent) = project_with_agent(&server, (&root, &ada), "shop").await;
        let of_type = root.get(&server, "/api/v1/agent-types/slug/shop-type").await.body;
        let project_id = project.rsplit('/').next().unwrap();
        let body = json!({ "agent_type_id": of_type["id"], "project_id": project_id, "name": "B" });
        let made = ada.made(&server, &format!("{project}/agents"), &body).await;
        let shown = ada.get(&server, &agent).await.body;
        for agent in [&made, &shown] {
            assert_eq!((&agent["project_id"], &agent["agent_type_id"]), (&json!(project_id), &of_type["id"]), "{agent}");
            assert_eq!(agent["status"], "idle");
        }
        assert_ne!(made["id"], shown["id"]);
    }

    async fn agents_that_work_or_wait_are_active_and_their_calls_use_fuel(server) {
        let root = Person::superuser(&server, "root").await;
        let ada = Person::new(&server, "ada").await;
        let (project, agent) = project_with_agent(&server, (&root, &ada), "shop").await;
        let id = agent.rsplit('/').next().unwrap().to_owned();
        let agents = format!("{project}/agents");
        let of_type = ada.get(&server, &agent).await.body["agent_type_id"].clone();
        let body = json!({ "agent_type_id": of_type, "name": "Idle" });
        ada.made(&server, &agents, &body).await;
        let sums = async |path: &str| ada.get(&server, &format!("{path}/metrics")).await.body;
        let numbers = async |path: &str| {
            let sums = sums(path).await;
            ["total_instances", "active_instances", "idle_instances"].map(|field| sums[field].as_u64().unwrap())
        };
        assert_eq!(numbers(&project).await, [2, 0, 2]);
        assert_eq!(sums(&project).await["total_fuel_consumed"], 0);
        // It works.
        let begun = ada.post(&server, &format!("{agent}/messages/async"), &json!({ "input": "wait 60s" })).await;
        assert_eq!(begun.status, 200, "{begun:?}");
        assert_eq!((numbers(&project).await, numbers(&agent).await), ([2, 1, 1], [1, 1, 0]));
        ada.post(&server, &format!("{agent}/messages/cancel"), &json!({})).await;
        assert_eq!(numbers(&project).await, [2, 0, 2]);
        // It waits, and then calls.
        let waits = json!({ "default_requires_approval": true });
        let tool = tool_with(&server, "secret", "return 'the secret ' + a", waits).await;
        root.patch(&server, &format!("/v1/agents/{id}/tools/attach/{tool}"), &json!({})).await;
        let messages = format!("{agent}/messages");
        let input = json!({ "input": "call secret with {\"a\":\"x\"}", "streaming": false });
        let asked = ada.post(&server, &messages, &input).await.body;
        assert_eq!(numbers(&agent).await, [1, 1, 0], "{asked}");
        assert_eq!(sums(&agent).await["total_fuel_consumed"], 0, "nothing ran yet");
        let request = asked["messages"].as_array().unwrap().iter();
        let mut request = request.filter(|message| message["message_type"] == "approval_request_message");
        let call = text(&request.next_back().unwrap()["tool_call"]["tool_call_id"]).to_owned();
        let approve = json!({ "streaming": false, "messages": [{ "type": "approval",
            "approvals": [{ "type": "approval", "tool_call_id": call, "approve": true }] }] });
        let done = ada.post(&server, &messages, &approve).await;
        assert!(done.text.contains("the secret x"), "{done:?}");
        let (own, all) = (sums(&agent).await, sums(&project).await);
        assert!(own["total_fuel_consumed"].as_u64().unwrap() > 0, "{own}");
        assert_eq!(own["total_fuel_consumed"], all["total_fuel_consumed"]);
    }
}
