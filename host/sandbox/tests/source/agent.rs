//! The agent that a tool is called for.

use bulkhead_domain::Outcome;
use serde_json::{Value, json};

use crate::common::*;

fn agent() -> Value {
    json!({
        "id": "agent-7", "name": "Helper", "tags": ["x"], "llm_config": {"model": "m", "context_window": 100},
        "blocks": [
            {"label": "human", "value": "Ada", "limit": 10},
            {"label": "ro", "value": "fixed", "read_only": true},
        ],
    })
}

async fn changed(code: &str) -> bulkhead_sandbox::SourceReport {
    let text = format!("def t(agent_state):\n    memory = agent_state.memory\n    {code}\n");
    Tool::python(&text).agent(&agent()).call(json!({})).await
}

#[tokio::test]
async fn blocks_that_a_tool_changed_come_back_when_it_returned() {
    if !has_python() {
        return;
    }
    let report = changed("memory.update_block_value(label='human', value='Bob')").await;
    assert_eq!(json!(report.memory), json!({"human": "Bob"}));
    let report = changed("memory.get_block('human').value += '!'").await;
    assert_eq!(json!(report.memory), json!({"human": "Ada!"}));
    let report = changed(
        "memory.update_block_value('human', 'Bob'); memory.update_block_value('human', 'Ada')",
    )
    .await;
    assert!(report.memory.is_empty());
    let report = changed("return memory.list_block_labels()").await;
    assert!(report.memory.is_empty());
    assert_eq!(value(report), json!(["human", "ro"]));
}

#[tokio::test]
async fn nothing_is_changed_by_a_tool_that_failed() {
    if !has_python() {
        return;
    }
    for (code, expected) in [
        ("raise ValueError", Outcome::ToolError),
        ("exit(0)", Outcome::Exited),
        ("import os; os._exit(0)", Outcome::Exited),
    ] {
        let report = changed(&format!(
            "memory.update_block_value('human', 'Bob'); {code}"
        ))
        .await;
        assert_eq!(outcome(&report), expected, "{code}");
        assert!(report.memory.is_empty(), "{code}");
    }
}

#[tokio::test]
async fn what_may_not_change_raises() {
    if !has_python() {
        return;
    }
    for (code, kind, message) in [
        (
            "memory.update_block_value('ro', 'x')",
            "ValueError",
            "This block is read-only and cannot be edited.",
        ),
        (
            "memory.update_block_value('none', 'x')",
            "ValueError",
            "Block with label none does not exist",
        ),
        (
            "memory.update_block_value('human', 'x' * 11)",
            "ValueError",
            "Edit failed: Exceeds 10 character limit (requested 11)",
        ),
        (
            "memory.update_block_value('human', 5)",
            "ValueError",
            "Provided value must be a string",
        ),
        (
            "memory.get_block('none')",
            "KeyError",
            "'Block field none does not exist (available sections = human, ro)'",
        ),
    ] {
        let report = changed(code).await;
        assert!(report.memory.is_empty(), "{code}");
        let exception = raised(report);
        assert_eq!(
            (exception.kind.as_str(), exception.message.as_str()),
            (kind, message),
            "{code}"
        );
    }
}

#[tokio::test]
async fn the_agent_can_be_read() {
    if has_python() {
        let report = changed(
            "return [agent_state.id, agent_state.name, agent_state.llm_config.context_window, \
             agent_state.tags, agent_state.tools, agent_state.description]",
        )
        .await;
        assert_eq!(
            value(report),
            json!(["agent-7", "Helper", 100, ["x"], [], null])
        );
        let text = "def t(agent_id: str):\n    '''T.'''\n    return agent_id\n";
        let report = Tool::python(text).agent(&agent()).call(json!({})).await;
        assert_eq!(value(report), json!("agent-7"));
        let report = Tool::python(text)
            .agent(&agent())
            .call(json!({"agent_id": "other"}))
            .await;
        assert_eq!(value(report), json!("other"));
        let none = Tool::python("def t(agent_state):\n    return agent_state is None\n");
        assert_eq!(value(none.call(json!({})).await), json!(true));
    }
    let text = "function t() { return [agent.id, agent.blocks[0].value] }";
    let report = Tool::javascript(text).agent(&agent()).call(json!({})).await;
    assert_eq!(value(report), json!(["agent-7", "Ada"]));
    let report = Tool::javascript("function t() { return agent }")
        .call(json!({}))
        .await;
    assert_eq!(value(report), json!(null));
}

#[tokio::test]
async fn an_argument_can_not_stand_for_the_agent() {
    if !has_python() {
        return;
    }
    let text = "def t(agent_state):\n    return agent_state.id\n";
    let input = json!({"agent_state": {"id": "forged"}});
    let report = Tool::python(text).agent(&agent()).call(input).await;
    if outcome(&report) == Outcome::Ok {
        assert_eq!(value(report), json!("agent-7"));
    } else {
        assert_eq!(problems(report)[0].0, "/agent_state");
    }
}
