use super::*;
use crate::testing::{agent, block};

fn parts<'a>(agent: &'a Agent, blocks: &'a [Block]) -> Parts<'a> {
    Parts {
        agent,
        blocks,
        conversation: None,
        hidden_messages: 3,
        passages: 0,
        passage_tags: &[],
        at: Timestamp::from_micros(1_795_293_487_000_000),
    }
}

#[test]
fn sections_stand_in_the_order_that_clients_know() {
    let mut agent = agent("Bob");
    agent.system = "Be kind.".to_owned();
    agent.tool_rules =
        serde_json::from_value(serde_json::json!([{"type": "exit_loop", "tool_name": "A"}]))
            .unwrap();
    let mut human = block("human", "Name: Bob");
    human.read_only = true;
    human.description = Some("Who it is.".to_owned());
    let text = Sections::of(&parts(&agent, &[human])).text();
    let expected = [
        "Be kind.\n\n<memory_blocks>\n",
        "\n\n<human>\n<description>\nWho it is.\n</description>\n<metadata>\n- read_only=true\n- chars_current=9\n- chars_limit=100000\n</metadata>\n<value>\nName: Bob\n</value>\n</human>\n\n</memory_blocks>\n\n<tool_usage_rules>\n",
        "\n<tool_rule>\nA ends your response (yields control) when called\n</tool_rule>\n</tool_usage_rules>\n\n<memory_metadata>\n",
        &format!(
            "- AGENT_ID: {}\n- CONVERSATION_ID: default\n- System prompt last recompiled: 2026-11-21 08:38:07 PM UTC+0000\n- 3 ",
            agent.id
        ),
        "</memory_metadata>",
    ];
    let mut rest = text.as_str();
    for piece in expected {
        let at = rest.find(piece);
        assert!(at.is_some(), "missing {piece:?} in {rest}");
        rest = &rest[at.unwrap() + piece.len()..];
    }
    assert_eq!(rest, "");
}

#[test]
fn memory_goes_where_the_instructions_want_it() {
    let mut agent = agent("Bob");
    agent.system = "before {CORE_MEMORY} after".to_owned();
    let text = Sections::of(&parts(&agent, &[])).text();
    assert!(
        text.starts_with("before <memory_metadata>") && text.ends_with("</memory_metadata> after")
    );
}

#[test]
fn every_type_has_instructions() {
    for agent_type in [
        AgentType::LettaV1Agent,
        AgentType::MemgptAgent,
        AgentType::SleeptimeAgent,
    ] {
        assert!(instructions(agent_type).contains("<base_instructions>"));
    }
}

use bulkhead_domain::AgentType;
