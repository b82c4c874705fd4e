//! What a paused and a terminated agent take, by every way.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use super::{Person, ask, project_with_agent};
use crate::{
    both::on_both,
    clients::{SCRIPTED, detail, text},
    support::{Answer, TestServer},
};

const PAUSED: (u16, &str) = (409, "The agent is paused: resume it to send messages.");
const TERMINATED: (u16, &str) = (409, "The agent is terminated: it takes no messages.");

/// The same message by every route that takes one.
async fn by_every_way(server: &TestServer, person: &Person, agent: &str) -> Vec<Answer> {
    let id = agent.rsplit('/').next().unwrap();
    let input = json!({ "input": "hello", "streaming": false });
    let conversation = format!("/v1/conversations/?agent_id={id}");
    let conversation = person.post(server, &conversation, &json!({})).await;
    let conversation = text(&conversation.body["id"]).to_owned();
    let mut answers = Vec::new();
    for path in [
        format!("{agent}/messages"),
        format!("{agent}/messages/stream"),
        format!("{agent}/messages/async"),
        format!("/v1/agents/{id}/messages"),
        format!("/v1/agents/{id}/messages/stream"),
        format!("/v1/agents/{id}/messages/async"),
        format!("/v1/conversations/{conversation}/messages"),
    ] {
        answers.push(person.post(server, &path, &input).await);
    }
    // As a model of OpenAI's API, where nothing says that it is an agent.
    let completion =
        json!({ "model": id, "stream": true, "messages": [{ "role": "user", "content": "hi" }] });
    answers.push(
        person
            .post(server, "/v1/chat/completions", &completion)
            .await,
    );
    // And what its model would do beside messages.
    for (path, body) in [
        (
            format!("/v1/agents/{id}/generate"),
            json!({ "prompt": "hi" }),
        ),
        (format!("/v1/agents/{id}/summarize"), json!({})),
        (
            format!("/v1/conversations/{conversation}/compact"),
            json!({}),
        ),
    ] {
        answers.push(person.post(server, &path, &body).await);
    }
    answers
}

async fn status(server: &TestServer, person: &Person, agent: &str) -> Value {
    person.get(server, agent).await.body["status"].clone()
}

on_both! {
    async fn a_paused_agent_takes_no_messages_by_any_way_until_it_is_resumed(server) {
        let root = Person::superuser(&server, "root").await;
        let ada = Person::new(&server, "ada").await;
        let (_, agent) = project_with_agent(&server, (&root, &ada), "shop").await;
        let paused = ada.ask(&server, Method::POST, &format!("{agent}/pause")).await;
        assert_eq!((paused.status.as_u16(), &paused.body["status"]), (200, &json!("paused")), "{paused:?}");
        for refused in by_every_way(&server, &ada, &agent).await {
            assert_eq!(detail(&refused), PAUSED);
        }
        let again = ada.ask(&server, Method::POST, &format!("{agent}/pause")).await;
        assert_eq!(again.refusal(), (422, "invalid_transition"));
        assert!(again.text.contains("the agent is paused"), "{again:?}");
        let resumed = ada.ask(&server, Method::POST, &format!("{agent}/resume")).await;
        assert_eq!(resumed.body["status"], "idle", "{resumed:?}");
        let input = json!({ "input": "hello", "streaming": false });
        assert_eq!(ada.post(&server, &format!("{agent}/messages"), &input).await.status, 200);
        let again = ada.ask(&server, Method::POST, &format!("{agent}/resume")).await;
        assert_eq!(again.refusal(), (422, "invalid_transition"));
    }

    async fn a_terminated_agent_stays_so_and_keeps_its_history(server) {
        let root = Person::superuser(&server, "root").await;
        let ada = Person::new(&server, "ada").await;
        let (_, agent) = project_with_agent(&server, (&root, &ada), "shop").await;
        let input = json!({ "input": "hello", "streaming": false });
        ada.post(&server, &format!("{agent}/messages"), &input).await;
        let done = ada.ask(&server, Method::DELETE, &agent).await;
        assert_eq!(done.status, 200, "{done:?}");
        assert!(done.body["message"].is_string());
        for action in ["resume", "pause"] {
            let refused = ada.ask(&server, Method::POST, &format!("{agent}/{action}")).await;
            assert_eq!(refused.refusal(), (422, "invalid_transition"), "{action}");
            assert!(refused.text.contains("terminated"), "{refused:?}");
        }
        for refused in by_every_way(&server, &ada, &agent).await {
            assert_eq!(detail(&refused), TERMINATED);
        }
        let shown = ada.get(&server, &agent).await.body;
        assert_eq!(shown["status"], "terminated");
        assert!(shown["terminated_at"].is_string());
        let messages = ada.get(&server, &format!("{agent}/messages")).await.body;
        assert!(messages.as_array().unwrap().len() >= 2, "{messages}");
        let sums = ada.get(&server, &format!("{agent}/metrics")).await.body;
        assert_eq!(sums["total_tasks_completed"], 1);
    }

    async fn pausing_cancels_what_goes_on(server) {
        let root = Person::superuser(&server, "root").await;
        let ada = Person::new(&server, "ada").await;
        let (_, agent) = project_with_agent(&server, (&root, &ada), "shop").await;
        let input = json!({ "input": "wait 20s" });
        let begun = ada.post(&server, &format!("{agent}/messages/async"), &input).await;
        assert_eq!(begun.status, 200, "{begun:?}");
        assert_eq!(status(&server, &ada, &agent).await, "working");
        let paused = ada.ask(&server, Method::POST, &format!("{agent}/pause")).await;
        assert_eq!(paused.body["status"], "paused", "{paused:?}");
        let run = format!("{agent}/runs/{}", text(&begun.body["id"]));
        let run = ada.get(&server, &run).await.body;
        assert_eq!(run["status"], "cancelled", "{run}");
    }
}

#[tokio::test]
async fn a_paused_agent_takes_no_messages_of_another_agent() {
    const TOKEN: &str = "t0ken";
    let server = TestServer::start_with(|config| {
        // The tools by which agents speak to each other come with the server.
        config.builtin_tools = true;
        config.token = Some(TOKEN.to_owned());
    })
    .await;
    let root = Person::installation(TOKEN);
    let listed = async {
        let tool = "/v1/tools/?name=send_message_to_agent_and_wait_for_reply";
        while root.get(&server, tool).await.body[0].is_null() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let listed = tokio::time::timeout(Duration::from_secs(120), listed).await;
    listed.expect("the tools that come with the server are listed");
    let ada = Person::new(&server, "ada").await;
    let (_, agent) = project_with_agent(&server, (&root, &ada), "shop").await;
    let asks = json!({ "model": SCRIPTED, "include_multi_agent_tools": true });
    let asks = ada.post(&server, "/v1/agents/", &asks).await;
    let asks = format!("/v1/agents/{}/messages", text(&asks.body["id"]));
    let call = json!({ "message": "hello", "other_agent_id": agent.rsplit('/').next().unwrap() });
    let input = json!({ "streaming": false,
        "input": format!("call send_message_to_agent_and_wait_for_reply with {call}") });
    let runs = async || {
        let runs = ada.get(&server, &format!("{agent}/runs")).await.body;
        runs.as_array().unwrap().len()
    };
    let reached = ada.post(&server, &asks, &input).await;
    assert_eq!(
        (reached.status.as_u16(), runs().await),
        (200, 1),
        "{reached:?}"
    );
    for (method, path, word) in [
        (Method::POST, format!("{agent}/pause"), "paused"),
        (Method::DELETE, agent.clone(), "terminated"),
    ] {
        let done = ask(&server, Some(&ada.token), method, &path, None).await;
        assert_eq!(done.status, 200, "{done:?}");
        let refused = ada.post(&server, &asks, &input).await;
        assert_eq!(refused.status, 200, "{refused:?}");
        assert!(refused.text.contains(word), "{refused:?}");
        assert_eq!(runs().await, 1);
    }
}
