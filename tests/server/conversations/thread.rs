//! What is sent to a conversation is its own.

use reqwest::Method;
use serde_json::json;

use super::{begun, conversation, path};
use crate::{
    clients::{agent, each, events, read, said, text, told},
    support::TestServer,
};

#[tokio::test]
async fn each_conversation_has_a_history_of_its_own() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({ "include_base_tools": false })).await;
    let own = format!("/v1/agents/{agent}/messages");
    let first = format!("{}/messages", begun(&server, &agent).await);
    let second = format!("{}/messages", begun(&server, &agent).await);
    for (path, input) in [
        (&first, "say a"),
        (&second, "say b"),
        (&own, "say c"),
        (&first, "say d"),
    ] {
        told(&server, path, input).await;
    }
    let users = "include_return_message_types=user_message";
    for (path, expected) in [
        (format!("{first}?{users}"), &["say d", "say a"][..]),
        (format!("{first}?{users}&order=asc"), &["say a", "say d"]),
        (format!("{second}?{users}"), &["say b"]),
        // The agent's list has all, the oldest first in either order.
        (
            format!("{own}?{users}"),
            &["say a", "say b", "say c", "say d"],
        ),
        (format!("{own}?{users}&conversation_id=default"), &["say c"]),
    ] {
        assert_eq!(
            each(&read(&server, &path).await, "content"),
            expected,
            "{path}"
        );
    }
    let default = format!("/v1/conversations/default/messages?agent_id={agent}&{users}");
    assert_eq!(each(&read(&server, &default).await, "content"), ["say c"]);
    let by_agent = format!("/v1/conversations/{agent}/messages?{users}");
    assert_eq!(each(&read(&server, &by_agent).await, "content"), ["say c"]);
    let everybody = read(&server, &format!("/v1/messages/?{users}")).await;
    assert_eq!(
        each(&everybody, "content"),
        ["say a", "say b", "say c", "say d"]
    );
}

#[tokio::test]
async fn a_conversations_list_is_truly_the_newest_first_and_its_pages_go_by_time() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({ "include_base_tools": false })).await;
    let messages = format!("{}/messages", begun(&server, &agent).await);
    told(&server, &messages, "think hard\nsay one").await;
    told(&server, &messages, "say two").await;
    let list = read(&server, &messages).await;
    let expected = [
        "assistant_message",
        "user_message",
        "assistant_message",
        "reasoning_message",
        "user_message",
        "system_message",
    ];
    assert_eq!(each(&list, "message_type"), expected);
    let second = text(&list[1]["id"]).to_owned();
    for (query, expected) in [
        (
            format!("limit=1&before={second}"),
            &["assistant_message", "reasoning_message"][..],
        ),
        (format!("after={second}"), &["assistant_message"]),
        (format!("order=asc&after={second}"), &["assistant_message"]),
        (
            "order=asc&limit=2".to_owned(),
            &["system_message", "user_message"],
        ),
    ] {
        let list = read(&server, &format!("{messages}?{query}")).await;
        assert_eq!(each(&list, "message_type"), expected, "{query}");
    }
}

#[tokio::test]
async fn an_answer_is_a_stream_unless_told_otherwise() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({ "include_base_tools": false })).await;
    let messages = format!("{}/messages", begun(&server, &agent).await);
    let streamed = server.post(&messages, &json!({ "input": "say one" })).await;
    let kinds: Vec<String> = events(&streamed)
        .iter()
        .map(|event| {
            event["message_type"]
                .as_str()
                .unwrap_or("[DONE]")
                .to_owned()
        })
        .collect();
    let expected = [
        "ping",
        "assistant_message",
        "stop_reason",
        "usage_statistics",
        "[DONE]",
    ];
    assert_eq!(kinds, expected);
    let whole = told(&server, &messages, "say two").await;
    assert_eq!(said(&whole), ["two"]);
    let run = text(&whole["messages"][0]["run_id"]);
    let run = read(&server, &format!("/v1/runs/{run}")).await;
    assert!(messages.contains(text(&run["conversation_id"])), "{run}");
}

#[tokio::test]
async fn the_agents_own_thread_has_three_names() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({ "include_base_tools": false })).await;
    told(
        &server,
        &format!("/v1/conversations/{agent}/messages"),
        "say one",
    )
    .await;
    let body = json!({ "input": "say two", "streaming": false, "agent_id": agent });
    let sent = server
        .post("/v1/conversations/default/messages", &body)
        .await;
    assert_eq!(said(&sent.body), ["two"]);
    let body = json!({ "input": "say three", "streaming": false });
    let query = format!("/v1/conversations/default/messages?agent_id={agent}");
    assert_eq!(said(&server.post(&query, &body).await.body), ["three"]);
    let users = "include_return_message_types=user_message&conversation_id=default";
    let list = read(&server, &format!("/v1/agents/{agent}/messages?{users}")).await;
    assert_eq!(each(&list, "content"), ["say one", "say two", "say three"]);
    let list = read(&server, &format!("/v1/conversations/?agent_id={agent}")).await;
    assert_eq!(list, json!([]));
}

#[tokio::test]
async fn a_conversation_may_have_a_model_of_its_own() {
    let vendor = crate::vendor::Vendor::start().await;
    let server = TestServer::start().await;
    let provider = json!({
        "name": "mine", "provider_type": "openai", "api_key": crate::vendor::KEY,
        "base_url": vendor.base_url,
    });
    let saved = server.post("/v1/providers/", &provider).await;
    assert_eq!(saved.status, 200, "{saved:?}");
    let agent = agent(&server, json!({ "include_base_tools": false })).await;
    let body = json!({
        "model": "mine/little",
        "model_settings": { "provider_type": "openai", "temperature": 0.25 },
    });
    let own = conversation(&server, &agent, body).await;
    let answer = told(
        &server,
        &format!("{}/messages", path(&own)),
        "Who is there?",
    )
    .await;
    assert_eq!(said(&answer), [crate::vendor::ANSWER]);
    assert_eq!(vendor.asked()[0]["temperature"], 0.25);
    told(&server, &format!("/v1/agents/{agent}/messages"), "say own").await;
    assert_eq!(vendor.asked().len(), 1);
}

#[tokio::test]
async fn one_message_can_be_read_by_itself() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({ "include_base_tools": false })).await;
    let messages = format!("{}/messages", begun(&server, &agent).await);
    let answer = told(&server, &messages, "think hard\nsay one").await;
    let id = text(&answer["messages"][0]["id"]);
    let one = read(&server, &format!("/v1/messages/{id}")).await;
    assert_eq!(
        each(&one, "message_type"),
        ["reasoning_message", "assistant_message"]
    );
    for search in ["/v1/messages/search", "/v1/agents/messages/search"] {
        let refused = server.post(search, &json!({ "query": "one" })).await;
        let expected =
            "Message search requires message embedding, OpenAI, and Turbopuffer to be enabled.";
        assert_eq!(
            crate::clients::detail(&refused),
            (400, expected),
            "{search}"
        );
    }
    let ready = server
        .request(Method::GET, "/v1/ready/")
        .send()
        .await
        .unwrap();
    assert_eq!(ready.status(), 200);
}
