//! Rules of tools: which may be called when, and when a turn may end.

use serde_json::{Value, json};

use super::{agent, calls, kinds, say, send, stop, text, tool};
use crate::support::TestServer;

/// An agent with the tools `a`, `b` and `c`, each of which gives its argument or else its own name,
/// and these rules.
async fn ruled(server: &TestServer, rules: Value) -> String {
    let mut ids = Vec::new();
    for name in ["a", "b", "c"] {
        let named = format!("step_{name}");
        ids.push(tool(server, &named, &format!("return a || '{name}'")).await);
    }
    let more = json!({
        "tool_ids": ids, "tool_rules": rules, "include_base_tool_rules": false,
    });
    agent(server, more).await
}

fn names(answer: &Value) -> Vec<&str> {
    calls(answer).into_iter().map(|(name, _)| name).collect()
}

#[tokio::test]
async fn a_turn_begins_with_the_tool_that_must_run_first() {
    let server = TestServer::start().await;
    let rules = json!([{ "type": "run_first", "tool_name": "step_a", "args": { "a": "given" } }]);
    let agent = ruled(&server, rules).await;
    let answer = say(&server, &agent, "call step_b\nthen\nsay Done.").await;
    // The model is made to call it, with the arguments of the rule.
    assert_eq!(calls(&answer)[0], ("step_a", "given"), "{answer}");
}

#[tokio::test]
async fn after_a_parent_only_its_children_may_be_called() {
    let server = TestServer::start().await;
    let rules =
        json!([{ "type": "constrain_child_tools", "tool_name": "step_a", "children": ["step_b"] }]);
    let agent = ruled(&server, rules).await;
    let answer = say(
        &server,
        &agent,
        "call step_a\nthen\nsay Done.\nthen\nsay Done.",
    )
    .await;
    assert_eq!(names(&answer), ["step_a", "step_b"]);
    assert_eq!(stop(&answer), "end_turn");
}

#[tokio::test]
async fn the_output_of_a_tool_decides_about_the_next() {
    let server = TestServer::start().await;
    let rules = json!([{
        "type": "conditional", "tool_name": "step_a",
        "child_output_mapping": { "left": "step_b" }, "default_child": "step_c",
    }]);
    let agent = ruled(&server, rules).await;
    for (output, child) in [("left", "step_b"), ("elsewhere", "step_c")] {
        let input =
            format!("call step_a with {{\"a\":\"{output}\"}}\nthen\nsay Done.\nthen\nsay Done.");
        let answer = say(&server, &agent, &input).await;
        assert_eq!(names(&answer), ["step_a", child], "{output}");
    }
}

#[tokio::test]
async fn a_tool_that_ends_the_turn_ends_it_after_it_ran() {
    let server = TestServer::start().await;
    let rules = json!([{ "type": "exit_loop", "tool_name": "step_b" }]);
    let agent = ruled(&server, rules).await;
    let answer = say(
        &server,
        &agent,
        "call step_a\nthen\ncall step_b\nthen\nsay never",
    )
    .await;
    assert_eq!(names(&answer), ["step_a", "step_b"]);
    assert_eq!(stop(&answer), "tool_rule");
    assert!(!kinds(&answer["messages"]).contains(&"assistant_message"));
}

#[tokio::test]
async fn a_tool_may_be_called_as_often_as_its_rule_says() {
    let server = TestServer::start().await;
    let rules =
        json!([{ "type": "max_count_per_step", "tool_name": "step_a", "max_count_limit": 2 }]);
    let agent = ruled(&server, rules).await;
    let input = "call step_a\nthen\ncall step_a\nthen\ncall step_a\nthen\nsay Done.";
    let answer = say(&server, &agent, input).await;
    let made = calls(&answer);
    assert_eq!((made[0].1, made[1].1), ("a", "a"));
    assert!(
        made[2].1.starts_with(
            "[ToolConstraintError] Cannot call step_a, valid tools include: ['step_b', 'step_c']."
        ),
        "{}",
        made[2].1
    );
    assert!(
        made[2].1.contains("step_a: at most 2 use(s) per response"),
        "{}",
        made[2].1
    );
    // The count begins anew with every request.
    let again = say(&server, &agent, "call step_a\nthen\nsay Done.").await;
    assert_eq!(calls(&again), [("step_a", "a")]);
}

#[tokio::test]
async fn a_turn_does_not_end_before_what_is_required() {
    let server = TestServer::start().await;
    let rules = json!([{ "type": "required_before_exit", "tool_name": "step_b" }]);
    let agent = ruled(&server, rules).await;
    let answer = say(
        &server,
        &agent,
        "say Done.\nthen\ncall step_b\nthen\nsay Really.",
    )
    .await;
    assert_eq!(
        kinds(&answer["messages"]),
        [
            "assistant_message",
            "user_message",
            "tool_call_message",
            "tool_return_message",
            "assistant_message"
        ]
    );
    let notice: Value = serde_json::from_str(text(&answer["messages"][1]["content"])).unwrap();
    assert_eq!(notice["type"], "heartbeat");
    assert!(
        text(&notice["reason"])
            .ends_with("ToolRuleViolated: You must call step_b at least once to exit the loop.")
    );
    assert_eq!(stop(&answer), "end_turn");
}

#[tokio::test]
async fn children_are_withheld_until_their_parent_ran() {
    let server = TestServer::start().await;
    let rules =
        json!([{ "type": "parent_last_tool", "tool_name": "step_a", "children": ["step_b"] }]);
    let agent = ruled(&server, rules).await;
    let answer = say(&server, &agent, "call step_b\nthen\nsay Done.").await;
    assert!(
        calls(&answer)[0]
            .1
            .starts_with("[ToolConstraintError] Cannot call step_b"),
        "{answer}"
    );
    assert!(
        calls(&answer)[0]
            .1
            .contains("step_b can only be used after step_a"),
        "{answer}"
    );
}

#[tokio::test]
async fn a_rule_of_no_known_type_is_refused() {
    let server = TestServer::start().await;
    let body = json!({
        "model": "bulkhead/scripted", "include_base_tools": false,
        "tool_rules": [{ "type": "sometimes", "tool_name": "x" }],
    });
    let made = server.post("/v1/agents/", &body).await;
    assert_eq!(made.status, 422, "{made:?}");
    let agent = agent(&server, json!({})).await;
    assert_eq!(
        send(&server, &agent, json!({ "input": "say hi" }))
            .await
            .status,
        200
    );
}
