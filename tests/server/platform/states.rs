//! What a paused and a terminated agent take, by every way.

use reqwest::Method;
use serde_json::{Value, json};

use super::{Person, project_with_agent};
use crate::{
    both::on_both,
    clients::{detail, text},
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
