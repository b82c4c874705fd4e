//! What becomes of a document, whoever wrote it.

use serde_json::{Value, json};

use super::{
    SCRIPTED, agent, counts, detail, document, each, exported, import, imported, made,
    on_both_databases, path, read, say, sorted, text,
};
use crate::support::TestServer;

/// A result as the server of the V1 API packs it.
fn packed(message: &Value) -> String {
    let packed = json!({ "status": "OK", "message": message, "time": "2026-11-21 08:38:07 PM" });
    format!("{packed:#}")
}

/// A document as the server of the V1 API writes it: every field, and the forms of content, results
/// and decisions of several years.
fn of_v1() -> Value {
    let message = |id: &str, role: &str, content: Value, more: Value| {
        let mut message = json!({
            "type": "message", "id": id, "role": role, "content": content, "name": null,
            "otid": format!("otid-{id}"), "sender_id": null, "group_id": null,
            "batch_item_id": null, "model": null, "agent_id": "agent-0", "tool_calls": null,
            "tool_call_id": null, "tool_returns": [], "approve": null,
            "approval_request_id": null, "denial_reason": null, "approvals": null,
            "created_at": "2026-11-21T20:37:39.377876+00:00",
        });
        if let (Some(message), Value::Object(more)) = (message.as_object_mut(), more) {
            message.extend(more);
        }
        message
    };
    let text = |text: &str| json!([{ "type": "text", "text": text }]);
    let call = |id: &str| {
        json!([{ "id": id, "type": "function",
            "function": { "name": "roll", "arguments": "{\"a\": 2}" } }])
    };
    let returned = |id: &str, message: Value| {
        json!({ "tool_call_id": id, "status": "success", "stdout": ["6\n"], "stderr": null,
            "func_response": packed(&message) })
    };
    let messages = json!([
        message(
            "message-0",
            "system",
            text("<base_instructions>Old.</base_instructions>"),
            json!({})
        ),
        message(
            "message-1",
            "user",
            json!("Roll!"),
            json!({ "name": "bob" })
        ),
        message(
            "message-2",
            "assistant",
            json!([
                { "type": "reasoning", "is_native": true, "reasoning": "I roll.", "signature": "s" },
            ]),
            json!({ "tool_calls": call("call_1"), "model": "gpt-4o" })
        ),
        message(
            "message-3",
            "tool",
            text(&packed(&json!({ "n": 6 }))),
            json!({
                "name": "roll", "tool_call_id": "call_1",
                "tool_returns": [returned("call_1", json!({ "n": 6 }))],
            })
        ),
        // Before results had a field of their own.
        message(
            "message-4",
            "assistant",
            text("Again."),
            json!({ "tool_calls": call("call_2") })
        ),
        message(
            "message-5",
            "tool",
            text(&packed(&json!("4"))),
            json!({
                "tool_call_id": "call_2", "tool_returns": null,
            })
        ),
        message(
            "message-6",
            "approval",
            text(""),
            json!({ "tool_calls": call("call_3") })
        ),
        // Before there was one decision for each call.
        message(
            "message-7",
            "approval",
            json!([]),
            json!({
                "approve": false, "approval_request_id": "message-6", "denial_reason": "no",
            })
        ),
        message(
            "message-8",
            "tool",
            json!([]),
            json!({ "tool_returns": [
            { "tool_call_id": "call_3", "status": "error", "func_response": "denied" },
        ] })
        ),
        message("message-9", "assistant", text("Six."), json!({})),
    ]);
    let config = json!({
        "model": "scripted", "handle": SCRIPTED, "model_endpoint_type": "openai",
        "provider_name": "bulkhead", "provider_category": "base", "context_window": 32_000,
        "model_endpoint": null, "model_wrapper": null, "put_inner_thoughts_in_kwargs": false,
        "enable_reasoner": true, "temperature": 1.0, "max_tokens": 4096,
    });
    let mut document = document(json!({
        "agent_type": "letta_v1_agent", "system": "Be old.", "model": null, "llm_config": config,
        "embedding_config": null, "tool_ids": ["tool-0"], "block_ids": ["block-0"],
        "tool_rules": [{ "type": "continue_loop", "tool_name": "roll", "prompt_template": null }],
        "tags": ["v1"], "secrets": { "KEY": "", "OWN": "kept" },
        "tool_exec_environment_variables": { "KEY": "", "OLD": "" },
        "in_context_message_ids": ["message-0", "message-4", "message-5", "message-6",
            "message-7", "message-8", "message-9"],
        "messages": messages, "files_agents": [], "group_ids": [],
        "initial_message_sequence": null, "include_base_tool_rules": false,
        "timezone": "Europe/Zurich", "max_files_open": 7, "metadata": { "a": 1 },
        "enable_reasoner": false, "identity_ids": null, "from_template": null,
    }));
    document["blocks"] = json!([{
        "id": "block-0", "label": "human", "value": "Bo", "limit": 200, "description": "d",
        "read_only": false, "metadata": {}, "is_template": false, "template_name": null,
    }]);
    document["tools"] = json!([{
        "id": "tool-0", "name": "roll", "tool_type": "custom", "source_type": "javascript",
        "source_code": "function roll(a) { return a * 2 }", "tags": [],
        "description": "Rolls.", "return_char_limit": 50_000,
        "json_schema": { "name": "roll", "description": "Rolls.", "parameters": {
            "type": "object", "required": ["a", "request_heartbeat"], "properties": {
                "a": { "type": "integer", "description": "How many." },
                "request_heartbeat": { "type": "boolean", "description": "Go on." },
            },
        } },
        "created_by_id": "user-00000000-0000-4000-8000-000000000000", "metadata_": {},
    }]);
    document["metadata"] = json!({ "revision_id": "a8d5e0f1" });
    document["created_at"] = json!("2026-11-21T20:37:39.377876+00:00");
    document["what_nobody_knows"] = json!([1]);
    document
}

#[tokio::test]
async fn a_file_of_the_v1_server_becomes_an_agent_that_goes_on() {
    for server in on_both_databases().await {
        let secrets = ("secrets", r#"{"KEY": "k", "NOBODY": "n"}"#);
        let copy = imported(&server, &of_v1(), &[secrets]).await;
        for (field, expected) in [
            ("name", json!("Ada_copy")),
            ("system", json!("Be old.")),
            ("timezone", json!("Europe/Zurich")),
            ("max_files_open", json!(7)),
            ("metadata", json!({ "a": 1 })),
            ("tags", json!(["v1"])),
            ("model", json!(SCRIPTED)),
        ] {
            assert_eq!(copy[field], expected, "{field}");
        }
        assert_eq!(copy["llm_config"]["enable_reasoner"], true);
        assert_eq!(copy["llm_config"]["context_window"], 32_000);
        assert_eq!(copy["tool_rules"][0]["type"], "continue_loop");
        assert_eq!(each(&copy["blocks"], "value"), ["Bo"]);
        let secrets = copy["secrets"].as_array().unwrap();
        let secrets: Vec<_> = secrets
            .iter()
            .map(|secret| (text(&secret["key"]), text(&secret["value"])))
            .collect();
        assert_eq!(secrets, [("KEY", "k"), ("OLD", ""), ("OWN", "kept")]);
        assert_eq!(copy["message_ids"].as_array().unwrap().len(), 7);

        let messages = format!("{}/messages?order=asc", path(&copy));
        let messages = read(&server, &messages).await;
        assert_eq!(
            each(&messages, "message_type"),
            [
                "system_message",
                "user_message",
                "reasoning_message",
                "tool_call_message",
                "tool_return_message",
                "assistant_message",
                "tool_call_message",
                "tool_return_message",
                "approval_request_message",
                "approval_response_message",
                "tool_return_message",
                "assistant_message",
            ]
        );
        let prompt = text(&messages[0]["content"]);
        assert!(prompt.contains("Be old.") && prompt.contains(text(&copy["id"])));
        assert_eq!(messages[1]["otid"], "otid-message-1");
        assert_eq!(messages[1]["content"], "Roll!");
        assert_eq!(messages[1]["date"], "2026-11-21T20:37:39+00:00");
        assert_eq!(messages[2]["signature"], "s");
        assert_eq!(messages[4]["tool_return"], "{'n': 6}");
        assert_eq!(messages[4]["name"], "roll");
        assert_eq!(messages[7]["tool_return"], "4");
        assert_eq!(messages[9]["approvals"][0]["tool_call_id"], "call_3");
        assert_eq!(messages[9]["approvals"][0]["approve"], false);
        assert_eq!(messages[10]["tool_return"], "denied");

        let answer = say(&server, &copy, "call roll with {\"a\": 4}\nthen\nsay Done.").await;
        assert_eq!(answer[1]["tool_return"], "8", "{answer}");
        // The results of the oldest form are written in the newest one.
        let again = exported(&server, &copy, "").await;
        let returned = &again["agents"][0]["messages"][5]["tool_returns"][0];
        assert_eq!(returned["func_response"], packed(&json!("4")));
    }
}

#[tokio::test]
async fn what_the_client_says_counts_over_the_file() {
    let server = TestServer::start().await;
    let mut unknown = of_v1();
    unknown["agents"][0]["llm_config"]["handle"] = json!("openai/gpt-4o");
    unknown["agents"][0]["llm_config"]["model"] = json!("gpt-4o");
    let as_it_is = imported(&server, &unknown, &[]).await;
    assert_eq!(as_it_is["model"], "openai/gpt-4o");
    let fields = [
        ("name", "Bo"),
        ("model", SCRIPTED),
        ("project_id", "mine"),
        ("append_copy_suffix", "true"),
    ];
    let copy = imported(&server, &unknown, &fields).await;
    for (field, expected) in [("name", "Bo"), ("model", SCRIPTED), ("project_id", "mine")] {
        assert_eq!(copy[field], expected, "{field}");
    }
    // What was set of the file's model goes along.
    assert_eq!(copy["llm_config"]["context_window"], 32_000);
    let older = [
        ("override_name", "Cy"),
        ("override_model_handle", SCRIPTED),
        ("env_vars_json", r#"{"OWN": "other"}"#),
    ];
    let copy = imported(&server, &unknown, &older).await;
    assert_eq!(
        (&copy["name"], &copy["model"]),
        (&json!("Cy"), &json!(SCRIPTED))
    );
    assert_eq!(copy["secrets"][2]["value"], "other");
    let copy = imported(&server, &of_v1(), &[("append_copy_suffix", "false")]).await;
    assert_eq!(copy["name"], "Ada");
    let copy = imported(&server, &of_v1(), &[("strip_messages", "true")]).await;
    assert_eq!(copy["message_ids"].as_array().unwrap().len(), 1);
    // As clients send it that got the document as a text.
    let text = Value::from(of_v1().to_string());
    imported(&server, &text, &[]).await;
    for (field, handle, status) in [
        ("model", "openai/gpt-4o", 404),
        ("model", "scripted", 400),
        ("embedding", "openai/none", 400),
        ("override_embedding_handle", "openai/none", 400),
    ] {
        let refused = import(&server, &of_v1(), &[(field, handle)]).await;
        assert_eq!(detail(&refused).0, status, "{refused:?}");
    }
}

#[tokio::test]
async fn agents_of_one_file_share_its_blocks_and_keep_their_order() {
    let server = TestServer::start().await;
    let mut document = document(json!({
        "block_ids": ["block-1", "block-0"], "memory_blocks": [{ "label": "own", "value": "o" }],
    }));
    let mut second = document["agents"][0].clone();
    second["id"] = json!("agent-1");
    second["name"] = json!("Bo");
    second["block_ids"] = json!(["block-0"]);
    second["memory_blocks"] = json!([]);
    document["agents"].as_array_mut().unwrap().push(second);
    document["blocks"] = json!([
        { "id": "block-0", "label": "team", "value": "t" },
        { "id": "block-1", "label": "first", "value": "f" },
        { "id": "block-2", "label": "nobody's", "value": "n" },
    ]);
    let answer = import(&server, &document, &[]).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let ids = answer.body["agent_ids"].as_array().unwrap();
    let of = async |id: &Value| {
        read(
            &server,
            &format!("/v1/agents/{}?include=agent.blocks", text(id)),
        )
        .await
    };
    let (ada, bo) = (of(&ids[0]).await, of(&ids[1]).await);
    assert_eq!(
        (&ada["name"], &bo["name"]),
        (&json!("Ada_copy"), &json!("Bo_copy"))
    );
    assert_eq!(each(&ada["blocks"], "label"), ["first", "team", "own"]);
    assert_eq!(bo["blocks"], json!([ada["blocks"][1]]));
    assert_eq!(counts(&server).await[1], 4);
    let answer = import(&server, &document, &[("name", "Same")]).await;
    for id in answer.body["agent_ids"].as_array().unwrap() {
        assert_eq!(of(id).await["name"], "Same");
    }
}

#[tokio::test]
async fn a_file_by_hand_begins_like_any_new_agent() {
    let server = TestServer::start_with(|config| config.builtin_tools = true).await;
    let mut by_hand = document(json!({
        "initial_message_sequence": [{ "role": "user", "content": "Hi" }],
    }));
    let fields = by_hand["agents"][0].as_object_mut().unwrap();
    fields.remove("include_base_tools");
    fields.remove("name");
    let made = imported(&server, &by_hand, &[("append_copy_suffix", "0")]).await;
    assert_eq!(
        sorted(&made["tools"], "name"),
        ["conversation_search", "memory_insert", "memory_replace"]
    );
    assert_eq!(made["message_ids"].as_array().unwrap().len(), 2);
    // The tools that come with the server are the same ones after an export.
    let agent = agent(&server, json!({})).await;
    let document = exported(&server, &agent, "").await;
    let types = each(&document["tools"], "tool_type");
    assert!(
        types.iter().all(|kind| kind.starts_with("letta_")),
        "{types:?}"
    );
    let copy = imported(&server, &document, &[]).await;
    assert_eq!(sorted(&copy["tools"], "id"), sorted(&agent["tools"], "id"));
    // Identities are this server's own.
    let identity = json!({ "identifier_key": "k", "name": "Kim", "identity_type": "user" });
    let identity = self::made(&server, "/v1/identities/", &identity).await;
    by_hand["agents"][0]["identity_ids"] = json!([identity["id"]]);
    let copy = imported(&server, &by_hand, &[]).await;
    let copy = read(
        &server,
        &format!("{}?include=agent.identities", path(&copy)),
    )
    .await;
    assert_eq!(copy["identity_ids"], json!([identity["id"]]));
}
