//! The tools that come with the server, which reach the agent that calls them without a grant; and
//! agents of older types, which speak by one of them.

use std::time::Duration;

use serde_json::json;

use super::{agent, calls, kinds, path, say, stop, text};
use crate::{both::on_both, support::TestServer};

/// A server whose own tools are there.
pub(crate) async fn with_tools() -> TestServer {
    let server = TestServer::start_with(|config| config.builtin_tools = true).await;
    tools_are_listed(&server).await;
    server
}

async fn tools_are_listed(server: &TestServer) {
    let listed = async {
        while server.get("/v1/tools/?name=send_message").await.body[0].is_null() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let listed = tokio::time::timeout(Duration::from_secs(120), listed).await;
    listed.expect("the tools that come with the server are listed");
}

on_both! {
    async fn agents_of_all_types_change_their_memory_by_the_tools_of_every_type(server) {
        let mut server = server;
        server.change(|config| config.builtin_tools = true);
        server.restart().await;
        tools_are_listed(&server).await;
        for agent_type in ["letta_v1_agent", "memgpt_v2_agent", "memgpt_agent"] {
            let more = json!({
                "agent_type": agent_type, "memory_blocks": [{ "label": "human", "value": "Bob" }],
                "tools": [
                    "core_memory_append", "core_memory_replace", "memory_insert", "memory_replace",
                    "memory_rethink", "memory", "memory_apply_patch", "rethink_user_memory",
                ],
            });
            let agent = agent(&server, more).await;
            let blocks = format!("/v1/agents/{agent}/core-memory/blocks");
            for (tool, arguments, label, expected) in [
                ("core_memory_append", json!({ "label": "human", "content": "tea" }), "human", Some("Bob\ntea")),
                ("core_memory_replace", json!({ "label": "human", "old_content": "tea",
                    "new_content": "milk" }), "human", Some("Bob\nmilk")),
                ("memory_insert", json!({ "label": "human", "new_string": "first", "insert_line": 0 }),
                    "human", Some("first\nBob\nmilk")),
                ("memory_replace", json!({ "label": "human", "old_string": "milk", "new_string": "rum" }),
                    "human", Some("first\nBob\nrum")),
                ("memory_rethink", json!({ "label": "human", "new_memory": "Rob" }), "human", Some("Rob")),
                ("memory_apply_patch", json!({ "label": "human", "patch": "@@\n-Rob\n+Rob, 30" }),
                    "human", Some("Rob, 30")),
                ("rethink_user_memory", json!({ "new_memory": "Rob, 31" }), "human", Some("Rob, 31")),
                ("memory", json!({ "command": "create", "path": "/memories/plan", "file_text": "go",
                    "description": "What to do." }), "plan", Some("go")),
                ("memory", json!({ "command": "rename", "old_path": "/memories/plan",
                    "new_path": "/memories/way" }), "way", Some("go")),
                ("memory", json!({ "command": "delete", "path": "/memories/way" }), "way", None),
            ] {
                let answer = say(&server, &agent, &format!("call {tool} with {arguments}")).await;
                let (called, returned) = calls(&answer)[0];
                assert_eq!(called, tool, "{agent_type}: {answer}");
                let block = server.get(&format!("{blocks}/{label}")).await.body;
                assert_eq!(block["value"].as_str(), expected, "{agent_type}: {tool}: {returned}");
            }
        }
    }
}

#[tokio::test]
async fn an_agent_remembers_and_finds_what_was_said() {
    let server = with_tools().await;
    let more = json!({
        "include_base_tools": true, "memory_blocks": [{ "label": "human", "value": "Bob" }],
    });
    let agent = agent(&server, more).await;
    let input = r#"call memory_insert with {"label": "human", "new_string": "Likes tea."}"#;
    let answer = say(&server, &agent, input).await;
    assert_eq!(calls(&answer), [("memory_insert", "Bob\nLikes tea.")]);
    let block = format!("/v1/agents/{agent}/core-memory/blocks/human");
    assert_eq!(server.get(&block).await.body["value"], "Bob\nLikes tea.");
    let unknown = say(
        &server,
        &agent,
        r#"call memory_insert with {"label": "nope", "new_string": "x"}"#,
    )
    .await;
    assert_eq!(
        calls(&unknown),
        [(
            "memory_insert",
            "'Block field nope does not exist (available sections = human)'"
        )]
    );
    let malformed = say(&server, &agent, "call memory_insert with {\"label\": 1}").await;
    let (_, problem) = calls(&malformed)[0];
    assert!(
        problem.contains("/label: ") && problem.contains("new_string"),
        "{problem}"
    );
    let found = say(
        &server,
        &agent,
        r#"call conversation_search with {"query": "tea"}"#,
    )
    .await;
    assert!(
        calls(&found)[0].1.starts_with("{'message': 'Showing "),
        "{found}"
    );
    // A component of the same name that somebody else pushes has none of it.
    let step = text(&answer["messages"][0]["step_id"]);
    let receipt = server.get(&format!("/v1/steps/{step}/receipts")).await.body;
    assert_eq!(
        receipt[0]["receipt"]["host_calls"][0]["interface"], "memory",
        "{receipt}"
    );
}

#[tokio::test]
async fn an_agent_of_an_older_type_speaks_by_a_tool() {
    let server = with_tools().await;
    let more = json!({ "agent_type": "memgpt_v2_agent", "include_base_tools": true });
    let agent = agent(&server, more).await;
    let input = r#"call send_message with {"message": "Hi there", "thinking": "A greeting."}"#;
    let answer = say(&server, &agent, input).await;
    assert_eq!(
        kinds(&answer["messages"]),
        ["reasoning_message", "assistant_message"]
    );
    assert_eq!(answer["messages"][0]["reasoning"], "A greeting.");
    assert_eq!(answer["messages"][0]["source"], "non_reasoner_model");
    assert_eq!(answer["messages"][1]["content"], "Hi there");
    assert_eq!(stop(&answer), "end_turn");
    let body = json!({ "input": input, "use_assistant_message": false });
    let plain = server.post(&path(&agent, ""), &body).await.body;
    assert_eq!(
        kinds(&plain["messages"]),
        [
            "reasoning_message",
            "tool_call_message",
            "tool_return_message"
        ]
    );
    assert_eq!(
        plain["messages"][2]["tool_return"],
        "Sent message successfully."
    );
    let input = r#"call conversation_search with {"query": "x", "request_heartbeat": true}
then
call send_message with {"message": "Nothing."}"#;
    let two = say(&server, &agent, input).await;
    assert_eq!(
        kinds(&two["messages"]),
        [
            "tool_call_message",
            "tool_return_message",
            "assistant_message"
        ]
    );
    // That it went on by itself is in the history alone.
    let listed = server.get(&path(&agent, "?limit=3")).await.body;
    assert!(kinds(&listed).contains(&"user_message"), "{listed}");
}
