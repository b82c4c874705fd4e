//! New agents: everything that a body can say, and what it can leave open.

use serde_json::{Value, json};

use super::{SCRIPTED, agent, each, made, on_both_databases, path, read, sorted, text, tool};
use crate::support::TestServer;

#[tokio::test]
async fn an_agent_of_which_nothing_is_said_has_the_contracts_defaults() {
    let server = TestServer::start().await;
    let made = made(&server, "/v1/agents/", &json!({})).await;
    for (field, expected) in [
        ("agent_type", json!("letta_v1_agent")),
        ("model", json!(SCRIPTED)),
        ("timezone", json!("UTC")),
        ("message_buffer_autoclear", json!(false)),
        ("max_files_open", json!(10)),
        ("per_file_view_window_char_limit", json!(25_000)),
        ("tool_rules", json!([])),
        ("blocks", json!([])),
        ("tags", json!([])),
        ("sources", json!([])),
        ("secrets", json!([])),
        ("tool_exec_environment_variables", json!([])),
        ("identities", json!([])),
        ("identity_ids", json!([])),
    ] {
        assert_eq!(made[field], expected, "{field}");
    }
    for field in [
        "description",
        "metadata",
        "hidden",
        "embedding",
        "embedding_config",
        "enable_sleeptime",
        "compaction_settings",
        "response_format",
        "pending_approval",
        "managed_group",
        "multi_agent_group",
        "last_stop_reason",
        "last_run_completion",
        "last_run_duration_ms",
        "project_id",
        "template_id",
        "base_template_id",
        "deployment_id",
        "entity_id",
    ] {
        assert_eq!(made.get(field), Some(&Value::Null), "{field}");
    }
    let name = text(&made["name"]);
    assert_eq!(
        name.chars().filter(|c| c.is_uppercase()).count(),
        2,
        "{name}"
    );
    assert!(text(&made["system"]).len() > 20);
    assert_eq!(made["message_ids"].as_array().unwrap().len(), 1);
    assert_eq!(made["memory"]["agent_type"], "letta_v1_agent");
    assert_eq!(made["llm_config"]["parallel_tool_calls"], false);
    assert_eq!(made["model_settings"]["parallel_tool_calls"], true);
    assert!(text(&made["created_at"]).ends_with('Z'));
}

#[tokio::test]
async fn an_agent_has_all_that_its_body_says() {
    for server in on_both_databases().await {
        let tools = [
            tool(&server, "one", json!({})).await,
            tool(&server, "two", json!({})).await,
        ];
        let shared = json!({ "label": "team", "value": "Ada, Bo", "read_only": true });
        let shared = made(&server, "/v1/blocks/", &shared).await;
        let body = json!({
            "name": "Zoë's agent-1", "description": "Helps.", "metadata": { "a": [1] },
            "system": "You help.", "timezone": "Europe/Zurich", "hidden": false,
            "model_settings": { "provider_type": "openai", "temperature": 0.5 },
            "context_window_limit": 9000, "max_tokens": 77, "parallel_tool_calls": true,
            "response_format": { "type": "json_object" },
            "compaction_settings": { "mode": "all", "sliding_window_percentage": 0.4 },
            "memory_blocks": [
                { "label": "human", "value": "Name: Bob", "limit": 50, "tags": ["x"] },
                { "label": "persona", "value": "Kind." },
                { "label": "human", "value": "Name: Eve" },
            ],
            "block_ids": [shared["id"]],
            "tools": ["one"], "tool_ids": [tools[1]["id"], tools[0]["id"]],
            "tool_rules": [
                { "type": "run_first", "tool_name": "one", "args": { "a": 1 } },
                { "type": "exit_loop", "tool_name": "two" },
                { "type": "exit_loop", "tool_name": "two" },
            ],
            "tags": ["b", "a", "b"],
            "secrets": { "KEY": "s3cret" },
            "max_files_open": 3, "per_file_view_window_char_limit": 900,
            "message_buffer_autoclear": true,
        });
        let made = agent(&server, body).await;
        for (field, expected) in [
            ("name", json!("Zoë's agent-1")),
            ("description", json!("Helps.")),
            ("metadata", json!({ "a": [1] })),
            ("system", json!("You help.")),
            ("timezone", json!("Europe/Zurich")),
            ("response_format", json!({ "type": "json_object" })),
            ("max_files_open", json!(3)),
            ("per_file_view_window_char_limit", json!(900)),
            ("message_buffer_autoclear", json!(true)),
        ] {
            assert_eq!(made[field], expected, "{field}");
        }
        let config = &made["llm_config"];
        assert_eq!(
            (
                &config["temperature"],
                &config["context_window"],
                &config["max_tokens"]
            ),
            (&json!(0.5), &json!(9000), &json!(77))
        );
        assert_eq!(config["parallel_tool_calls"], true);
        let compaction = &made["compaction_settings"];
        assert_eq!(
            (&compaction["mode"], &compaction["clip_chars"]),
            (&json!("all"), &json!(50_000))
        );
        assert_eq!(each(&made["blocks"], "label"), ["human", "persona", "team"]);
        assert_eq!(made["blocks"][0]["value"], "Name: Bob");
        assert_eq!(made["memory"]["blocks"], made["blocks"]);
        assert_eq!(sorted(&made["tools"], "name"), ["one", "two"]);
        let rules = &made["tool_rules"];
        assert_eq!(each(rules, "type"), ["run_first", "exit_loop"]);
        assert_eq!(rules[0]["args"], json!({ "a": 1 }));
        assert_eq!(made["tags"], json!(["a", "b"]));
        let secret = &made["secrets"][0];
        assert_eq!(
            (
                &secret["key"],
                &secret["value"],
                &secret["value_enc"],
                &secret["agent_id"]
            ),
            (
                &json!("KEY"),
                &json!("s3cret"),
                &json!("s3cret"),
                &made["id"]
            )
        );
        assert_eq!(made["tool_exec_environment_variables"], made["secrets"]);

        let everything = "?include=agent.blocks&include=agent.tools&include=agent.tags&include=agent.secrets&include=agent.identities";
        let again = read(&server, &format!("{}{everything}", path(&made))).await;
        assert_eq!(again, made);
    }
}

#[tokio::test]
async fn the_system_message_is_made_of_instructions_memory_and_metadata() {
    let server = TestServer::start().await;
    let body = json!({
        "system": "Be brief.",
        "memory_blocks": [{ "label": "human", "value": "Name: Bob" }],
    });
    let made = agent(&server, body).await;
    let recompiled = server.request(
        reqwest::Method::POST,
        &format!("{}/recompile?dry_run=true", path(&made)),
    );
    let prompt = recompiled
        .send()
        .await
        .unwrap()
        .json::<String>()
        .await
        .unwrap();
    for part in [
        "Be brief.",
        "<memory_blocks>",
        "<human>",
        "Name: Bob",
        "- chars_current=9",
        &format!("- AGENT_ID: {}", text(&made["id"])),
        "- CONVERSATION_ID: default",
        "- System prompt last recompiled: ",
    ] {
        assert!(prompt.contains(part), "{part} in {prompt}");
    }
}

#[tokio::test]
async fn older_types_begin_with_a_greeting_unless_a_sequence_is_given() {
    let server = TestServer::start().await;
    let count = |agent: &Value| agent["message_ids"].as_array().unwrap().len();
    let older = agent(&server, json!({ "agent_type": "memgpt_v2_agent" })).await;
    assert!(count(&older) > 2);
    let sequence = json!([
        { "role": "user", "content": "Hi" },
        { "role": "assistant", "content": [{ "type": "text", "text": "Hello" }] },
    ]);
    for kind in ["memgpt_v2_agent", "letta_v1_agent"] {
        let body = json!({ "agent_type": kind, "initial_message_sequence": sequence });
        assert_eq!(count(&agent(&server, body).await), 3);
    }
    let workflow = agent(&server, json!({ "agent_type": "workflow_agent" })).await;
    assert_eq!(workflow["message_buffer_autoclear"], true);
}

#[tokio::test]
async fn a_whole_configuration_stands_in_for_a_handle() {
    let server = TestServer::start().await;
    let config = json!({
        "model": "my-model", "model_endpoint_type": "openai",
        "model_endpoint": "http://127.0.0.1:9/v1", "context_window": 7000, "handle": "mine/my-model",
        "enable_reasoner": false,
    });
    let made = agent(&server, json!({ "llm_config": config })).await;
    assert_eq!(
        (&made["model"], &made["llm_config"]["model_endpoint"]),
        (&json!("mine/my-model"), &config["model_endpoint"])
    );
    assert_eq!(made["llm_config"]["enable_reasoner"], false);
    // By the window: the smallest class.
    assert_eq!(made["max_files_open"], 3);
}

#[tokio::test]
async fn the_base_tools_of_its_type_are_there_from_the_first_agent_on() {
    let server = TestServer::start_with(|config| config.builtin_tools = true).await;
    let made = agent(&server, json!({})).await;
    assert_eq!(
        sorted(&made["tools"], "name"),
        ["conversation_search", "memory_insert", "memory_replace"]
    );
    assert_eq!(made["tool_rules"], json!([]));
    let none = agent(&server, json!({ "include_base_tools": false })).await;
    assert_eq!(none["tools"], json!([]));
    let ruled = agent(&server, json!({ "include_base_tool_rules": true })).await;
    assert_eq!(ruled["tool_rules"].as_array().unwrap().len(), 3);
    let older = agent(&server, json!({ "agent_type": "memgpt_v2_agent" })).await;
    let rule = |rule: &Value| (rule["tool_name"].clone(), rule["type"].clone());
    let rules: Vec<_> = older["tool_rules"]
        .as_array()
        .unwrap()
        .iter()
        .map(rule)
        .collect();
    assert!(
        rules.contains(&(json!("send_message"), json!("exit_loop"))),
        "{rules:?}"
    );
    let many = agent(&server, json!({ "include_multi_agent_tools": true })).await;
    assert_eq!(many["tools"].as_array().unwrap().len(), 6);
}

#[tokio::test]
async fn a_tool_that_asks_for_approval_by_default_brings_the_rule() {
    let server = TestServer::start().await;
    tool(
        &server,
        "risky",
        json!({ "default_requires_approval": true }),
    )
    .await;
    let made = agent(&server, json!({ "tools": ["risky"] })).await;
    let expected = json!([{
        "tool_name": "risky", "type": "requires_approval", "prompt_template": null,
    }]);
    assert_eq!(made["tool_rules"], expected);
}
