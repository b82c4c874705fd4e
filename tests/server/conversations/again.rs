//! Requests in the background that come again, because their client did not hear the answer: by the
//! ids of their messages they find the run that they began.

use bulkhead_store::testing::{Kind, TestDatabase};
use futures::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use super::begun;
use crate::{
    both::on_both,
    clients::{agent, detail, events, read, text},
    consistency::{agrees, ended},
    live::Live,
    support::TestServer,
};

/// A message with an id of its client, sent in the background.
fn message(otid: &str, input: &str) -> Value {
    let message = json!({ "role": "user", "content": input, "otid": otid });
    json!({ "messages": [message], "background": true, "stream_tokens": true })
}

/// The runs of an agent.
async fn runs(server: &TestServer, agent: &str) -> usize {
    let runs = read(server, &format!("/v1/runs/?agent_id={agent}")).await;
    runs.as_array().unwrap().len()
}

on_both! {
    async fn a_request_that_comes_again_is_answered_from_its_run(server) {
        let agent = agent(&server, json!({ "include_base_tools": false })).await;
        let own = format!("/v1/conversations/{agent}");
        for path in [begun(&server, &agent).await, own] {
            let before = runs(&server, &agent).await;
            let messages = format!("{path}/messages");
            let body = message("one", "pause 100ms\nsay a b c d");
            let mut first = Live::post(&server, &messages, &body).await;
            let run = first.run().await;
            // While it goes on, and its first step is not stored.
            let second = Live::post(&server, &messages, &body).await;
            let by_otid = json!({ "otid": "one" });
            let third = Live::post(&server, &format!("{path}/stream"), &by_otid).await;
            let busy = server.post(&messages, &message("two", "say other")).await;
            assert_eq!((busy.status.as_u16(), &busy.body["run_id"]), (409, &json!(run)));
            let first = first.end().await;
            assert_eq!(second.end().await, first);
            assert_eq!(third.end().await, first);
            // When it has ended.
            let again = Live::post(&server, &messages, &body).await.end().await;
            assert_eq!(again, first);
            assert_eq!(runs(&server, &agent).await, before + 1);
            // Another message is another one.
            let other = Live::post(&server, &messages, &message("two", "say other")).await;
            let other = other.end().await;
            assert_ne!(other[0].1["run_id"], json!(run));
            assert_eq!(runs(&server, &agent).await, before + 2);
        }
        agrees(&server, &agent).await;
    }

    async fn of_equal_requests_that_come_at_once_one_begins_a_run(server) {
        let agent = agent(&server, json!({ "include_base_tools": false })).await;
        let messages = format!("{}/messages", begun(&server, &agent).await);
        let body = message("one", "wait 200ms\nsay hi");
        let all = join_all((0..6).map(|_| server.post(&messages, &body))).await;
        let first = events(&all[0]);
        assert_eq!(first.last(), Some(&json!("[DONE]")));
        assert!(all.iter().all(|answer| events(answer) == first), "{all:?}");
        assert_eq!(runs(&server, &agent).await, 1);
    }

    async fn a_request_whose_run_failed_and_left_nothing_may_be_sent_again(server) {
        let agent = agent(&server, json!({ "include_base_tools": false })).await;
        let messages = format!("{}/messages", begun(&server, &agent).await);
        for expected in [1, 2] {
            let failed = events(&server.post(&messages, &message("one", "fail server")).await);
            assert_eq!(failed[2]["error_type"], "llm_error", "{failed:?}");
            ended(&server, text(&failed[0]["run_id"])).await;
            assert_eq!(runs(&server, &agent).await, expected);
        }
        // Who cancels a run does not want it to begin again.
        let body = message("two", "wait 60s\nsay late");
        let mut live = Live::post(&server, &messages, &body).await;
        let run = live.run().await;
        server.post(&format!("/v1/agents/{agent}/messages/cancel"), &json!({})).await;
        let first = live.end().await;
        assert_eq!(ended(&server, &run).await["status"], "cancelled");
        assert_eq!(Live::post(&server, &messages, &body).await.end().await, first);
        assert_eq!(runs(&server, &agent).await, 3);
    }

    async fn only_requests_in_the_background_to_a_conversation_find_their_run(server) {
        let agent = agent(&server, json!({ "include_base_tools": false })).await;
        let to_agent = format!("/v1/agents/{agent}/messages/stream");
        let to_thread = format!("/v1/conversations/{agent}/messages");
        let mut foreground = message("one", "say hi");
        foreground["background"] = json!(false);
        for (path, body) in [
            (&to_agent, message("one", "say hi")),
            (&to_agent, message("one", "say hi")),
            (&to_thread, foreground.clone()),
            (&to_thread, foreground),
        ] {
            let answer = server.post(path, &body).await;
            assert_eq!(events(&answer).last(), Some(&json!("[DONE]")));
        }
        assert_eq!(runs(&server, &agent).await, 4);
        // The newest with the id.
        let known = events(&server.post(&to_thread, &message("one", "say hi")).await);
        assert_eq!(runs(&server, &agent).await, 4);
        let body = json!({ "otid": "one" });
        let found = server.post(&format!("/v1/conversations/{agent}/stream"), &body).await;
        assert_eq!(events(&found), known);
        let none = json!({ "otid": "two" });
        let none = server.post(&format!("/v1/conversations/{agent}/stream"), &none).await;
        let expected = "INVALID_ARGUMENT: No active runs found for this conversation.";
        assert_eq!(detail(&none), (400, expected));
    }
}

#[tokio::test]
async fn servers_that_share_a_database_begin_one_run_together() {
    let Some(database) = TestDatabase::create(Kind::Postgres).await else {
        return;
    };
    let on_it = |config: &mut bulkhead_server::Config| {
        config.database_url = Some(database.url().to_owned());
        config.key = Some("ab".repeat(32));
    };
    let one = TestServer::start_with(on_it).await;
    let other = TestServer::start_with(on_it).await;
    let agent = agent(&one, json!({ "include_base_tools": false })).await;
    let messages = format!("{}/messages", begun(&one, &agent).await);
    for round in 0..3 {
        let body = message(&format!("round {round}"), "pause 20ms\nsay a b c d");
        let ask = |server: &TestServer| server.request(Method::POST, &messages).json(&body).send();
        let all = [&one, &other, &one, &other].map(ask);
        let mut streams = Vec::new();
        for answer in join_all(all).await {
            streams.push(answer.unwrap().text().await.unwrap());
        }
        assert!(streams[0].ends_with("data: [DONE]\n\n"), "{}", streams[0]);
        assert!(
            streams.iter().all(|stream| *stream == streams[0]),
            "{streams:?}"
        );
        assert_eq!(runs(&other, &agent).await, round + 1);
    }
}
