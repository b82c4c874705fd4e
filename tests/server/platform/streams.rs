//! Streams of events end with the right to read them.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use super::{Person, ask, project_with_agent};
use crate::{
    both::on_both,
    clients::{events, text},
    support::{Answer, TestServer},
};

/// It is asked each 5 s whether somebody may read on.
const SOON: Duration = Duration::from_secs(15);

/// Puts somebody into a project.
async fn put(server: &TestServer, owner: &Person, project: &str, whom: &Person, role: &str) {
    let path = format!("{project}/members/{}", whom.email);
    let role = json!({ "role": role });
    let put = ask(server, Some(&owner.token), Method::PUT, &path, Some(&role)).await;
    assert_eq!(put.status, 200, "{put:?}");
}

/// A stream that has begun: its answer is read to the end later.
async fn begun(
    server: &TestServer,
    person: &Person,
    path: &str,
    body: Value,
) -> tokio::task::JoinHandle<Answer> {
    let request = server
        .request(Method::POST, path)
        .bearer_auth(&person.token);
    let answer = request.json(&body).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    tokio::spawn(Answer::read(answer))
}

/// Reads a stream to its end, which says that it is not theirs any more.
async fn lost(stream: tokio::task::JoinHandle<Answer>) {
    let answer = tokio::time::timeout(SOON, stream).await;
    let answer = answer.expect("the stream ends").unwrap();
    let heard = events(&answer);
    assert_eq!(heard.last(), Some(&json!("[DONE]")), "{answer:?}");
    let last = &heard[heard.len() - 2];
    assert_eq!(last["error_type"], "access_lost", "{answer:?}");
    assert!(answer.text.contains("event: error\n"), "{answer:?}");
}

async fn status_of(server: &TestServer, person: &Person, path: &str) -> Value {
    person.get(server, path).await.body["status"].clone()
}

on_both! {
    async fn who_is_taken_out_of_a_project_hears_no_more_of_it(server) {
        let root = Person::superuser(&server, "root").await;
        let (ada, bob) = (Person::new(&server, "ada").await, Person::new(&server, "bob").await);
        let (project, agent) = project_with_agent(&server, (&root, &ada), "shop").await;
        put(&server, &ada, &project, &bob, "member").await;
        let waits = json!({ "input": "wait 60s", "stream_tokens": true });
        let stream = begun(&server, &bob, &format!("{agent}/messages/stream"), waits.clone()).await;
        let kept = begun(&server, &ada, &format!("{agent}/messages/stream"), json!({
            "input": "wait 60s", "background": true,
        })).await;
        let runs = ada.get(&server, &format!("{agent}/runs?limit=10")).await.body;
        let background = runs.as_array().unwrap().iter().find(|run| run["background"] == true);
        let run = format!("{agent}/runs/{}", text(&background.unwrap()["id"]));
        let followed = begun(&server, &bob, &format!("{run}/stream"), json!({})).await;
        let out = format!("{project}/members/{}", bob.email);
        assert_eq!(ada.ask(&server, Method::DELETE, &out).await.status, 200);
        for stream in [stream, followed] {
            lost(stream).await;
        }
        // The run that went on for that client alone has ended with it, the other one goes on.
        let began = Instant::now();
        loop {
            let runs = ada.get(&server, &format!("{agent}/runs?limit=10")).await.body;
            let own = runs.as_array().unwrap().iter().find(|run| run["background"] != true);
            if own.unwrap()["status"] == "cancelled" {
                break;
            }
            assert!(began.elapsed() < SOON, "{runs}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert!(["created", "running"].contains(&text(&status_of(&server, &ada, &run).await)));
        assert!(!kept.is_finished());
        ada.post(&server, &format!("{agent}/messages/cancel"), &json!({})).await;
        let answer = tokio::time::timeout(SOON, kept).await.unwrap().unwrap();
        assert!(!answer.text.contains("access_lost"), "{answer:?}");
    }

    async fn who_may_only_look_sends_no_longer_and_looks_on(server) {
        let root = Person::superuser(&server, "root").await;
        let (ada, bob) = (Person::new(&server, "ada").await, Person::new(&server, "bob").await);
        let (project, agent) = project_with_agent(&server, (&root, &ada), "shop").await;
        put(&server, &ada, &project, &bob, "member").await;
        let input = json!({ "input": "wait 60s" });
        let run = ada.post(&server, &format!("{agent}/messages/async"), &input).await.body;
        let run = format!("{agent}/runs/{}/stream", text(&run["id"]));
        let looks = begun(&server, &bob, &run, json!({})).await;
        let sends = begun(&server, &bob, &format!("{agent}/messages/stream"), input).await;
        put(&server, &ada, &project, &bob, "viewer").await;
        lost(sends).await;
        assert!(!looks.is_finished());
        ada.post(&server, &format!("{agent}/messages/cancel"), &json!({})).await;
        let answer = tokio::time::timeout(SOON, looks).await.unwrap().unwrap();
        assert!(!answer.text.contains("access_lost"), "{answer:?}");
    }

    async fn a_stream_outlasts_the_token_with_which_it_was_begun(server) {
        let root = Person::superuser(&server, "root").await;
        let mut ada = Person::new(&server, "ada").await;
        let (_, agent) = project_with_agent(&server, (&root, &ada), "shop").await;
        let lasting = ada.token.clone();
        ada.token = ada.token_for(&server, Some(Duration::from_secs(3)));
        let body = json!({ "input": "wait 8s\nsay Done.", "streaming": true });
        let stream = begun(&server, &ada, &format!("{agent}/messages"), body).await;
        let answer = tokio::time::timeout(2 * SOON, stream).await;
        let answer = answer.expect("the stream ends").unwrap();
        assert!(answer.text.contains("Done."), "{answer:?}");
        assert!(!answer.text.contains("access_lost"), "{answer:?}");
        assert_eq!(ada.get(&server, "/api/v1/users/me").await.status, 401);
        ada.token = lasting;
        assert_eq!(ada.get(&server, "/api/v1/users/me").await.status, 200);
    }

    async fn who_signs_out_or_is_locked_out_hears_no_more_on_either_api(server) {
        let root = Person::superuser(&server, "root").await;
        let (ada, bob) = (Person::new(&server, "ada").await, Person::new(&server, "bob").await);
        let mut streams = Vec::new();
        for (person, slug) in [(&ada, "shop"), (&bob, "lab")] {
            let (_, agent) = project_with_agent(&server, (&root, person), slug).await;
            let id = agent.rsplit('/').next().unwrap();
            for path in [format!("{agent}/messages"), format!("/v1/agents/{id}/messages/stream")] {
                let body = json!({ "input": "wait 60s", "streaming": true });
                streams.push(begun(&server, person, &path, body).await);
            }
            let chat = json!({ "model": id, "stream": true,
                "messages": [{ "role": "user", "content": "wait 60s" }] });
            streams.push(begun(&server, person, "/v1/chat/completions", chat).await);
        }
        assert_eq!(ada.ask(&server, Method::POST, "/api/v1/auth/logout").await.status, 200);
        let user = format!("/api/v1/users/{}", bob.id);
        let locked = root.patch(&server, &user, &json!({ "is_active": false })).await;
        assert_eq!(locked.status, 200, "{locked:?}");
        for stream in streams {
            lost(stream).await;
        }
    }
}
