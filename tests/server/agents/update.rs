//! Changes of agents, and their end.

use serde_json::{Value, json};

use super::{agent, each, made, on_both_databases, patched, path, read, text, tool, touched};
use crate::{
    support::TestServer,
    vendor::{KEY, MODEL, Vendor},
};

#[tokio::test]
async fn only_what_is_given_changes_and_null_is_as_left_out() {
    for server in on_both_databases().await {
        let before = agent(
            &server,
            json!({
                "name": "Before", "description": "old", "tags": ["a"], "metadata": { "x": 1 },
                "secrets": { "OLD": "1" }, "memory_blocks": [{ "label": "human", "value": "Bob" }],
            }),
        )
        .await;
        let nulls = json!({ "name": null, "description": null, "tags": null, "metadata": null, "secrets": null, "block_ids": null });
        let same = patched(&server, &path(&before), &nulls).await;
        for field in [
            "name",
            "description",
            "tags",
            "metadata",
            "secrets",
            "blocks",
            "llm_config",
        ] {
            assert_eq!(same[field], before[field], "{field}");
        }
        let change = json!({
            "name": "After", "tags": ["b", "c"], "secrets": { "NEW": "2", "OLD": "3" },
            "context_window_limit": 4000, "timezone": "Asia/Tokyo", "hidden": true,
            "tool_rules": [{ "type": "max_count_per_step", "tool_name": "x", "max_count_limit": 2 }],
            "last_stop_reason": "error", "last_run_duration_ms": 12, "metadata": {},
            "last_run_completion": "2026-01-31T12:00:00Z", "block_ids": [],
        });
        let after = patched(&server, &path(&before), &change).await;
        assert_eq!(
            (&after["name"], &after["description"]),
            (&json!("After"), &json!("old"))
        );
        assert_eq!(after["tags"], json!(["b", "c"]));
        assert_eq!(each(&after["secrets"], "value"), ["2", "3"]);
        assert_eq!(after["secrets"][1]["id"], before["secrets"][0]["id"]);
        assert_eq!(after["llm_config"]["context_window"], 4000);
        assert_eq!(after["timezone"], "Asia/Tokyo");
        assert_eq!(after["last_run_completion"], "2026-01-31T12:00:00.000000Z");
        assert_eq!(
            (&after["metadata"], &after["blocks"]),
            (&json!({}), &json!([]))
        );
        let expected = json!([{ "tool_name": "x", "type": "max_count_per_step", "max_count_limit": 2, "prompt_template": null }]);
        assert_eq!(after["tool_rules"], expected);
        assert_eq!(after["created_at"], before["created_at"]);
        assert_ne!(after["updated_at"], before["updated_at"]);
        // The block stays where it is.
        let block = text(&before["blocks"][0]["id"]);
        assert_eq!(
            read(&server, &format!("/v1/blocks/{block}")).await["value"],
            "Bob"
        );
    }
}

#[tokio::test]
async fn the_model_is_configured_in_its_short_forms() {
    let server = TestServer::start().await;
    let made = agent(&server, json!({})).await;
    let change = |body: Value| {
        let (server, path) = (&server, path(&made));
        async move { patched(server, &path, &body).await["llm_config"].clone() }
    };
    let config = change(json!({ "parallel_tool_calls": true, "max_tokens": 5 })).await;
    assert_eq!(
        (&config["parallel_tool_calls"], &config["max_tokens"]),
        (&json!(true), &json!(5))
    );
    let settings =
        json!({ "provider_type": "openai", "parallel_tool_calls": false, "temperature": 0.1 });
    let config = change(json!({ "model_settings": settings })).await;
    assert_eq!(
        (&config["parallel_tool_calls"], &config["temperature"]),
        (&json!(false), &json!(0.1))
    );
    assert_eq!(config["max_tokens"], 5);
    let config = change(json!({ "reasoning": false })).await;
    assert_eq!(config["enable_reasoner"], false);
}

#[tokio::test]
async fn another_model_is_asked_as_somebody_set_it_of_the_former() {
    let vendor = Vendor::start().await;
    let server = TestServer::start().await;
    let body = json!({
        "name": "mine", "provider_type": "openai", "api_key": KEY, "base_url": vendor.base_url,
    });
    made(&server, "/v1/providers/", &body).await;
    let agent = agent(&server, json!({ "parallel_tool_calls": true })).await;
    let other = format!("mine/{MODEL}");
    let moved = patched(&server, &path(&agent), &json!({ "model": other })).await;
    let config = &moved["llm_config"];
    assert_eq!(
        (&config["handle"], &config["parallel_tool_calls"]),
        (&json!(other), &json!(true))
    );
    assert_eq!(
        config["context_window"], 32_768,
        "what nobody set is the model's"
    );
    let format = json!({ "type": "json_object" });
    let settings = json!({
        "provider_type": "openai", "parallel_tool_calls": false, "temperature": 0.1,
        "max_output_tokens": 5, "response_format": format,
    });
    patched(
        &server,
        &path(&agent),
        &json!({ "model_settings": settings }),
    )
    .await;
    let back = json!({ "model": "bulkhead/scripted", "max_tokens": 7 });
    let config = patched(&server, &path(&agent), &back).await["llm_config"].clone();
    for (field, expected) in [
        ("handle", json!("bulkhead/scripted")),
        ("context_window", json!(128_000)),
        ("parallel_tool_calls", json!(false)),
        ("temperature", json!(0.1)),
        ("response_format", format),
        ("max_tokens", json!(7)),
    ] {
        assert_eq!(config[field], expected, "{field}");
    }
    // A whole configuration says all of it itself.
    let whole = json!({ "llm_config": {
        "model": "scripted", "model_endpoint_type": "openai", "context_window": 9000,
        "handle": "bulkhead/scripted", "provider_name": "bulkhead",
    } });
    let config = patched(&server, &path(&agent), &whole).await["llm_config"].clone();
    assert_eq!(
        (&config["temperature"], &config["max_tokens"]),
        (&json!(1.0), &Value::Null)
    );
}

#[tokio::test]
async fn the_system_message_follows_the_instructions_only_when_it_is_made_anew() {
    let server = TestServer::start().await;
    let made = agent(&server, json!({ "system": "Old words." })).await;
    let context = format!("{}/context", path(&made));
    patched(&server, &path(&made), &json!({ "system": "New words." })).await;
    let seen = async || {
        let messages = read(&server, &format!("{}/messages", path(&made))).await;
        text(&messages[0]["content"]).to_owned()
    };
    assert!(seen().await.contains("Old words."));
    let dry = format!("{}/recompile?dry_run=true", path(&made));
    let dry = server.post(&dry, &json!({})).await;
    assert!(text(&dry.body).contains("New words."));
    assert!(seen().await.contains("Old words."));
    let older = format!("{}/system-prompt/recompile", path(&made));
    let done = server.post(&older, &json!({})).await;
    assert!(text(&done.body).contains("New words."));
    assert_eq!(seen().await, text(&done.body));
    assert_eq!(read(&server, &context).await["num_messages"], 1);
}

#[tokio::test]
async fn a_reset_leaves_the_system_message_alone() {
    let server = TestServer::start().await;
    let sequence = json!([{ "role": "user", "content": "Hi" }]);
    let made = agent(&server, json!({ "initial_message_sequence": sequence })).await;
    let reset = format!("{}/reset-messages", path(&made));
    let after = patched(
        &server,
        &reset,
        &json!({ "add_default_initial_messages": false }),
    )
    .await;
    assert_eq!(after["message_ids"], json!([made["message_ids"][0]]));
    let older = agent(&server, json!({ "agent_type": "memgpt_v2_agent" })).await;
    let count = older["message_ids"].as_array().unwrap().len();
    let reset = format!("{}/reset-messages", path(&older));
    let after = patched(
        &server,
        &reset,
        &json!({ "add_default_initial_messages": true }),
    )
    .await;
    assert_eq!(after["message_ids"].as_array().unwrap().len(), count);
    assert_eq!(after["message_ids"][0], older["message_ids"][0]);
}

#[tokio::test]
async fn tools_are_replaced_as_a_whole() {
    let server = TestServer::start().await;
    let (one, two) = (
        tool(&server, "one", json!({})).await,
        tool(&server, "two", json!({})).await,
    );
    let made = agent(&server, json!({ "tool_ids": [one["id"]] })).await;
    let after = patched(&server, &path(&made), &json!({ "tool_ids": [two["id"]] })).await;
    assert_eq!(each(&after["tools"], "name"), ["two"]);
}

#[tokio::test]
async fn a_deleted_agent_is_gone_and_what_it_had_stays() {
    for server in on_both_databases().await {
        let own = tool(&server, "one", json!({})).await;
        let block = made(
            &server,
            "/v1/blocks/",
            &json!({ "label": "a", "value": "b" }),
        )
        .await;
        let body = json!({ "tools": ["one"], "block_ids": [block["id"]], "tags": ["t"] });
        let made = agent(&server, body).await;
        let deleted = server.delete(&path(&made)).await;
        let expected = format!("Agent id={} successfully deleted", text(&made["id"]));
        assert_eq!(deleted.body, json!({ "message": expected }));
        let missing = format!("Agent with ID {} not found", text(&made["id"]));
        for refused in [
            server.get(&path(&made)).await,
            server.delete(&path(&made)).await,
            server.patch(&path(&made), &json!({ "name": "x" })).await,
            server.get(&format!("{}/tools", path(&made))).await,
            server
                .get(&format!("{}/core-memory/blocks", path(&made)))
                .await,
            server.get(&format!("{}/context", path(&made))).await,
            server
                .get(&format!("{}/archival-memory", path(&made)))
                .await,
        ] {
            assert_eq!(super::detail(&refused), (404, &*missing));
        }
        for there in [
            format!("/v1/tools/{}", text(&own["id"])),
            format!("/v1/blocks/{}", text(&block["id"])),
        ] {
            assert_eq!(server.get(&there).await.status, 200);
        }
        assert_eq!(read(&server, "/v1/tags/").await, json!([]));
        assert_eq!(read(&server, "/v1/agents/count").await, 0);
    }
}

#[tokio::test]
async fn tools_that_require_approval_by_default_bring_their_rule() {
    for server in on_both_databases().await {
        let asking = json!({ "default_requires_approval": true });
        let secret = tool(&server, "secret", asking.clone()).await;
        let other = tool(&server, "other", asking).await;
        let plain = tool(&server, "plain", json!({})).await;
        let agent = agent(&server, json!({})).await;
        let rules = |agent: &Value| {
            let rules = agent["tool_rules"].as_array().unwrap().iter();
            let asking = rules.filter(|rule| rule["type"] == "requires_approval");
            let names = asking.map(|rule| rule["tool_name"].as_str().unwrap().to_owned());
            names.collect::<Vec<_>>()
        };
        let body = json!({ "tool_ids": [secret["id"], plain["id"]] });
        let changed = patched(&server, &path(&agent), &body).await;
        assert_eq!(rules(&changed), ["secret"]);
        let body = json!({ "tool_rules": [] });
        assert!(rules(&patched(&server, &path(&agent), &body).await).is_empty());
        // It has the tool already, and somebody said that its calls need nobody.
        let body = json!({ "tool_ids": [secret["id"]] });
        assert!(rules(&patched(&server, &path(&agent), &body).await).is_empty());
        let attach = format!("{}/tools/attach/{}", path(&agent), text(&other["id"]));
        assert_eq!(touched(&server, &attach).await.status, 200);
        assert_eq!(rules(&read(&server, &path(&agent)).await), ["other"]);
    }
}

#[tokio::test]
async fn settings_that_the_model_of_summaries_can_not_have_are_refused() {
    let server = TestServer::start().await;
    let bad = json!({ "compaction_settings": {
        "model_settings": { "provider_type": "openai", "temperature": 9 } } });
    let mut new = bad.clone();
    new["model"] = json!("bulkhead/scripted");
    let made = server.post("/v1/agents/", &new).await;
    let agent = agent(&server, json!({})).await;
    let changed = server.patch(&path(&agent), &bad).await;
    for refused in [made, changed] {
        assert_eq!(refused.status, 400, "{refused:?}");
        let names = refused.text.contains("compaction_settings.model_settings");
        assert!(names, "{refused:?}");
    }
}
