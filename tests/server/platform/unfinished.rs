//! Ends that were stored and not carried out, because their server died or failed in between.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::json;

use super::{
    Person,
    control::{careful, status, waiting},
    project_with_agent,
};
use crate::{both::on_both, clients::text, support::TestServer};

/// Whether the last message of an agent is a request for approval that nobody answered.
async fn waits(server: &TestServer, person: &Person, id: &str) -> bool {
    let messages = format!("/v1/agents/{id}/messages?limit=1&order=desc");
    let last = person.get(server, &messages).await.body;
    last[0]["message_type"] == "approval_request_message"
}

on_both! {
    async fn an_end_that_was_not_finished_is_finished_by_asking_for_it_again(server) {
        let root = Person::superuser(&server, "root").await;
        let ada = Person::new(&server, "ada").await;
        let (agent, id) = careful(&server, &root, &ada).await;
        waiting(&server, &ada, &agent).await;
        let is_open = async || waits(&server, &root, &id).await;
        // As a server leaves it that dies before it stops what goes on.
        let standing = format!("UPDATE agents SET standing = 'terminated' WHERE id = '{id}'");
        server.database().script(&standing).await;
        assert!(is_open().await);
        let again = ada.ask(&server, Method::DELETE, &agent).await;
        assert_eq!(again.refusal(), (422, "invalid_transition"), "{again:?}");
        assert!(!is_open().await, "what waits is closed");
    }

    async fn a_deletion_of_a_project_that_was_not_finished_is_finished_by_asking_for_it_again(server) {
        let root = Person::superuser(&server, "root").await;
        let (ada, bob) = (Person::new(&server, "ada").await, Person::new(&server, "bob").await);
        let (agent, id) = careful(&server, &root, &ada).await;
        waiting(&server, &ada, &agent).await;
        let is_open = async || waits(&server, &root, &id).await;
        let project = agent.split("/agents/").next().unwrap();
        let project_id = project.rsplit('/').next().unwrap();
        let script = format!("UPDATE agents SET standing = 'terminated' WHERE id = '{id}';
            UPDATE projects SET deleted_at = updated_at WHERE id = '{project_id}';
            UPDATE instances SET terminated_at = (SELECT deleted_at FROM projects
                WHERE projects.id = project_id) WHERE agent_id = '{id}'");
        server.database().script(&script).await;
        for (person, is_open_then) in [(&bob, true), (&ada, false)] {
            let again = person.ask(&server, Method::DELETE, project).await;
            assert_eq!(again.refusal(), (404, "not_found"), "{again:?}");
            assert_eq!(is_open().await, is_open_then);
        }
    }

    async fn a_run_of_a_server_ends_whose_agent_another_one_paused_before_it_died(server) {
        let other = server.beside().await;
        let root = Person::superuser(&server, "root").await;
        let ada = Person::new(&server, "ada").await;
        let (_, agent) = project_with_agent(&server, (&root, &ada), "shop").await;
        let id = agent.rsplit('/').next().unwrap();
        let input = json!({ "input": "wait 60s" });
        let begun = ada.post(&other, &format!("{agent}/messages/async"), &input).await;
        assert_eq!(begun.status, 200, "{begun:?}");
        let standing = format!("UPDATE agents SET standing = 'paused' WHERE id = '{id}'");
        server.database().script(&standing).await;
        let run = format!("{agent}/runs/{}", text(&begun.body["id"]));
        let began = Instant::now();
        loop {
            let run = ada.get(&server, &run).await.body;
            if run["status"] == "cancelled" {
                break;
            }
            assert!(began.elapsed() < Duration::from_secs(10), "{run}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(status(&server, &ada, &agent).await, "paused");
    }
}
