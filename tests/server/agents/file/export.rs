//! What of an agent is written, and that it is the same after it went through a server.

use serde_json::{Value, json};

use super::{agent, detail, each, exported, imported, made, on_both_databases, path, say, text};
use crate::{agents::tool, support::TestServer};

/// A document without what is another in every copy: ids of the database, names and times. All of
/// that stands in the system message.
fn comparable(mut document: Value, agent: &Value) -> Value {
    document["created_at"] = Value::Null;
    let written = &mut document["agents"][0];
    written["name"] = Value::Null;
    let system = &mut written["messages"][0];
    assert_eq!(system["role"], "system");
    let prompt = text(&system["content"][0]["text"]).replace(text(&agent["id"]), "AGENT");
    let lines: Vec<_> = prompt
        .lines()
        .filter(|line| !line.contains("last recompiled"))
        .collect();
    system["content"] = json!(lines);
    document
}

/// An agent that has something of everything.
async fn furnished(server: &TestServer) -> Value {
    let tools = [
        tool(
            server,
            "one",
            json!({ "tags": ["x"], "return_char_limit": 1000 }),
        )
        .await,
        tool(server, "two", json!({ "default_requires_approval": true })).await,
    ];
    let image = json!([
        { "type": "text", "text": "What is this?" },
        { "type": "image", "source": {
            "type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo=",
        } },
    ]);
    let body = json!({
        "name": "Ada", "description": "helps", "metadata": { "a": [1, null] },
        "system": "Be brief.", "timezone": "Europe/Zurich", "tags": ["b", "a"],
        "tool_ids": [tools[0]["id"], tools[1]["id"]],
        "tool_rules": [{ "type": "max_count_per_step", "tool_name": "one", "max_count_limit": 3 }],
        "memory_blocks": [
            { "label": "human", "value": "Name: Bob", "limit": 500 },
            { "label": "rules", "value": "{x}", "read_only": true, "tags": ["t"],
              "description": "d", "metadata": { "k": "v" } },
        ],
        "secrets": { "TOKEN": "hunter2", "OTHER": "" },
        "compaction_settings": { "mode": "all", "clip_chars": 900 },
        "context_window_limit": 20_000, "max_files_open": 4, "parallel_tool_calls": true,
        "response_format": { "type": "text" }, "message_buffer_autoclear": false,
        "include_base_tools": false,
    });
    let made = agent(server, body).await;
    say(
        server,
        &made,
        "call one with {\"a\": 4}\ncall one\nthen\nsay Done.",
    )
    .await;
    let messages = json!({ "messages": [
        { "role": "user", "content": image, "otid": "mine", "name": "bob" },
    ] });
    self::made(server, &format!("{}/messages", path(&made)), &messages).await;
    made
}

#[tokio::test]
async fn a_copy_of_a_copy_is_the_same_document() {
    for server in on_both_databases().await {
        let original = furnished(&server).await;
        let first = exported(&server, &original, "").await;
        let copy = imported(&server, &first, &[]).await;
        assert_eq!(copy["name"], "Ada_copy");
        let second = exported(&server, &copy, "").await;
        assert_eq!(
            comparable(second, &copy),
            comparable(first.clone(), &original)
        );
        let roles = each(&first["agents"][0]["messages"], "role");
        assert_eq!(
            roles[..5],
            ["system", "user", "assistant", "tool", "assistant"]
        );
        // The copy's own prompt names the copy.
        let context = server.get(&format!("{}/context", path(&copy))).await.body;
        let metadata = text(&context["external_memory_summary"]);
        assert!(metadata.contains(text(&copy["id"])), "{metadata}");
        say(&server, &copy, "call one with {\"a\": 1}").await;
    }
}

#[tokio::test]
async fn a_document_has_local_ids_empty_secrets_and_nothing_that_a_server_would_add() {
    let server = TestServer::start().await;
    let made = furnished(&server).await;
    let path = format!("{}/export", path(&made));
    let answer = server.get(&path).await;
    assert_eq!(answer.headers["content-type"], "application/json");
    assert!(answer.text.starts_with("{\n  \"agents\": [\n    {\n"));
    assert!(!answer.text.contains("hunter2"));
    for prefix in [
        "tool-", "block-", "message-", "run-", "step-", "receipt-", "file-",
    ] {
        let mut ids = answer.text.split(prefix).skip(1);
        let id = ids.find(|rest| {
            let id = rest.get(..36).unwrap_or_default();
            id.matches('-').count() == 4 && id.as_bytes()[8] == b'-'
        });
        assert!(id.is_none(), "{prefix}{id:?}");
    }
    let document = answer.body;
    let agent = &document["agents"][0];
    for (field, expected) in [
        ("id", json!("agent-0")),
        ("tool_ids", json!(["tool-0", "tool-1"])),
        ("block_ids", json!(["block-0", "block-1"])),
        ("tools", json!([])),
        ("memory_blocks", json!([])),
        ("include_base_tools", json!(false)),
        ("include_multi_agent_tools", json!(false)),
        ("include_base_tool_rules", json!(false)),
        ("initial_message_sequence", Value::Null),
        ("secrets", json!({ "TOKEN": "", "OTHER": "" })),
        (
            "tool_exec_environment_variables",
            json!({ "TOKEN": "", "OTHER": "" }),
        ),
        ("files_agents", json!([])),
        ("group_ids", json!([])),
        ("tags", json!(["a", "b"])),
        ("timezone", json!("Europe/Zurich")),
    ] {
        assert_eq!(agent[field], expected, "{field}");
    }
    assert_eq!(agent["llm_config"]["context_window"], 20_000);
    assert_eq!(agent["compaction_settings"]["clip_chars"], 900);
    for list in ["groups", "files", "sources", "mcp_servers", "skills"] {
        assert_eq!(document[list], json!([]), "{list}");
    }
    assert!(document["metadata"]["revision_id"].is_string());
    assert!(text(&document["created_at"]).ends_with("+00:00"));
    let messages = agent["messages"].as_array().unwrap();
    for (at, message) in messages.iter().enumerate() {
        assert_eq!(message["id"], format!("message-{at}"));
        assert_eq!(message["agent_id"], "agent-0");
        assert!(text(&message["created_at"]).ends_with("+00:00"));
    }
    let context = agent["in_context_message_ids"].as_array().unwrap();
    assert_eq!(context.len(), messages.len());
    let calls = messages[2]["tool_calls"].as_array().unwrap();
    assert_eq!(calls[0]["type"], "function");
    assert_eq!(calls[0]["function"]["name"], "one");
    let returned = &messages[3]["tool_returns"][0];
    assert_eq!(returned["status"], "success");
    assert!(text(&returned["func_response"]).contains("\"message\": \"5\""));
    assert_eq!(document["tools"][0]["name"], "one");
    assert!(text(&document["tools"][0]["source_code"]).starts_with("function one"));
    assert_eq!(document["blocks"][1]["read_only"], true);
}

#[tokio::test]
async fn results_that_a_client_computed_go_along() {
    let server = TestServer::start().await;
    let original = agent(&server, json!({ "include_base_tools": false })).await;
    let messages = format!("{}/messages", path(&original));
    let asked = json!({
        "input": "call mine", "client_tools": [{ "name": "mine", "description": "Mine." }],
    });
    let asked = made(&server, &messages, &asked).await;
    let call = &asked["messages"][0]["tool_call"]["tool_call_id"];
    let parts = json!([
        { "type": "text", "text": "Here:" },
        { "type": "image", "source": {
            "type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo=",
        } },
    ]);
    let returned = json!({ "tool_call_id": call, "tool_return": parts, "status": "success" });
    let returned = json!({ "messages": [{ "type": "tool_return", "tool_returns": [returned] }] });
    made(&server, &messages, &returned).await;
    let first = exported(&server, &original, "").await;
    let written = &first["agents"][0]["messages"];
    assert_eq!(
        each(written, "role")[2..5],
        ["approval", "approval", "tool"]
    );
    assert_eq!(written[3]["approvals"][0]["tool_call_id"], *call);
    let response = &written[4]["tool_returns"][0]["func_response"];
    assert_eq!(response[0]["text"], "Here:");
    assert_eq!(response[1]["source"]["data"], "iVBORw0KGgo=");
    let copy = imported(&server, &first, &[]).await;
    let second = exported(&server, &copy, "").await;
    assert_eq!(comparable(second, &copy), comparable(first, &original));
    say(&server, &copy, "say On.").await;
}

#[tokio::test]
async fn messages_are_left_out_or_those_of_a_conversation_are_written() {
    let server = TestServer::start().await;
    let made = furnished(&server).await;
    let scrubbed = exported(&server, &made, "?scrub_messages=true").await;
    assert_eq!(scrubbed["agents"][0]["messages"], json!([]));
    assert_eq!(scrubbed["agents"][0]["in_context_message_ids"], json!([]));
    let copy = imported(&server, &scrubbed, &[]).await;
    assert_eq!(copy["message_ids"].as_array().unwrap().len(), 1);

    let conversation = format!("/v1/conversations/?agent_id={}", text(&made["id"]));
    let conversation = self::made(&server, &conversation, &json!({})).await;
    let id = text(&conversation["id"]);
    let said = json!({ "input": "say Only here.", "streaming": false });
    self::made(&server, &format!("/v1/conversations/{id}/messages"), &said).await;
    let document = exported(&server, &made, &format!("?conversation_id={id}")).await;
    let messages = &document["agents"][0]["messages"];
    assert_eq!(each(messages, "role"), ["system", "user", "assistant"]);
    assert_eq!(messages[2]["content"][0]["text"], "Only here.");
    let copy = imported(&server, &document, &[]).await;
    let prompt = format!("{}/messages?order=asc", path(&copy));
    let prompt = server.get(&prompt).await.body;
    assert!(text(&prompt[0]["content"]).contains("CONVERSATION_ID: default"));

    // A conversation that went on from another thread has that one's messages too.
    let fork = self::made(&server, &format!("/v1/conversations/{id}/fork"), &json!({})).await;
    let fork = format!("?conversation_id={}", text(&fork["id"]));
    let document = exported(&server, &made, &fork).await;
    let agent = &document["agents"][0];
    assert_eq!(agent["in_context_message_ids"].as_array().unwrap().len(), 3);
    let copy = imported(&server, &document, &[]).await;
    assert_eq!(copy["message_ids"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn a_client_may_add_skills() {
    let server = TestServer::start().await;
    let made = agent(&server, json!({ "include_base_tools": false })).await;
    let path = format!("{}/export", path(&made));
    let skill = json!({ "name": "sums", "files": { "SKILL.md": "Add." }, "source_url": null });
    let body = json!({ "skills": [skill], "scrub_messages": true });
    let document = self::made(&server, &path, &body).await;
    assert_eq!(document["skills"], json!([skill]));
    assert_eq!(document["agents"][0]["messages"], json!([]));
    imported(&server, &document, &[]).await;
    let request = server.request(reqwest::Method::POST, &path);
    assert_eq!(request.send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn an_export_of_what_is_not_there_is_refused() {
    let server = TestServer::start().await;
    let made = agent(&server, json!({ "include_base_tools": false })).await;
    let other = agent(&server, json!({ "include_base_tools": false })).await;
    let path = format!("{}/export", path(&made));
    let legacy = server.get(&format!("{path}?use_legacy_format=true")).await;
    assert_eq!(detail(&legacy), (400, "Legacy format is not supported"));
    let conversation = format!("/v1/conversations/?agent_id={}", text(&other["id"]));
    let conversation = self::made(&server, &conversation, &json!({})).await;
    let foreign = format!("{path}?conversation_id={}", text(&conversation["id"]));
    assert_eq!(detail(&server.get(&foreign).await).0, 404);
    let malformed = format!("{path}?conversation_id=x");
    assert_eq!(detail(&server.get(&malformed).await).0, 422);
    let nobody = path.replace(
        text(&made["id"]),
        &format!("agent-{}", super::super::NOBODY),
    );
    assert_eq!(detail(&server.get(&nobody).await).0, 404);
    let body = json!({ "skills": [{ "files": {} }] });
    assert_eq!(detail(&server.post(&path, &body).await).0, 422);
}

#[tokio::test]
async fn whom_messages_name_stays_in_the_database() {
    for server in on_both_databases().await {
        let made = agent(&server, json!({})).await;
        let noted = json!({ "sender_id": "Bob", "group_id": "friends" });
        let ids = json!({ "sender_id": made["id"], "group_id": made["id"] });
        for names in [&noted, &ids] {
            let mut message = json!({ "role": "user", "content": "hello" });
            message
                .as_object_mut()
                .unwrap()
                .extend(names.as_object().unwrap().clone());
            let sent = server
                .post(
                    &format!("{}/messages", path(&made)),
                    &json!({ "messages": [message] }),
                )
                .await;
            assert_eq!(sent.status, 200, "{sent:?}");
        }
        let document = exported(&server, &made, "").await;
        let messages = document["agents"][0]["messages"].as_array().unwrap();
        let sent = messages.iter().filter(|message| message["role"] == "user");
        let names: Vec<_> = sent
            .map(|message| (&message["sender_id"], &message["group_id"]))
            .collect();
        assert_eq!(
            names,
            [
                (&json!("Bob"), &json!("friends")),
                (&Value::Null, &Value::Null)
            ]
        );
    }
}
