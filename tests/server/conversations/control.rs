//! One request at a time; runs are cancelled, contexts made shorter.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use super::begun;
use crate::{
    clients::{agent, detail, made, read, said, text, told},
    live::Live,
    support::{Answer, TestServer},
};

/// Begins a request that lasts, and waits until its run goes on.
async fn busy(
    server: &TestServer,
    agent: &str,
    messages: &str,
) -> (tokio::task::JoinHandle<Answer>, String) {
    let body = json!({ "input": "wait 20s\nsay late", "streaming": false });
    let request = server.request(Method::POST, messages).json(&body);
    let waiting = tokio::spawn(async move { Answer::read(request.send().await.unwrap()).await });
    let active = format!("/v1/runs/?agent_id={agent}&active=true");
    for _ in 0..500 {
        let runs = read(server, &active).await;
        if let Some(run) = runs[0]["id"].as_str() {
            return (waiting, run.to_owned());
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("no run began");
}

#[tokio::test]
async fn a_second_request_is_refused_while_one_goes_on_and_taken_after_it_was_cancelled() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({ "include_base_tools": false })).await;
    let path = begun(&server, &agent).await;
    let messages = format!("{path}/messages");
    let (waiting, run) = busy(&server, &agent, &messages).await;
    for streaming in [true, false] {
        let body = json!({ "input": "say now", "streaming": streaming });
        let refused = server.post(&messages, &body).await;
        let expected = format!(
            "CONFLICT: Cannot send a new message: Another request (run_id={run}) is currently being \
             processed for this conversation. Please wait for it to complete."
        );
        assert_eq!(detail(&refused), (409, &*expected));
        assert_eq!(refused.body["run_id"], run);
    }
    // Another thread of the agent is free.
    let other = format!("{}/messages", begun(&server, &agent).await);
    assert_eq!(said(&told(&server, &other, "say free").await), ["free"]);

    let cancelled = made(&server, &format!("{path}/cancel"), &Value::Null).await;
    assert_eq!(cancelled, json!({ &run: "cancelled" }));
    let answer = waiting.await.unwrap();
    assert_eq!(
        answer.body["stop_reason"]["stop_reason"], "cancelled",
        "{answer:?}"
    );
    assert_eq!(
        read(&server, &format!("/v1/runs/{run}")).await["status"],
        "cancelled"
    );
    assert_eq!(said(&told(&server, &messages, "say now").await), ["now"]);

    let idle = server.post(&format!("{path}/cancel"), &Value::Null).await;
    let id = path.rsplit('/').next().unwrap();
    let expected = format!("CONFLICT: No active runs to cancel for conversation {id}");
    assert_eq!(detail(&idle), (409, &*expected));
}

#[tokio::test]
async fn a_long_conversation_is_made_shorter() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({ "include_base_tools": false })).await;
    let path = begun(&server, &agent).await;
    for number in 0..4 {
        told(
            &server,
            &format!("{path}/messages"),
            &format!("say {number}"),
        )
        .await;
    }
    let own = begun(&server, &agent).await;
    let body = json!({ "compaction_settings": { "mode": "all" } });
    let report = made(&server, &format!("{path}/compact"), &body).await;
    assert_eq!(
        (
            &report["num_messages_before"],
            &report["num_messages_after"]
        ),
        (&json!(9), &json!(2))
    );
    let context = read(&server, &path).await["in_context_message_ids"].clone();
    assert_eq!(context.as_array().unwrap().len(), 2);
    let list = read(&server, &format!("{path}/messages?limit=100")).await;
    assert_eq!(
        list.as_array().unwrap().len(),
        10,
        "what is out of sight is not gone"
    );
    let refused = server.post(&format!("{own}/compact"), &Value::Null).await;
    let (status, text) = detail(&refused);
    assert!(
        status == 400 && text.starts_with("Summarization failed to reduce"),
        "{text}"
    );
}

#[tokio::test]
async fn the_system_message_is_made_anew_unless_it_is_only_asked_for() {
    let server = TestServer::start().await;
    let blocks = json!([{ "label": "human", "value": "old" }]);
    let agent = agent(&server, json!({ "memory_blocks": blocks })).await;
    let path = begun(&server, &agent).await;
    let block = format!("/v1/agents/{agent}/core-memory/blocks/human");
    assert_eq!(
        server
            .patch(&block, &json!({ "value": "new" }))
            .await
            .status,
        200
    );
    let prompt = async || {
        let list = read(&server, &format!("{path}/messages")).await;
        text(&list[0]["content"]).to_owned()
    };
    let before = prompt().await;
    let dry = made(
        &server,
        &format!("{path}/recompile?dry_run=true"),
        &Value::Null,
    )
    .await;
    assert!(text(&dry).contains("<value>\nnew\n</value>"), "{dry}");
    assert_eq!(prompt().await, before);
    let made = made(&server, &format!("{path}/recompile"), &Value::Null).await;
    assert_eq!(prompt().await, text(&made));
    assert!(text(&made).contains("<value>\nnew\n</value>"), "{made}");
}

#[tokio::test]
async fn the_default_thread_is_cancelled_without_the_conversations_and_an_agent_with_them() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({ "include_base_tools": false })).await;
    let conversation = format!("{}/messages", begun(&server, &agent).await);
    let own = format!("/v1/agents/{agent}/messages/stream");
    let body = json!({ "input": "wait 60s\nsay late" });
    let mut other = Live::post(&server, &conversation, &body).await;
    let kept = other.run().await;
    for cancel in [
        format!("/v1/conversations/default/cancel?agent_id={agent}"),
        format!("/v1/conversations/{agent}/cancel"),
    ] {
        let mut stream = Live::post(&server, &own, &body).await;
        let run = stream.run().await;
        let cancelled = made(&server, &cancel, &Value::Null).await;
        assert_eq!(cancelled, json!({ run: "cancelled" }));
        let idle = server.post(&cancel, &Value::Null).await;
        let expected = format!("CONFLICT: No active runs to cancel for agent {agent}");
        assert_eq!(detail(&idle), (409, &*expected));
    }
    let goes_on = read(&server, &format!("/v1/runs/{kept}")).await;
    assert_eq!(goes_on["status"], "running");
    let all = format!("/v1/agents/{agent}/messages/cancel");
    let cancelled = made(&server, &all, &json!({})).await;
    assert_eq!(cancelled, json!({ kept: "cancelled" }));
}
