//! Agents that a person has paused or terminated.

use reqwest::Method;
use serde_json::json;

use super::shake_hands;
use crate::{
    both::on_both,
    platform::{Person, project_with_agent},
};

on_both! {
    async fn a_socket_gets_no_messages_to_a_paused_or_terminated_agent_through(server) {
        let root = Person::superuser(&server, "root").await;
        let ada = Person::new(&server, "ada").await;
        let (_, agent) = project_with_agent(&server, (&root, &ada), "shop").await;
        let id = agent.rsplit('/').next().unwrap();
        let bearer = format!("Bearer {}", ada.token);
        let path = format!("/v1/agents/{id}/ws");
        let opened = shake_hands(&server, &path, &[("authorization", bearer.as_str())]).await;
        let mut socket = opened.unwrap().0;
        for (method, path, words) in [
            (Method::POST, format!("{agent}/pause"), "The agent is paused"),
            (Method::DELETE, agent.clone(), "The agent is terminated"),
        ] {
            let done = ada.ask(&server, method, &path).await;
            assert_eq!(done.status, 200, "{done:?}");
            socket.send(json!({ "type": "message", "input": "hello" })).await;
            let refused = socket.next().await;
            assert_eq!((&refused["message_type"], &refused["status"]), (&json!("refusal"), &json!(409)), "{refused}");
            assert!(refused["body"].to_string().contains(words), "{refused}");
        }
        let runs = ada.get(&server, &format!("{agent}/runs")).await.body;
        assert_eq!(runs, json!([]));
    }
}
