//! One agent: what of it the answer carries, for whom.

use reqwest::header::USER_AGENT;
use serde_json::{Value, json};

use super::{agent, path, read, text, tool};
use crate::support::{Answer, TestServer};

/// An agent with something of everything.
async fn full(server: &TestServer) -> Value {
    tool(server, "one", json!({})).await;
    let identity = json!({ "identifier_key": "k", "name": "Ada", "identity_type": "user" });
    let identity = super::made(server, "/v1/identities/", &identity).await;
    let body = json!({
        "memory_blocks": [{ "label": "human", "value": "Bob" }], "tools": ["one"],
        "tags": ["t"], "secrets": { "KEY": "value" }, "identity_ids": [identity["id"]],
    });
    agent(server, body).await
}

/// The relations of an answer that are not empty.
fn filled(agent: &Value) -> Vec<&str> {
    let of_memory = agent["memory"]["blocks"] != json!([]);
    assert_eq!(of_memory, agent["blocks"] != json!([]));
    assert_eq!(agent["tool_exec_environment_variables"], agent["secrets"]);
    let ids = agent["identity_ids"].as_array().unwrap().len();
    assert_eq!(ids, agent["identities"].as_array().unwrap().len());
    let relations = ["blocks", "identities", "secrets", "tags", "tools"];
    relations
        .into_iter()
        .filter(|relation| agent[*relation] != json!([]))
        .collect()
}

#[tokio::test]
async fn an_answer_carries_only_the_relations_that_are_asked_for() {
    let server = TestServer::start().await;
    let agent = full(&server).await;
    for (query, expected) in [
        ("", &[][..]),
        ("include=agent.tools", &["tools"]),
        (
            "include=agent.blocks&include=agent.tags",
            &["blocks", "tags"],
        ),
        (
            "include=agent.secrets&include=agent.identities",
            &["identities", "secrets"],
        ),
        (
            "include=agent.managed_group&include=agent.sources&include=agent.pending_approval",
            &[],
        ),
        (
            "include_relationships=tools&include_relationships=memory",
            &["blocks", "tools"],
        ),
        ("include_relationships=nonsense", &[]),
    ] {
        let one = read(&server, &format!("{}?{query}", path(&agent))).await;
        assert_eq!(filled(&one), expected, "{query}");
        let list = read(&server, &format!("/v1/agents/?{query}")).await;
        assert_eq!(list[0], one, "{query}");
    }
    let wrong = server.get(&format!("{}?include=tools", path(&agent))).await;
    let (status, text) = super::detail(&wrong);
    assert_eq!(status, 422);
    assert!(
        text.contains("'loc': ('query', 'include', 0)") && text.contains("'agent.blocks'"),
        "{text}"
    );
}

#[tokio::test]
async fn older_clients_get_everything() {
    let server = TestServer::start().await;
    let agent = full(&server).await;
    let all = ["blocks", "identities", "secrets", "tags", "tools"];
    for (user_agent, expected) in [
        ("curl/8.0", &all[..]),
        ("letta-client/0.1.300", &all),
        ("letta-client/1.12.1", &[]),
        ("@letta-ai/letta-client/1.7.12", &[]),
    ] {
        let request = server.request(reqwest::Method::GET, &path(&agent));
        let request = request.header(USER_AGENT, user_agent);
        let answer = Answer::read(request.send().await.unwrap()).await;
        assert_eq!(filled(&answer.body), expected, "{user_agent}");
    }
    let request = server.request(reqwest::Method::GET, &path(&agent));
    let request = request
        .header(USER_AGENT, "anything")
        .header("X-Stainless-Package-Version", "1.12.1");
    let answer = Answer::read(request.send().await.unwrap()).await;
    assert!(filled(&answer.body).is_empty());
}

#[tokio::test]
async fn what_a_model_sees_is_counted_in_its_parts() {
    let server = TestServer::start().await;
    let agent = full(&server).await;
    let context = read(&server, &format!("{}/context", path(&agent))).await;
    assert_eq!(context["num_messages"], 1);
    assert!(text(&context["core_memory"]).contains("Bob"), "{context}");
    assert!(context["context_window_size_current"].as_i64().unwrap() > 0);
    assert_eq!(
        context["functions_definitions"][0]["function"]["name"],
        "one"
    );
    let same = read(
        &server,
        &format!("{}/context?conversation_id=default", path(&agent)),
    )
    .await;
    assert_eq!(same, context);
    let memory = read(&server, &format!("{}/core-memory", path(&agent))).await;
    assert_eq!(memory["blocks"][0]["value"], "Bob");
    assert_eq!(memory["prompt_template"], "");
}

#[tokio::test]
async fn paths_are_answered_with_and_without_a_slash() {
    let server = TestServer::start().await;
    let agent = full(&server).await;
    for other in [
        "/v1/agents",
        "/v1/agents/count/",
        "/v1/blocks",
        "/v1/tags",
        "/v1/archives",
    ] {
        assert_eq!(server.get(other).await.status, 200, "{other}");
    }
    let same = read(&server, &format!("{}/", path(&agent))).await;
    assert_eq!(same["id"], agent["id"]);
}
