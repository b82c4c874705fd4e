//! What a provider would get, to look at.

use serde_json::{Value, json};

use super::{agent, detail, kinds, path, say, text};
use crate::{
    clients::{made, read},
    conversations::begun,
    support::TestServer,
    vendor::{KEY, MODEL, Vendor},
};

const PREVIEW: &str = "/preview-raw-payload";

#[tokio::test]
async fn a_preview_is_what_the_provider_gets_afterwards() {
    let vendor = Vendor::start().await;
    let server = TestServer::start().await;
    let body = json!({
        "name": "mine", "provider_type": "openai", "api_key": KEY, "base_url": vendor.base_url,
    });
    made(&server, "/v1/providers/", &body).await;
    let twice = super::tool(&server, "twice", "return a + a").await;
    let more = json!({ "model": format!("mine/{MODEL}"), "tool_ids": [twice] });
    let agent = agent(&server, more).await;
    say(&server, &agent, "Who is there?").await;
    let conversation = format!("{}/messages", begun(&server, &agent).await);
    for (messages, body) in [
        (path(&agent, ""), json!({ "input": "And now?" })),
        (
            path(&agent, ""),
            json!({
                "messages": [{ "role": "user", "content": "Briefly." }], "streaming": true,
                "stream_tokens": true, "override_system": "Be brief.",
            }),
        ),
        (
            conversation.clone(),
            json!({ "input": "Here too?", "streaming": false }),
        ),
    ] {
        let shown = server.post(&format!("{messages}{PREVIEW}"), &body).await;
        assert_eq!(shown.status, 200, "{shown:?}");
        assert!(!shown.text.contains(KEY), "{}", shown.text);
        let asked = vendor.asked().len();
        assert_eq!(server.post(&messages, &body).await.status, 200);
        let all = vendor.asked();
        assert_eq!(all.len(), asked + 1, "a preview asks nobody");
        assert_eq!(shown.body, all[asked]);
    }
    let preview = format!("{conversation}{PREVIEW}");
    let shown = made(&server, &preview, &json!({ "input": "x" })).await;
    assert_eq!(shown["tools"][0]["function"]["name"], "twice");
    assert_eq!(shown["messages"][0]["role"], "system");
}

#[tokio::test]
async fn a_preview_leaves_nothing_and_is_refused_as_the_message_would_be() {
    let server = TestServer::start().await;
    let waits = json!({ "default_requires_approval": true });
    let secret = super::tool_with(&server, "secret", "return a", waits).await;
    let agent = agent(&server, json!({ "tool_ids": [secret] })).await;
    let preview = path(&agent, PREVIEW);
    let shown = made(&server, &preview, &json!({ "input": "call secret" })).await;
    assert_eq!(shown["messages"][0]["content"][0]["text"], "call secret");
    assert_eq!(
        kinds(&server.get(&path(&agent, "")).await.body),
        ["system_message"]
    );
    assert_eq!(
        read(&server, &format!("/v1/runs/?agent_id={agent}")).await,
        json!([])
    );
    let own = format!("/v1/conversations/default/messages{PREVIEW}");
    let body = json!({ "input": "call secret", "agent_id": agent });
    assert_eq!(
        made(&server, &own, &body).await["messages"],
        shown["messages"]
    );

    let asked = say(&server, &agent, "call secret").await;
    let call = text(&asked["messages"][0]["tool_call"]["tool_call_id"]);
    let waits = server.post(&preview, &json!({ "input": "x" })).await;
    assert_eq!(waits.status, 409, "{waits:?}");
    assert_eq!(waits.body["detail"]["code"], "PENDING_APPROVAL");
    let decision = json!({ "type": "approval", "tool_call_id": call, "approve": true });
    let body = json!({ "messages": [{ "type": "approval", "approvals": [decision] }] });
    let (status, words) = refused(&server, &preview, &body).await;
    assert!(
        status == 400 && words.starts_with("INVALID_ARGUMENT: what a model is asked after"),
        "{words}"
    );
    let nobody = path("agent-00000000-0000-4000-8000-000000000000", PREVIEW);
    assert_eq!(
        refused(&server, &nobody, &json!({ "input": "x" })).await.0,
        404
    );
    assert_eq!(refused(&server, &preview, &json!({})).await.0, 422);
    let state = read(
        &server,
        &format!("/v1/agents/{agent}?include=agent.pending_approval"),
    )
    .await;
    assert!(state["pending_approval"].is_object(), "the request is open");
}

async fn refused(server: &TestServer, path: &str, body: &Value) -> (u16, String) {
    let answer = server.post(path, body).await;
    let (status, text) = detail(&answer);
    (status, text.to_owned())
}

#[tokio::test]
async fn a_model_of_anthropic_must_call_a_tool_only_where_rules_or_an_older_type_say_so() {
    let server = TestServer::start().await;
    let body = json!({
        "name": "claude", "provider_type": "anthropic", "api_key": KEY,
        "base_url": "http://127.0.0.1:9",
    });
    made(&server, "/v1/providers/", &body).await;
    let mut tools = Vec::new();
    for name in ["one", "two"] {
        tools.push(super::tool(&server, name, "return a").await);
    }
    let first = |name: &str| json!({ "type": "run_first", "tool_name": name });
    let auto = json!({ "type": "auto", "disable_parallel_tool_use": true });
    for (thinks, agent_type, rules, choice, offered) in [
        (false, "letta_v1_agent", json!([]), "auto", 2),
        (true, "letta_v1_agent", json!([]), "auto", 2),
        (false, "letta_v1_agent", json!([first("one")]), "tool", 1),
        (true, "letta_v1_agent", json!([first("one")]), "auto", 1),
        (
            false,
            "letta_v1_agent",
            json!([first("one"), first("two")]),
            "any",
            2,
        ),
        (false, "memgpt_agent", json!([]), "any", 2),
    ] {
        let config = json!({
            "model": "claude-sonnet-4-5", "model_endpoint_type": "anthropic",
            "provider_name": "claude", "context_window": 100_000, "enable_reasoner": thinks,
        });
        let more = json!({
            "model": null, "llm_config": config, "agent_type": agent_type, "tool_ids": tools,
            "tool_rules": rules, "include_base_tool_rules": false,
        });
        let agent = agent(&server, more).await;
        let shown = made(&server, &path(&agent, PREVIEW), &json!({ "input": "x" })).await;
        let what = format!("{thinks} {agent_type} {rules}: {shown}");
        assert_eq!(shown["tool_choice"]["type"], choice, "{what}");
        assert_eq!(shown["tools"].as_array().unwrap().len(), offered, "{what}");
        assert_eq!(shown["thinking"].is_object(), thinks, "{what}");
        if choice == "auto" {
            assert_eq!(shown["tool_choice"], auto, "{what}");
        }
    }
}
