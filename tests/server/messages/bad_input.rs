//! What is refused, in the words that clients know.

use serde_json::{Value, json};

use super::{agent, detail, path, send};
use crate::support::TestServer;

const NOBODY: &str = "00000000-0000-4000-8000-000000000000";

#[tokio::test]
async fn a_body_that_is_not_what_the_route_takes_is_refused_with_every_place() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({})).await;
    for (body, expected) in [
        (
            json!({}),
            "Value error, Must specify either 'input' or 'messages'.",
        ),
        (
            json!({ "input": "a", "messages": [] }),
            "Value error, Cannot specify both 'input' and 'messages'. Use one or the other.",
        ),
        (json!({ "messages": [] }), "Messages must not be empty"),
        (json!({ "input": 5 }), "('body', 'input')"),
        (
            json!({ "messages": "x" }),
            "'list_type', 'loc': ('body', 'messages')",
        ),
        (
            json!({ "messages": [{ "role": "robot", "content": "x" }] }),
            "Input should be 'user', 'system' or 'assistant'",
        ),
        (
            json!({ "messages": [{ "role": "user" }] }),
            "'missing', 'loc': ('body', 'messages', 0, 'message', 'content')",
        ),
        (
            json!({ "messages": [{ "type": "letter" }] }),
            "'union_tag_invalid'",
        ),
        (
            json!({ "input": "x", "max_steps": "many" }),
            "'int_parsing'",
        ),
        (
            json!({ "input": "x", "max_steps": 0 }),
            "{'type': 'greater_than', 'loc': ('body', 'max_steps'), 'msg': 'Input should be greater than 0', 'input': 0, 'ctx': {'gt': 0}}",
        ),
        (
            json!({ "input": "x", "include_return_message_types": ["letters"] }),
            "Input should be 'system_message', ",
        ),
        (
            json!({ "input": "x", "stream_tokens": true, "background": true, "include_pings": false }),
            "Streaming options set without streaming enabled. stream_tokens can only be true when streaming=true; include_pings can only be set to false when streaming=true; background can only be true when streaming=true. Either set streaming=true or use default values for streaming options.",
        ),
    ] {
        let answer = send(&server, &agent, body.clone()).await;
        let (status, text) = detail(&answer);
        assert_eq!(status, 422, "{body}: {text}");
        assert!(text.contains(expected), "{body}: {text}");
    }
    // So it is on the other ways to send.
    let body = json!({ "input": "x", "max_steps": -1 });
    let conversation = format!("/v1/conversations/{agent}/messages");
    for path in [
        &*path(&agent, "/stream"),
        &path(&agent, "/async"),
        &conversation,
    ] {
        let answer = server.post(path, &body).await;
        let (status, text) = detail(&answer);
        assert!(
            status == 422 && text.contains("'greater_than'"),
            "{path}: {text}"
        );
    }
    for (messages, expected) in [
        (
            json!([{ "type": "approval" }]),
            "INVALID_ARGUMENT: an approval needs",
        ),
        (
            json!([{ "role": "user", "content": [{ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "!" } }] }]),
            "INVALID_ARGUMENT: the data of an image is not base64",
        ),
        (
            json!([{ "role": "user", "content": [{ "type": "tool_call", "id": "1", "name": "x", "input": {} }] }]),
            "INVALID_ARGUMENT: content of the type tool_call",
        ),
    ] {
        let answer = send(&server, &agent, json!({ "messages": messages })).await;
        let (status, text) = detail(&answer);
        assert_eq!(status, 400, "{text}");
        assert!(text.starts_with(expected), "{text}");
    }
    let listed = server.get(&path(&agent, "")).await;
    assert_eq!(super::kinds(&listed.body), ["system_message"]);
}

#[tokio::test]
async fn what_is_not_there_is_told_in_the_words_of_its_kind() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({})).await;
    let nobody = format!("agent-{NOBODY}");
    let missing = format!("Agent with ID {nobody} not found");
    for rest in ["", "/stream", "/async", "/cancel"] {
        let answer = server
            .post(&path(&nobody, rest), &json!({ "input": "x" }))
            .await;
        assert_eq!(detail(&answer), (404, missing.as_str()), "{rest}");
    }
    let summarize = format!("/v1/agents/{nobody}/summarize");
    assert_eq!(
        detail(&server.post(&summarize, &json!({})).await),
        (404, missing.as_str())
    );
    assert_eq!(
        detail(&server.get(&path(&nobody, "")).await),
        (404, missing.as_str())
    );
    let malformed = server.post(&path("x", ""), &json!({ "input": "x" })).await;
    assert_eq!(malformed.status, 422);
    assert_eq!(
        malformed.body["examples"],
        json!(["agent-123e4567-e89b-42d3-8456-426614174000"])
    );
    let handle = json!({ "input": "x", "override_model": "nothing" });
    assert_eq!(
        detail(&send(&server, &agent, handle).await),
        (
            400,
            "INVALID_ARGUMENT: The model handle should be in the format provider/model-name"
        )
    );
    let run = format!("/v1/runs/run-{NOBODY}");
    let actor = format!("access level in ['read'] for actor='user-{NOBODY}'");
    let expected = format!("Run not found with id='['run-{NOBODY}']', {actor}");
    for rest in ["", "/messages", "/steps", "/usage", "/metrics"] {
        assert_eq!(
            detail(&server.get(&format!("{run}{rest}")).await),
            (404, expected.as_str())
        );
    }
    let step = format!("/v1/steps/step-{NOBODY}");
    let expected = format!("Step not found with id='['step-{NOBODY}']', {actor}");
    for rest in ["", "/messages", "/metrics", "/trace", "/receipts"] {
        assert_eq!(
            detail(&server.get(&format!("{step}{rest}")).await),
            (404, expected.as_str())
        );
    }
    for (path, status, expected) in [
        (
            "/v1/runs/abc",
            400,
            "INVALID_ARGUMENT: Invalid run ID format: abc. Expected format: 'run-<uuid4>'",
        ),
        (
            "/v1/runs/?statuses=foo",
            422,
            "'foo' is not a valid RunStatus",
        ),
    ] {
        assert_eq!(detail(&server.get(path).await), (status, expected));
    }
    assert_eq!(server.get("/v1/runs/?limit=0").await.status, 422);
    let edit = server
        .patch(&path(&agent, &format!("/message-{NOBODY}")), &json!({}))
        .await;
    assert_eq!(edit.status, 405);
    assert_ne!(edit.body["detail"], Value::Null);
}
