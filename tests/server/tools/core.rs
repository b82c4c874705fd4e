//! The tools that agents have by default, as clients find them.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::TestServer;

/// Name, type, and required and optional parameters of every one of them.
const TOOLS: [(&str, &str, &[&str], &[&str]); 22] = [
    ("send_message", "letta_core", &["message"], &[]),
    (
        "conversation_search",
        "letta_core",
        &[],
        &["query", "roles", "limit", "start_date", "end_date"],
    ),
    (
        "archival_memory_insert",
        "letta_core",
        &["content"],
        &["tags"],
    ),
    (
        "archival_memory_search",
        "letta_core",
        &["query"],
        &[
            "tags",
            "tag_match_mode",
            "top_k",
            "start_datetime",
            "end_datetime",
        ],
    ),
    (
        "core_memory_append",
        "letta_memory_core",
        &["label", "content"],
        &[],
    ),
    (
        "core_memory_replace",
        "letta_memory_core",
        &["label", "old_content", "new_content"],
        &[],
    ),
    (
        "memory",
        "letta_memory_core",
        &["command"],
        &[
            "path",
            "file_text",
            "description",
            "old_string",
            "new_string",
            "insert_line",
            "insert_text",
            "old_path",
            "new_path",
        ],
    ),
    (
        "memory_apply_patch",
        "letta_memory_core",
        &["label", "patch"],
        &[],
    ),
    (
        "memory_insert",
        "letta_sleeptime_core",
        &["label", "new_string"],
        &["insert_line"],
    ),
    (
        "memory_replace",
        "letta_sleeptime_core",
        &["label", "old_string", "new_string"],
        &[],
    ),
    (
        "memory_rethink",
        "letta_sleeptime_core",
        &["label", "new_memory"],
        &[],
    ),
    ("memory_finish_edits", "letta_sleeptime_core", &[], &[]),
    (
        "send_message_to_agent_and_wait_for_reply",
        "letta_multi_agent_core",
        &["message", "other_agent_id"],
        &[],
    ),
    (
        "send_message_to_agent_async",
        "letta_multi_agent_core",
        &["message", "other_agent_id"],
        &[],
    ),
    (
        "send_message_to_agents_matching_tags",
        "letta_multi_agent_core",
        &["message", "match_all", "match_some"],
        &[],
    ),
    (
        "rethink_user_memory",
        "letta_voice_sleeptime_core",
        &["new_memory"],
        &[],
    ),
    (
        "finish_rethinking_memory",
        "letta_voice_sleeptime_core",
        &[],
        &[],
    ),
    (
        "store_memories",
        "letta_voice_sleeptime_core",
        &["chunks"],
        &[],
    ),
    (
        "search_memory",
        "letta_voice_sleeptime_core",
        &[],
        &[
            "convo_keyword_queries",
            "start_minutes_ago",
            "end_minutes_ago",
        ],
    ),
    (
        "open_files",
        "letta_files_core",
        &["file_requests"],
        &["close_all_others"],
    ),
    (
        "grep_files",
        "letta_files_core",
        &["pattern"],
        &["include", "context_lines", "offset"],
    ),
    (
        "semantic_search_files",
        "letta_files_core",
        &["query"],
        &["limit"],
    ),
];

/// Every tool that comes with the server, once all are listed.
async fn built_in(server: &TestServer) -> Vec<Value> {
    let listing = async {
        loop {
            let listed = server
                .get("/v1/tools/?limit=1000&return_only_letta_tools=true")
                .await;
            let tools = listed.body.as_array().unwrap().clone();
            if tools.iter().any(|tool| tool["name"] == "web_search") {
                return tools;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let listed = tokio::time::timeout(Duration::from_secs(120), listing);
    listed.await.expect("the built-in tools are listed")
}

fn keywords(schema: &Value, found: &mut Vec<String>) {
    let Some(schema) = schema.as_object() else {
        return;
    };
    for (keyword, value) in schema {
        found.push(keyword.clone());
        match keyword.as_str() {
            "properties" => value
                .as_object()
                .unwrap()
                .values()
                .for_each(|property| keywords(property, found)),
            "items" => keywords(value, found),
            _ => {}
        }
    }
}

#[tokio::test]
async fn clients_find_the_tools_of_the_contract_by_name_and_type() {
    let server = TestServer::start_with(|config| config.builtin_tools = true).await;
    let listed = built_in(&server).await;
    let find = |name: &str| {
        let found = listed.iter().find(|tool| tool["name"] == name);
        found.unwrap_or_else(|| panic!("{name} is not listed"))
    };
    for (name, tool_type, required, optional) in TOOLS {
        let tool = find(name);
        assert_eq!(tool["tool_type"], tool_type, "{name}");
        assert_eq!(tool["tags"], json!([tool_type]), "{name}");
        assert_eq!(tool["source_code"], "", "{name}");
        assert_eq!(tool["return_char_limit"], 50_000, "{name}");
        assert_eq!(tool["default_requires_approval"], Value::Null, "{name}");
        let parallel = [
            "conversation_search",
            "archival_memory_search",
            "grep_files",
            "semantic_search_files",
        ];
        let parallel = parallel.contains(&name);
        assert_eq!(tool["enable_parallel_execution"], parallel, "{name}");
        let schema = &tool["json_schema"];
        assert_eq!(schema["name"], name);
        assert_eq!(schema["description"], tool["description"], "{name}");
        let parameters = &schema["parameters"];
        assert_eq!(parameters["type"], "object", "{name}");
        assert_eq!(parameters["required"], json!(required), "{name}");
        let properties = parameters["properties"].as_object().unwrap();
        let mut expected = [required, optional].concat();
        expected.sort_unstable();
        assert_eq!(properties.keys().collect::<Vec<_>>(), expected, "{name}");
        for (property, schema) in properties {
            assert!(schema["description"].is_string(), "{name}.{property}");
            assert!(schema["type"].is_string(), "{name}.{property}: {schema}");
        }
        let mut found = Vec::new();
        keywords(parameters, &mut found);
        for keyword in found {
            assert!(
                [
                    "type",
                    "description",
                    "properties",
                    "required",
                    "items",
                    "enum"
                ]
                .contains(&keyword.as_str()),
                "{name}: {keyword}"
            );
        }
    }
    let roles = &find("conversation_search")["json_schema"]["parameters"]["properties"]["roles"];
    assert_eq!(roles["items"]["enum"], json!(["assistant", "user", "tool"]));
    assert_eq!(find("web_search")["tool_type"], "letta_builtin");
}
