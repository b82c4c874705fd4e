//! What is kept of an agent of a project, and what its end closes; and where the report of a run may
//! go.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::{Person, ask, project_with_agent};
use crate::{
    both::on_both,
    clients::{SCRIPTED, detail, each, said, text},
    messages::tool_with,
    support::TestServer,
};

const PATIENCE: Duration = Duration::from_secs(20);

/// The run, when its receiver was told or could not be.
async fn told(server: &TestServer, person: &Person, run: &Value) -> Value {
    let path = format!("/v1/runs/{}", text(&run["id"]));
    let told = async {
        loop {
            let run = server.get(&path).await.body;
            if !run["callback_sent_at"].is_null() {
                return run;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let told = tokio::time::timeout(PATIENCE, told).await;
    told.unwrap_or_else(|_| panic!("nobody was told of {run} of {}", person.email))
}

/// A conversation of an agent that waits for an approval: the path of its messages.
async fn waiting(server: &TestServer, person: &Person, agent: &str) -> String {
    let path = format!("/v1/conversations/?agent_id={agent}");
    let conversation = person.post(server, &path, &json!({})).await;
    let messages = format!(
        "/v1/conversations/{}/messages",
        text(&conversation.body["id"])
    );
    let input = json!({ "input": "call secret with {\"a\":\"x\"}", "streaming": false });
    let asked = person.post(server, &messages, &input).await;
    let stop = &asked.body["stop_reason"]["stop_reason"];
    assert_eq!(stop, "requires_approval", "{asked:?}");
    messages
}

on_both! {
    async fn the_history_of_an_agent_of_a_project_is_kept_over_v1(server) {
        let root = Person::superuser(&server, "root").await;
        let ada = Person::new(&server, "ada").await;
        let (_, agent) = project_with_agent(&server, (&root, &ada), "shop").await;
        let id = agent.rsplit('/').next().unwrap();
        let conversation = format!("/v1/conversations/?agent_id={id}");
        let conversation = ada.post(&server, &conversation, &json!({})).await;
        let conversation = format!("/v1/conversations/{}", text(&conversation.body["id"]));
        let input = json!({ "input": "hello", "streaming": false });
        for messages in [format!("{agent}/messages"), format!("{conversation}/messages")] {
            let answer = ada.post(&server, &messages, &input).await;
            assert_eq!(answer.status, 200, "{answer:?}");
        }
        let runs = ada.get(&server, &format!("/v1/runs/?agent_id={id}")).await.body;
        let run = format!("/v1/runs/{}", text(&runs[0]["id"]));
        let v1 = format!("/v1/agents/{id}");
        let reset = json!({ "add_default_initial_messages": false });
        let kept = "The agent belongs to a project, where its history is kept: terminate it there";
        // Nobody would count what it costs.
        let (prompt, call) = (json!({ "prompt": "hi" }), json!({ "args": {} }));
        let counted = "The agent belongs to a project, where what it costs is counted";
        for token in [Some(&ada), Some(&root), None].map(|person| person.map(|of| of.token.as_str())) {
            for (method, path, body, expected) in [
                (Method::DELETE, v1.clone(), None, kept),
                (Method::DELETE, run.clone(), None, kept),
                (Method::DELETE, conversation.clone(), None, kept),
                (Method::PATCH, format!("{v1}/reset-messages"), Some(&reset), kept),
                (Method::POST, format!("{v1}/generate"), Some(&prompt), counted),
                (Method::POST, format!("{v1}/tools/dice/run"), Some(&call), counted),
            ] {
                let refused = ask(&server, token, method, &path, body).await;
                let (status, words) = detail(&refused);
                assert_eq!(status, 409, "{path}: {refused:?}");
                assert!(words.starts_with(expected), "{path}: {refused:?}");
                assert_eq!(refused.body.as_object().unwrap().len(), 1, "{path}: {refused:?}");
                assert_eq!(refused.headers["x-should-retry"], "false");
            }
        }
        assert_eq!(ada.get(&server, &run).await.body["status"], "completed");
        for messages in [format!("{agent}/messages"), format!("{conversation}/messages")] {
            let messages = ada.get(&server, &messages).await.body;
            assert!(messages.as_array().unwrap().len() >= 2, "{messages}");
        }
        let sums = ada.get(&server, &format!("{agent}/metrics")).await.body;
        assert_eq!(sums["total_tasks_completed"], 2);
    }

    async fn an_agent_of_a_project_gets_no_sleeptime_agent(server) {
        let root = Person::superuser(&server, "root").await;
        let ada = Person::new(&server, "ada").await;
        let (_, agent) = project_with_agent(&server, (&root, &ada), "shop").await;
        let v1 = format!("/v1/agents/{}", agent.rsplit('/').next().unwrap());
        let agents = server.get("/v1/agents/count?show_hidden_agents=true").await.body;
        for token in [Some(&ada), Some(&root), None].map(|person| person.map(|of| of.token.as_str())) {
            let body = json!({ "enable_sleeptime": true });
            let refused = ask(&server, token, Method::PATCH, &v1, Some(&body)).await;
            let (status, words) = detail(&refused);
            assert_eq!(status, 409, "{refused:?}");
            assert!(words.starts_with("CONFLICT: the agent belongs to a project"), "{refused:?}");
        }
        let same = ada.get(&server, &format!("{v1}?include=agent.managed_group")).await.body;
        assert_ne!(same["enable_sleeptime"], true, "{same}");
        assert_eq!(same["managed_group"], Value::Null);
        assert_eq!(server.get("/v1/agents/count?show_hidden_agents=true").await.body, agents);
        // What it does not have can be switched off.
        let off = ada.patch(&server, &v1, &json!({ "enable_sleeptime": false })).await;
        assert_eq!(off.status, 200, "{off:?}");
    }

    async fn the_memory_of_an_agent_of_a_project_is_its_owners_to_change(server) {
        let root = Person::superuser(&server, "root").await;
        let ada = Person::new(&server, "ada").await;
        let (_, agent) = project_with_agent(&server, (&root, &ada), "shop").await;
        let v1 = format!("/v1/agents/{}", agent.rsplit('/').next().unwrap());
        let block = json!({ "label": "notes", "value": "x" });
        let block = ada.post(&server, "/v1/blocks/", &block).await.body;
        let archive = ada.post(&server, "/v1/archives/", &json!({ "name": "notes" })).await.body;
        let (block, archive) = (text(&block["id"]), text(&archive["id"]));
        for attach in [format!("core-memory/blocks/attach/{block}"), format!("archives/attach/{archive}")] {
            let attached = ada.patch(&server, &format!("{v1}/{attach}"), &json!({})).await;
            assert!(attached.status.is_success(), "{attached:?}");
        }
        for path in [format!("/v1/blocks/{block}"), format!("/v1/archives/{archive}")] {
            let deleted = ada.ask(&server, Method::DELETE, &path).await;
            assert!(deleted.status.is_success(), "{deleted:?}");
        }
        let input = json!({ "input": "say still here", "streaming": false });
        let answer = ada.post(&server, &format!("{agent}/messages"), &input).await;
        assert_eq!(said(&answer.body), ["still here"], "{answer:?}");
    }

    async fn an_end_closes_what_waits_in_every_conversation(server) {
        let root = Person::superuser(&server, "root").await;
        let ada = Person::new(&server, "ada").await;
        let waits = json!({ "default_requires_approval": true });
        let tool = tool_with(&server, "secret", "return 'the secret ' + a", waits).await;
        for ends_project in [false, true] {
            let slug = if ends_project { "shop" } else { "lab" };
            let (project, agent) = project_with_agent(&server, (&root, &ada), slug).await;
            let id = agent.rsplit('/').next().unwrap();
            let attach = format!("/v1/agents/{id}/tools/attach/{tool}");
            let attached = root.patch(&server, &attach, &json!({})).await;
            assert_eq!(attached.status, 200, "{attached:?}");
            let threads = [waiting(&server, &ada, id).await, waiting(&server, &ada, id).await];
            let ended = if ends_project { &project } else { &agent };
            let ended = ada.ask(&server, Method::DELETE, ended).await;
            assert_eq!(ended.status, 200, "{ended:?}");
            for thread in threads {
                let messages = root.get(&server, &format!("{thread}?order=asc")).await.body;
                let kinds = each(&messages, "message_type");
                assert!(kinds.contains(&"approval_request_message"), "{kinds:?}");
                assert_ne!(kinds.last(), Some(&"approval_request_message"), "{kinds:?}");
            }
        }
    }

    async fn the_report_of_an_ordinary_user_s_run_reaches_no_private_network(server) {
        let root = Person::superuser(&server, "root").await;
        let ada = Person::new(&server, "ada").await;
        let (_, agent) = project_with_agent(&server, (&root, &ada), "shop").await;
        let id = agent.rsplit('/').next().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/done", listener.local_addr().unwrap());
        let body = json!({ "input": "say hi", "callback_url": url });
        for path in [format!("{agent}/messages/async"), format!("/v1/agents/{id}/messages/async")] {
            let run = ada.post(&server, &path, &body).await.body;
            let run = told(&server, &ada, &run).await;
            assert_eq!((&run["status"], &run["callback_status_code"]), (&json!("completed"), &Value::Null));
            assert!(run["callback_error"].is_string(), "{run}");
        }
        let none = tokio::time::timeout(Duration::from_millis(50), listener.accept()).await;
        assert!(none.is_err(), "somebody was told");
        let run = root.post(&server, &format!("{agent}/messages/async"), &body).await.body;
        assert!(run["request_config"]["private_receiver"].is_null(), "{run}");
        let (stream, _) = tokio::time::timeout(PATIENCE, listener.accept()).await.unwrap().unwrap();
        drop(stream);
        told(&server, &root, &run).await;
    }

    async fn of_the_agents_of_a_block_and_an_archive_one_sees_ones_own(server) {
        let root = Person::superuser(&server, "root").await;
        let ada = Person::new(&server, "ada").await;
        let block = ada.post(&server, "/v1/blocks/", &json!({ "label": "notes", "value": "x" })).await.body;
        let archive = ada.post(&server, "/v1/archives/", &json!({ "name": "notes" })).await.body;
        let (block, archive) = (text(&block["id"]), text(&archive["id"]));
        let mut agents = Vec::new();
        for person in [&ada, &root] {
            let agent = person.post(&server, "/v1/agents/", &json!({ "model": SCRIPTED })).await.body;
            let agent = text(&agent["id"]).to_owned();
            for attach in [format!("core-memory/blocks/attach/{block}"), format!("archives/attach/{archive}")] {
                let attached = person.patch(&server, &format!("/v1/agents/{agent}/{attach}"), &json!({})).await;
                assert!(attached.status.is_success(), "{attached:?}");
            }
            agents.push(agent);
        }
        for path in [format!("/v1/blocks/{block}/agents"), format!("/v1/archives/{archive}/agents")] {
            assert_eq!(each(&ada.get(&server, &path).await.body, "id"), [agents[0].as_str()], "{path}");
            assert_eq!(root.get(&server, &path).await.body.as_array().unwrap().len(), 2, "{path}");
        }
    }
}
