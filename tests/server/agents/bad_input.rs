//! What is refused, in which words.

use serde_json::json;

use super::{NOBODY, SCRIPTED, agent, detail, path, read, touched};
use crate::support::TestServer;

#[tokio::test]
async fn a_body_that_can_not_be_is_refused_and_nothing_is_made() {
    let server = TestServer::start().await;
    for (body, status, expected) in [
        (
            json!({ "name": "a/b" }),
            422,
            "Agent name 'a/b' contains invalid characters.",
        ),
        (json!({ "name": "" }), 422, "Agent name must not be empty."),
        (
            json!({ "timezone": "Mars/Crater" }),
            422,
            "Invalid timezone: Mars/Crater.",
        ),
        (
            json!({ "max_files_open": 5000 }),
            400,
            "INVALID_ARGUMENT: max_files_open cannot exceed 1000. Got: 5000",
        ),
        (
            json!({ "agent_type": "split_thread_agent" }),
            400,
            "Invalid agent type: AgentType.split_thread_agent",
        ),
        (
            json!({ "agent_type": "hero" }),
            422,
            "'type': 'enum', 'loc': ('body', 'agent_type')",
        ),
        (
            json!({ "model": "gpt-4o" }),
            400,
            "INVALID_ARGUMENT: The model handle should be in the format provider/model-name",
        ),
        (
            json!({ "model": "openai/zzz" }),
            404,
            "NOT_FOUND: Handle openai/zzz not found, must be one of [",
        ),
        (
            json!({ "embedding": "openai/zz" }),
            400,
            "INVALID_ARGUMENT: Embedding model openai/zz not found",
        ),
        (
            json!({ "llm_config": { "model": "x" } }),
            422,
            "'loc': ('body', 'llm_config', 'model_endpoint_type'), 'msg': 'Field required'",
        ),
        (
            json!({ "model_settings": { "provider_type": "martian" } }),
            422,
            "Input tag 'martian' found using 'provider_type' does not match any of the expected tags: 'openai', ",
        ),
        (
            json!({ "context_window_limit": 0 }),
            400,
            "INVALID_ARGUMENT: context_window_limit",
        ),
        (
            json!({ "memory_blocks": [{ "label": "x" }] }),
            422,
            "'loc': ('body', 'memory_blocks', 0, 'value'), 'msg': 'Field required'",
        ),
        (
            json!({ "tool_rules": [{ "type": "max_count_per_step", "tool_name": "x" }] }),
            422,
            "'loc': ('body', 'tool_rules', 0, 'max_count_per_step', 'max_count_limit')",
        ),
        (
            json!({ "block_ids": ["block-1"] }),
            422,
            "'type': 'string_too_short', 'loc': ('body', 'block_ids', 0)",
        ),
        (
            json!({ "secrets": { "A": 1 } }),
            422,
            "'loc': ('body', 'secrets', 'A')",
        ),
        (
            json!({ "tags": "a" }),
            422,
            "'type': 'list_type', 'loc': ('body', 'tags')",
        ),
        (
            json!({ "initial_message_sequence": [{ "role": "tool", "content": "x" }] }),
            422,
            "Input should be 'user', 'system' or 'assistant'",
        ),
        (
            json!({ "folder_ids": [format!("source-{NOBODY}")] }),
            404,
            "Source not found with id=",
        ),
    ] {
        let mut body = body;
        if body.get("model").is_none() && body.get("llm_config").is_none() {
            body["model"] = json!(SCRIPTED);
        }
        let refused = server.post("/v1/agents/", &body).await;
        let (found, text) = detail(&refused);
        assert!(
            found == status && text.contains(expected),
            "{body}: {refused:?}"
        );
    }
    for broken in ["", "{", "[1]", "null"] {
        let request = server.request(reqwest::Method::POST, "/v1/agents/");
        let request = request
            .header("content-type", "application/json")
            .body(broken);
        assert_eq!(request.send().await.unwrap().status(), 422, "{broken}");
    }
    assert_eq!(read(&server, "/v1/agents/count").await, 0);
    assert_eq!(read(&server, "/v1/blocks/count").await, 0);
    let more = json!({ "model": SCRIPTED, "unheard_of": 1 });
    assert_eq!(server.post("/v1/agents/", &more).await.status, 200);
}

#[tokio::test]
async fn a_change_that_can_not_be_changes_nothing() {
    let server = TestServer::start().await;
    let made = agent(&server, json!({ "name": "Ada" })).await;
    for (body, status, expected) in [
        (json!({ "name": "x<y" }), 422, "contains invalid characters"),
        (json!({ "timezone": "" }), 422, "Invalid timezone"),
        (
            json!({ "model": "openai/zzz", "name": "New" }),
            404,
            "NOT_FOUND: Handle openai/zzz",
        ),
        (
            json!({ "model_settings": { "provider_type": "openai", "temperature": 9 }, "name": "New" }),
            400,
            "INVALID_ARGUMENT: model_settings: temperature",
        ),
        (
            json!({ "message_ids": [format!("message-{NOBODY}")], "name": "New" }),
            404,
            "Message with id message-",
        ),
        (
            json!({ "block_ids": [format!("block-{NOBODY}")], "name": "New" }),
            409,
            "foreign key",
        ),
        (
            json!({ "last_stop_reason": "boredom" }),
            422,
            "'loc': ('body', 'last_stop_reason')",
        ),
    ] {
        let refused = server.patch(&path(&made), &body).await;
        let (found, text) = detail(&refused);
        assert!(
            found == status && text.contains(expected),
            "{body}: {refused:?}"
        );
    }
    let after = read(&server, &path(&made)).await;
    assert_eq!(
        (&after["name"], &after["updated_at"]),
        (&made["name"], &made["updated_at"])
    );
}

#[tokio::test]
async fn ids_of_paths_are_checked_by_their_form() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({})).await;
    for (path, name, prefix) in [
        ("/v1/agents/agent-1".to_owned(), "agent_id", "agent"),
        ("/v1/agents/nonsense/tools".to_owned(), "agent_id", "agent"),
        ("/v1/blocks/block-x".to_owned(), "block_id", "block"),
        (
            format!("/v1/identities/agent-{NOBODY}"),
            "identity_id",
            "identity",
        ),
        ("/v1/archives/1".to_owned(), "archive_id", "archive"),
    ] {
        let refused = server.get(&path).await;
        let (status, text) = detail(&refused);
        assert_eq!(status, 422, "{path}");
        assert!(text.contains(&format!("('path', '{name}')")), "{text}");
        let example = format!("{prefix}-123e4567-e89b-42d3-8456-426614174000");
        assert_eq!(refused.body["examples"], json!([example]));
    }
    for touch in [
        "tools/attach/x",
        "tools/detach/x",
        "core-memory/blocks/attach/x",
        "identities/attach/x",
        "archives/attach/x",
    ] {
        let refused = touched(&server, &format!("{}/{touch}", path(&agent))).await;
        assert_eq!(detail(&refused).0, 422, "{touch}");
    }
    let missing = server.get(&format!("/v1/agents/agent-{NOBODY}")).await;
    let expected = format!("Agent with ID agent-{NOBODY} not found");
    assert_eq!(detail(&missing), (404, &*expected));
}

#[tokio::test]
async fn queries_that_can_not_be_are_refused_with_every_fault() {
    let server = TestServer::start().await;
    for (path, expected) in [
        ("/v1/agents/?limit=x", "'loc': ('query', 'limit')"),
        ("/v1/agents/?order=up", "Input should be 'asc' or 'desc'"),
        (
            "/v1/agents/?order_by=name",
            "Input should be 'created_at', 'updated_at' or 'last_run_completion'",
        ),
        ("/v1/agents/?last_stop_reason=x", "'type': 'enum'"),
        ("/v1/agents/?match_all_tags=maybe", "'type': 'bool_parsing'"),
        (
            "/v1/blocks/?label=a b",
            "String should match pattern '^[a-zA-Z0-9_/-]+$'",
        ),
        (
            "/v1/blocks/?identity_id=x",
            "'loc': ('query', 'identity_id')",
        ),
        ("/v1/tags/?order_by=age", "'loc': ('query', 'order_by')"),
    ] {
        let refused = server.get(path).await;
        let (status, text) = detail(&refused);
        assert!(
            status == 422 && text.contains(expected),
            "{path}: {refused:?}"
        );
    }
    for cursor in ["/v1/agents/?after=agent-1", "/v1/blocks/?before=block-1"] {
        assert_eq!(detail(&server.get(cursor).await).0, 404, "{cursor}");
    }
}
