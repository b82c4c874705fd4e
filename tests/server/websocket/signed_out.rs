//! Sockets of people who may not use them any more.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use super::{Socket, shake_hands};
use crate::{
    both::on_both, clients::text, consistency::ended, platform::Person, support::TestServer,
};

/// An agent of somebody.
async fn agent_of(server: &TestServer, person: &Person) -> String {
    let body = json!({
        "name": "A", "model": "bulkhead/scripted", "include_base_tools": false,
    });
    let made = person.post(server, "/v1/agents/", &body).await;
    assert_eq!(made.status, 200, "{made:?}");
    text(&made.body["id"]).to_owned()
}

async fn open_with(server: &TestServer, token: &str, agent: &str) -> Socket {
    let bearer = format!("Bearer {token}");
    let path = format!("/v1/agents/{agent}/ws");
    let opened = shake_hands(server, &path, &[("authorization", bearer.as_str())]).await;
    opened.unwrap().0
}

/// A socket on which a run goes on that nobody else would end, and the run.
async fn busy(server: &TestServer, token: &str, agent: &str) -> (Socket, String) {
    let mut socket = open_with(server, token, agent).await;
    socket
        .send(json!({ "type": "message", "input": "wait 120s\nsay late" }))
        .await;
    let run = socket.run().await;
    (socket, run)
}

/// The server closes the socket for these words, and what went on there is cancelled.
async fn closes(server: &TestServer, (mut socket, run): (Socket, String), words: &str) {
    let (frames, closed) = socket.closed_for().await;
    let closed = closed.unwrap();
    assert_eq!(closed.code, CloseCode::Policy, "{closed:?}");
    assert!(closed.reason.as_str().contains(words), "{closed:?}");
    assert!(
        !frames.iter().any(|frame| frame["content"] == "late"),
        "{frames:?}"
    );
    assert_eq!(ended(server, &run).await["status"], "cancelled");
}

on_both! {
    async fn who_signs_out_loses_the_socket_and_other_sign_ins_keep_theirs(server) {
        let ada = Person::new(&server, "ada").await;
        let bob = Person::new(&server, "bob").await;
        let (agent, other) = (agent_of(&server, &ada).await, agent_of(&server, &bob).await);
        let socket = busy(&server, &ada.token, &agent).await;
        let mut kept = open_with(&server, &bob.token, &other).await;
        ada.ask(&server, Method::POST, "/api/v1/auth/logout").await;
        closes(&server, socket, "the sign-in of this token has ended").await;
        kept.send(json!({ "type": "message", "input": "say hi" })).await;
        let frames = kept.until("stream_end").await;
        assert!(frames.iter().any(|frame| frame["content"] == "hi"), "{frames:?}");
    }

    async fn no_frame_is_obeyed_after_a_sign_out(server) {
        let ada = Person::new(&server, "ada").await;
        let agent = agent_of(&server, &ada).await;
        let mut socket = open_with(&server, &ada.token, &agent).await;
        ada.ask(&server, Method::POST, "/api/v1/auth/logout").await;
        socket.send(json!({
            "type": "message", "background": true, "input": "say too late",
        })).await;
        let (frames, closed) = socket.closed_for().await;
        assert_eq!((frames.len(), closed.unwrap().code), (0, CloseCode::Policy));
        let runs = server.get(&format!("/v1/runs/?agent_id={agent}")).await.body;
        assert_eq!(runs, json!([]));
    }

    async fn a_token_that_expires_ends_its_socket(server) {
        let ada = Person::new(&server, "ada").await;
        let agent = agent_of(&server, &ada).await;
        let token = ada.token_for(&server, Some(Duration::from_secs(8)));
        let socket = busy(&server, &token, &agent).await;
        closes(&server, socket, "the access token has expired").await;
        assert_eq!(ada.get(&server, "/v1/agents/").await.status, 200, "the sign-in goes on");
    }

    async fn who_is_locked_out_or_loses_rights_loses_the_socket(server) {
        let root = Person::superuser(&server, "root").await;
        let second = Person::superuser(&server, "second").await;
        let ada = Person::new(&server, "ada").await;
        let (own, roots) = (agent_of(&server, &ada).await, agent_of(&server, &root).await);
        let locked_out = busy(&server, &ada.token, &own).await;
        let lowered = busy(&server, &second.token, &roots).await;
        for (person, change) in [
            (&ada, json!({ "is_active": false })),
            (&second, json!({ "is_superuser": false })),
        ] {
            let path = format!("/api/v1/users/{}", person.id);
            let changed = root.patch(&server, &path, &change).await;
            assert_eq!(changed.status, 200, "{changed:?}");
        }
        closes(&server, locked_out, "the sign-in of this token has ended").await;
        closes(&server, lowered, "the rights of this sign-in have changed").await;
    }

    async fn whose_agent_it_is_not_any_more_loses_the_socket(server) {
        let ada = Person::new(&server, "ada").await;
        let bob = Person::new(&server, "bob").await;
        let agent = agent_of(&server, &ada).await;
        let socket = busy(&server, &ada.token, &agent).await;
        let moved = format!(
            "UPDATE agents SET created_by_id = '{}' WHERE id = '{agent}'", bob.id);
        server.database().script(&moved).await;
        closes(&server, socket, "no such agent any more").await;
    }
}
