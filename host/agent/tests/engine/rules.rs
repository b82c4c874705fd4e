//! Graphs of tools: an agent that obeys its rules whatever its model wants.

use bulkhead_domain::StopReason;
use serde_json::{Value, json};

use crate::world::{Setup, World};

async fn run(rules: Value, text: &str) -> (String, StopReason) {
    let world = World::new().await;
    let setup = Setup {
        rules,
        ..Setup::default()
    };
    let agent = world.agent(setup).await;
    let outcome = world.say(agent, text).await;
    (world.words(agent).await, outcome.stop_reason)
}

#[tokio::test]
async fn a_chain_from_first_to_last_tool_is_walked_in_order() {
    let rules = json!([
        {"type": "run_first", "tool_name": "echo"},
        {"type": "constrain_child_tools", "tool_name": "echo", "children": ["twin"]},
        {"type": "constrain_child_tools", "tool_name": "twin", "children": ["send_message"]},
        {"type": "exit_loop", "tool_name": "send_message"},
    ]);
    // The model wants none of it, and is made to.
    let (words, reason) = run(rules, "say I would rather talk").await;
    assert_eq!(
        words,
        "user call:echo return:ok call:twin return:ok call:send_message return:ok"
    );
    assert_eq!(reason, StopReason::ToolRule);
}

#[tokio::test]
async fn a_call_that_the_rules_bar_is_refused_with_a_hint() {
    let world = World::new().await;
    let setup = Setup {
        rules: json!([{"type": "parent_last_tool", "tool_name": "echo", "children": ["twin"]}]),
        ..Setup::default()
    };
    let agent = world.agent(setup).await;
    world
        .say(
            agent,
            "call twin\nthen\ncall echo\nthen\ncall twin\nthen\nsay ok",
        )
        .await;
    assert_eq!(
        world.words(agent).await,
        "user call:twin return:error call:echo return:ok call:twin return:ok text"
    );
    let text = &world.history(agent).await[3].tool_returns[0].text;
    assert!(
        text.contains(
            "\n** Hint: Possible rules that were violated:\n\t- twin can only be used after echo"
        ),
        "{text}"
    );
}

#[tokio::test]
async fn a_condition_chooses_by_what_the_tool_gave() {
    let rules = json!([
        {"type": "conditional", "tool_name": "echo",
         "child_output_mapping": {"left": "twin", "right": "fail"}, "default_child": "remember"},
    ]);
    for (output, chosen) in [("left", "twin"), ("right", "fail"), ("else", "remember")] {
        let wanted = format!("call echo with {{\"x\": \"{output}\"}}\nthen\nsay x");
        let (words, _) = run(rules.clone(), &wanted).await;
        let expected = format!("user call:echo return:ok call:{chosen} return:");
        assert!(words.starts_with(&expected), "{words}");
    }
}

#[tokio::test]
async fn a_tool_that_is_used_up_is_refused() {
    let rules = json!([{"type": "max_count_per_step", "tool_name": "echo", "max_count_limit": 2}]);
    let (words, _) = run(
        rules,
        "call echo\nthen\ncall echo\nthen\ncall echo\nthen\nsay ok",
    )
    .await;
    assert_eq!(
        words,
        "user call:echo return:ok call:echo return:ok call:echo return:error text"
    );
}

#[tokio::test]
async fn a_required_tool_is_asked_for_before_the_end() {
    let rules = json!([{"type": "required_before_exit", "tool_name": "echo"}]);
    let (words, reason) = run(rules, "say I am done").await;
    assert_eq!(words, "user text user call:echo return:ok text");
    assert_eq!(reason, StopReason::EndTurn);
}

#[tokio::test]
async fn prescribed_arguments_replace_the_models() {
    let world = World::new().await;
    let setup = Setup {
        rules: json!([{"type": "run_first", "tool_name": "echo", "args": {"x": "mine"}}]),
        ..Setup::default()
    };
    let agent = world.agent(setup).await;
    world.say(agent, "call echo with {\"x\": \"yours\"}").await;
    assert_eq!(world.history(agent).await[3].tool_returns[0].text, "mine");
}

#[tokio::test]
async fn a_call_of_the_last_tool_that_was_refused_does_not_end_the_run() {
    let rules = json!([
        {"type": "parent_last_tool", "tool_name": "echo", "children": ["twin"]},
        {"type": "exit_loop", "tool_name": "twin"},
    ]);
    let (words, reason) = run(
        rules,
        "call twin\nthen\ncall echo\nthen\ncall twin\nthen\nsay never",
    )
    .await;
    assert_eq!(
        words,
        "user call:twin return:error call:echo return:ok call:twin return:ok"
    );
    assert_eq!(reason, StopReason::ToolRule);
}

#[tokio::test]
async fn a_last_tool_that_comes_too_early_is_followed_by_what_is_required() {
    let rules = json!([
        {"type": "required_before_exit", "tool_name": "echo"},
        {"type": "exit_loop", "tool_name": "twin"},
    ]);
    let (words, reason) = run(
        rules,
        "call twin\nthen\ncall echo\nthen\ncall twin\nthen\nsay never",
    )
    .await;
    assert_eq!(
        words,
        "user call:twin return:ok user call:echo return:ok call:twin return:ok"
    );
    assert_eq!(reason, StopReason::ToolRule);
}
