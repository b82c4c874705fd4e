//! An answer as a whole.

use serde_json::{Value, json};

use super::{agent, kinds, say, tool};
use crate::support::TestServer;

#[tokio::test]
async fn an_answer_has_its_messages_and_why_it_ended_and_what_it_cost() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({})).await;
    let answer = say(&server, &agent, "think hm\nsay Hello, Ada.").await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let messages = &answer.body["messages"];
    assert_eq!(kinds(messages), ["reasoning_message", "assistant_message"]);
    assert_eq!(messages[1]["content"], "Hello, Ada.");
    assert_eq!(messages[0]["id"], messages[1]["id"]);
    assert_ne!(messages[0]["otid"], messages[1]["otid"]);
    assert_eq!(
        answer.body["stop_reason"],
        json!({ "message_type": "stop_reason", "stop_reason": "end_turn" })
    );
    let usage = &answer.body["usage"];
    assert_eq!(usage["step_count"], 1);
    assert!(usage["total_tokens"].as_i64().unwrap() > 0, "{usage}");
    assert_eq!(answer.body["turns"], Value::Null);
}

#[tokio::test]
async fn a_tool_runs_in_the_sandbox_and_its_receipt_is_on_its_step() {
    let server = TestServer::start().await;
    let double = tool(&server, "twice", "return a + a").await;
    let agent = agent(&server, json!({ "tool_ids": [double] })).await;
    let answer = say(&server, &agent, r#"call twice with {"a": "ab"}"#).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let messages = &answer.body["messages"];
    assert_eq!(
        kinds(messages),
        ["tool_call_message", "tool_return_message", "assistant_message"]
    );
    assert_eq!(messages[0]["tool_call"]["name"], "twice");
    assert_eq!(messages[1]["tool_return"], "abab");
    assert_eq!(messages[1]["status"], "success");
    assert_eq!(messages[1]["stdout"], json!([]));
    assert!(messages[2]["content"].as_str().unwrap().contains("abab"), "{messages}");
    let step = messages[0]["step_id"].as_str().unwrap();
    let step = server.get(&format!("/v1/steps/{step}")).await;
    let receipts = step.body["receipts"].as_array().unwrap();
    assert_eq!(receipts.len(), 1, "{step:?}");
    assert_eq!(receipts[0]["tool_call_id"], messages[0]["tool_call"]["tool_call_id"]);
    assert_eq!(receipts[0]["receipt"]["tool"], "twice");
    assert_eq!(receipts[0]["receipt"]["agent_id"], agent.as_str());
    assert_eq!(receipts[0]["receipt"]["outcome"], "ok");
    let all = server.get("/v1/receipts").await;
    assert_eq!(all.body.as_array().unwrap().len(), 1, "{all:?}");
}
