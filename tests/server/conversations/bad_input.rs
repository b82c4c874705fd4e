//! What is refused, in which words.

use serde_json::{Value, json};

use super::begun;
use crate::{
    clients::{NOBODY, agent, detail, read},
    support::TestServer,
};

#[tokio::test]
async fn a_conversation_that_can_not_be_is_refused_and_nothing_is_made() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({})).await;
    let of = format!("?agent_id={agent}");
    for (query, body, status, expected) in [
        (
            "",
            json!({}),
            422,
            "'type': 'missing', 'loc': ('query', 'agent_id')",
        ),
        (
            &*format!("?agent_id=agent-{NOBODY}"),
            json!({}),
            404,
            "Agent with ID agent-00000000-0000-4000-8000-000000000000 not found",
        ),
        (
            &of,
            json!({ "model": "openai/zzz" }),
            404,
            "NOT_FOUND: Handle openai/zzz not found",
        ),
        (
            &of,
            json!({ "model": "zzz" }),
            400,
            "The model handle should be in the format",
        ),
        (
            &of,
            json!({ "isolated_block_labels": ["nope"] }),
            404,
            "No block with label 'nope' found",
        ),
        (
            &of,
            json!({ "isolated_block_labels": "x" }),
            422,
            "'type': 'list_type'",
        ),
        (
            &of,
            json!({ "summary": 1 }),
            422,
            "'loc': ('body', 'summary')",
        ),
        (
            &of,
            json!({ "model_settings": { "provider_type": "martian" } }),
            422,
            "Input tag 'martian' found using 'provider_type'",
        ),
        (
            &of,
            json!({ "model_settings": { "provider_type": "openai", "temperature": 9 } }),
            400,
            "INVALID_ARGUMENT: model_settings: temperature",
        ),
    ] {
        let refused = server
            .post(&format!("/v1/conversations/{query}"), &body)
            .await;
        let (found, text) = detail(&refused);
        assert!(
            found == status && text.contains(expected),
            "{query} {body}: {refused:?}"
        );
    }
    assert_eq!(read(&server, "/v1/conversations/").await, json!([]));
    let path = begun(&server, &agent).await;
    for (body, status) in [
        (json!({ "model": "openai/zzz" }), 404),
        (
            json!({ "model_settings": { "provider_type": "openai", "temperature": 9 } }),
            400,
        ),
        (json!({ "last_message_at": "yesterday" }), 422),
    ] {
        assert_eq!(
            detail(&server.patch(&path, &body).await).0,
            status,
            "{body}"
        );
    }
    assert_eq!(read(&server, &path).await["model"], Value::Null);
}

#[tokio::test]
async fn ids_and_bodies_are_checked_before_anything_happens() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({})).await;
    let path = begun(&server, &agent).await;
    let nobody = format!("/v1/conversations/conv-{NOBODY}");
    for (path, status, expected) in [
        (
            "/v1/conversations/conv-1".to_owned(),
            422,
            "('path', 'conversation_id')",
        ),
        (nobody.clone(), 404, "Conversation not found with id="),
        (
            format!("{nobody}/messages"),
            404,
            "Conversation not found with id=",
        ),
        (
            "/v1/conversations/default/messages".to_owned(),
            400,
            "INVALID_ARGUMENT: agent_id is required",
        ),
        (
            format!("/v1/conversations/agent-{NOBODY}/messages"),
            404,
            "Agent with ID agent-00000000-0000-4000-8000-000000000000 not found",
        ),
        (
            format!("{path}/messages?after=message-{NOBODY}"),
            404,
            "No message found with id 'message-00000000-0000-4000-8000-000000000000' for agent",
        ),
        (
            "/v1/conversations/?order_by=color".to_owned(),
            422,
            "Input should be 'created_at', 'last_run_completion' or 'last_message_at'",
        ),
        (
            format!("/v1/conversations/?after=conv-{NOBODY}"),
            404,
            "Conversation not found",
        ),
        (
            "/v1/messages/message-1".to_owned(),
            422,
            "('path', 'message_id')",
        ),
        (
            format!("/v1/messages/message-{NOBODY}"),
            404,
            "Message with id message-",
        ),
    ] {
        let refused = server.get(&path).await;
        let (found, text) = detail(&refused);
        assert!(
            found == status && text.contains(expected),
            "{path}: {refused:?}"
        );
    }
    for (path, body, status) in [
        (format!("{path}/messages"), json!({}), 422),
        (
            format!("{path}/messages"),
            json!({ "input": "x", "messages": [] }),
            422,
        ),
        (format!("{path}/messages"), json!({ "messages": [] }), 422),
        (
            format!("{path}/messages"),
            json!({ "input": "x", "streaming": false, "stream_tokens": true }),
            422,
        ),
        (
            format!("{path}/messages"),
            json!({ "input": "x", "override_model": "openai/zzz" }),
            404,
        ),
        (format!("{nobody}/messages"), json!({ "input": "x" }), 404),
        (
            format!("/v1/conversations/agent-{NOBODY}/messages"),
            json!({ "input": "x" }),
            404,
        ),
        (
            "/v1/conversations/default/messages".to_owned(),
            json!({ "input": "x" }),
            400,
        ),
        (format!("{nobody}/fork"), Value::Null, 404),
        (format!("{nobody}/compact"), Value::Null, 404),
        (format!("{nobody}/recompile"), Value::Null, 404),
        (format!("{nobody}/cancel"), Value::Null, 404),
        (
            format!("{path}/compact"),
            json!({ "compaction_settings": { "mode": "x" } }),
            422,
        ),
    ] {
        let refused = server.post(&path, &body).await;
        assert_eq!(
            refused.status.as_u16(),
            status,
            "{path} {body}: {refused:?}"
        );
    }
    assert_eq!(
        read(&server, &format!("/v1/runs/?agent_id={agent}")).await,
        json!([])
    );
}
