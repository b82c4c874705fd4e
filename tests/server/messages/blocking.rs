//! An answer as a whole.

use serde_json::{Value, json};

use super::{agent, calls, kinds, say, send, stop, text, tool};
use crate::support::TestServer;

#[tokio::test]
async fn an_answer_has_its_messages_and_why_it_ended_and_what_it_cost() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({})).await;
    let answer = say(&server, &agent, "think hm\nsay Hello, Ada.").await;
    let messages = &answer["messages"];
    assert_eq!(kinds(messages), ["reasoning_message", "assistant_message"]);
    assert_eq!(messages[1]["content"], "Hello, Ada.");
    assert_eq!(messages[0]["id"], messages[1]["id"]);
    assert_ne!(messages[0]["otid"], messages[1]["otid"]);
    assert_eq!(
        answer["stop_reason"],
        json!({ "message_type": "stop_reason", "stop_reason": "end_turn" })
    );
    let usage = &answer["usage"];
    assert_eq!(usage["step_count"], 1);
    assert_eq!(usage["context_tokens"], usage["total_tokens"]);
    assert!(usage["total_tokens"].as_i64().unwrap() > 0, "{usage}");
    assert_eq!(answer["turns"], Value::Null);
}

#[tokio::test]
async fn a_tool_runs_in_the_sandbox_and_its_receipt_is_on_its_step() {
    let server = TestServer::start().await;
    let double = tool(&server, "twice", "return a + a").await;
    let agent = agent(&server, json!({ "tool_ids": [double] })).await;
    let answer = say(&server, &agent, r#"call twice with {"a": "ab"}"#).await;
    let messages = &answer["messages"];
    assert_eq!(
        kinds(messages),
        [
            "tool_call_message",
            "tool_return_message",
            "assistant_message"
        ]
    );
    assert_eq!(messages[0]["tool_call"]["name"], "twice");
    assert_eq!(calls(&answer), [("twice", "abab")]);
    assert_eq!(messages[1]["status"], "success");
    assert_eq!(messages[1]["stdout"], json!([]));
    assert!(text(&messages[2]["content"]).contains("abab"), "{messages}");
    let step = text(&messages[0]["step_id"]);
    assert_eq!(messages[1]["step_id"], step);
    let step = server.get(&format!("/v1/steps/{step}")).await;
    let receipts = step.body["receipts"].as_array().unwrap();
    assert_eq!(receipts.len(), 1, "{step:?}");
    assert_eq!(
        receipts[0]["tool_call_id"],
        messages[0]["tool_call"]["tool_call_id"]
    );
    assert_eq!(receipts[0]["receipt"]["tool"], "twice");
    assert_eq!(receipts[0]["receipt"]["agent_id"], agent.as_str());
    assert_eq!(receipts[0]["receipt"]["outcome"], "ok");
    // It is stored once, with its step.
    let all = server.get("/v1/receipts").await;
    assert_eq!(all.body.as_array().unwrap().len(), 1, "{all:?}");
}

#[tokio::test]
async fn a_failure_of_the_provider_has_its_status_and_leaves_the_agent_ready() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({})).await;
    for (kind, status, name) in [
        ("rate_limit", 429, "llm_rate_limit"),
        ("authentication", 401, "llm_authentication"),
        ("bad_request", 400, "llm_bad_request"),
        ("credits", 402, "llm_insufficient_credits"),
        ("timeout", 504, "llm_timeout"),
        ("server", 500, "llm_error"),
        ("invalid", 500, "llm_error"),
    ] {
        let answer = send(&server, &agent, json!({ "input": format!("fail {kind}") })).await;
        assert_eq!(answer.status, status, "{kind}: {answer:?}");
        assert_eq!(answer.body["error"]["type"], name, "{kind}");
        assert!(answer.body["error"]["detail"].is_string(), "{kind}");
    }
    let context = send(&server, &agent, json!({ "input": "fail context_window" })).await;
    assert_eq!(context.status, 400, "{context:?}");
    assert!(text(&context.body["detail"]).starts_with("CONTEXT_WINDOW_EXCEEDED: "));
    // Nothing of the failed requests is stored.
    let listed = server.get(&super::path(&agent, "")).await;
    assert_eq!(kinds(&listed.body), ["system_message"]);
    let failed = server
        .get(&format!("/v1/runs/?agent_id={agent}&statuses=failed"))
        .await;
    assert_eq!(failed.body.as_array().unwrap().len(), 8);
    let run = &failed.body[0];
    assert!(
        text(&run["metadata"]["error"]).starts_with("CONTEXT_WINDOW_EXCEEDED"),
        "{run}"
    );
    assert_eq!(stop(&say(&server, &agent, "say hi").await), "end_turn");
}

#[tokio::test]
async fn an_empty_answer_ends_the_turn_and_stores_no_message_of_the_agent() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({})).await;
    let answer = say(&server, &agent, "empty").await;
    assert_eq!(
        (stop(&answer), kinds(&answer["messages"]).len()),
        ("end_turn", 0)
    );
    let listed = server.get(&super::path(&agent, "")).await;
    assert_eq!(kinds(&listed.body), ["system_message", "user_message"]);
}

#[tokio::test]
async fn endless_calls_end_at_the_limit_of_steps() {
    let server = TestServer::start().await;
    let again = tool(&server, "again", "return 'more'").await;
    let agent = agent(&server, json!({ "tool_ids": [again] })).await;
    let body = json!({ "input": "call again\nrepeat", "max_steps": 3 });
    let answer = send(&server, &agent, body).await.body;
    assert_eq!((stop(&answer), calls(&answer).len()), ("max_steps", 3));
    assert_eq!(answer["usage"]["step_count"], 3);
}

#[tokio::test]
async fn only_the_kinds_of_messages_that_are_asked_for_come() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({})).await;
    let body = json!({
        "input": "think hm\nsay hi", "include_return_message_types": ["assistant_message"],
    });
    let answer = send(&server, &agent, body).await;
    assert_eq!(kinds(&answer.body["messages"]), ["assistant_message"]);
    assert_eq!(stop(&answer.body), "end_turn");
}

#[tokio::test]
async fn images_are_kept_with_an_id_and_addresses_of_ones_own_network_are_not_fetched() {
    const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let server = TestServer::start().await;
    let agent = agent(&server, json!({})).await;
    let image = |source: Value| {
        let content =
            json!([{ "type": "text", "text": "See:" }, { "type": "image", "source": source }]);
        json!({ "messages": [{ "role": "user", "content": content }] })
    };
    let inline = json!({ "type": "base64", "media_type": "image/png", "data": PIXEL });
    let answer = send(&server, &agent, image(inline)).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let listed = server.get(&super::path(&agent, "?limit=2")).await;
    let source = &listed.body[0]["content"][1]["source"];
    assert_eq!(
        (&source["type"], &source["data"]),
        (&json!("letta"), &json!(PIXEL))
    );
    assert!(text(&source["file_id"]).starts_with("file-"), "{source}");
    let inside = format!("{}/image.png", server.url());
    let refused = send(
        &server,
        &agent,
        image(json!({ "type": "url", "url": inside })),
    )
    .await;
    let (status, reason) = super::detail(&refused);
    assert_eq!(status, 400, "{reason}");
    let expected = format!("INVALID_ARGUMENT: Failed to fetch image from {inside}");
    assert!(
        reason.starts_with(&expected) && reason.contains("not public"),
        "{reason}"
    );
}

#[tokio::test]
async fn a_system_prompt_and_a_model_may_be_others_for_one_request() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({})).await;
    let body = json!({
        "input": "say hi", "override_system": "Be brief.", "override_model": "bulkhead/scripted",
    });
    let answer = send(&server, &agent, body).await.body;
    let step = text(&answer["messages"][0]["step_id"]);
    let trace = server.get(&format!("/v1/steps/{step}/trace")).await.body;
    assert!(
        trace["request_json"].to_string().contains("Be brief."),
        "{trace}"
    );
    let usual = say(&server, &agent, "say hi").await;
    let step = text(&usual["messages"][0]["step_id"]);
    let trace = server.get(&format!("/v1/steps/{step}/trace")).await.body;
    assert!(
        !trace["request_json"].to_string().contains("Be brief."),
        "{trace}"
    );
}
