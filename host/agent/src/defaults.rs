//! What agents of each type begin with.

use bulkhead_domain::{AgentType, RuleKind, SPEAKING_TOOL, ToolRule};

/// The tool by which agents of older types speak.
pub const SEND_MESSAGE: &str = SPEAKING_TOOL;
/// The tools for messages to other agents.
pub const MULTI_AGENT_TOOLS: [&str; 3] = [
    "send_message_to_agent_and_wait_for_reply",
    "send_message_to_agents_matching_tags",
    "send_message_to_agent_async",
];

/// The tools that an agent of this type begins with, by name.
pub fn base_tools(agent_type: AgentType, enable_sleeptime: bool) -> &'static [&'static str] {
    if enable_sleeptime
        && matches!(
            agent_type,
            AgentType::LettaV1Agent | AgentType::MemgptAgent | AgentType::MemgptV2Agent
        )
    {
        return &[
            SEND_MESSAGE,
            "conversation_search",
            "archival_memory_search",
        ];
    }
    match agent_type {
        AgentType::LettaV1Agent => &["conversation_search", "memory_insert", "memory_replace"],
        AgentType::MemgptAgent => &[
            SEND_MESSAGE,
            "conversation_search",
            "core_memory_append",
            "core_memory_replace",
            "memory",
            "memory_apply_patch",
        ],
        AgentType::MemgptV2Agent => &[
            SEND_MESSAGE,
            "conversation_search",
            "memory_insert",
            "memory_replace",
        ],
        AgentType::SleeptimeAgent => &[
            "memory_insert",
            "memory_replace",
            "memory_rethink",
            "memory_finish_edits",
        ],
        AgentType::VoiceConvoAgent => &["search_memory", SEND_MESSAGE],
        AgentType::VoiceSleeptimeAgent => &[
            "store_memories",
            "rethink_user_memory",
            "finish_rethinking_memory",
        ],
        AgentType::ReactAgent | AgentType::WorkflowAgent | AgentType::SplitThreadAgent => &[],
    }
}

/// Tools that end a turn by what they are.
fn exits(tool: &str) -> bool {
    matches!(
        tool,
        SEND_MESSAGE | "memory_finish_edits" | "finish_rethinking_memory"
    )
}

/// The rules that come with tools an agent begins with, for those of `tools` that are base tools.
///
/// `wanted` is the client's `include_base_tool_rules`. The current type gets them only where they
/// are asked for, or where there are other rules that they complete.
pub fn base_rules(
    agent_type: AgentType,
    tools: &[String],
    wanted: Option<bool>,
    has_rules: bool,
) -> Vec<ToolRule> {
    let always = match agent_type {
        AgentType::LettaV1Agent => has_rules,
        AgentType::ReactAgent | AgentType::WorkflowAgent => false,
        _ => true,
    };
    let mut rules = Vec::new();
    if wanted.unwrap_or(always) {
        for tool in tools {
            if exits(tool) {
                rules.push(ToolRule::new(tool, RuleKind::ExitLoop));
            } else if is_base_tool(tool) {
                rules.push(ToolRule::new(tool, RuleKind::ContinueLoop));
            }
        }
    } else if agent_type.is_legacy() && tools.iter().any(|tool| tool == SEND_MESSAGE) {
        // Without it an agent that speaks by this tool would never end its turn.
        rules.push(ToolRule::new(SEND_MESSAGE, RuleKind::ExitLoop));
    }
    rules
}

/// Whether some type begins with the tool.
fn is_base_tool(tool: &str) -> bool {
    matches!(
        tool,
        "conversation_search"
            | "archival_memory_insert"
            | "archival_memory_search"
            | "core_memory_append"
            | "core_memory_replace"
            | "memory"
            | "memory_apply_patch"
            | "memory_insert"
            | "memory_replace"
            | "memory_rethink"
            | "search_memory"
            | "store_memories"
            | "rethink_user_memory"
    )
}

/// Files that may be open at once, and characters of each that are shown, by the model's window.
pub fn file_limits(context_window: i64) -> (i64, i64) {
    match context_window {
        ..=8_000 => (3, 5_000),
        8_001..=32_000 => (5, 15_000),
        32_001..=128_000 => (10, 25_000),
        128_001..=200_000 => (10, 40_000),
        _ => (15, 40_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_current_type_has_no_rules_unless_asked_for_or_beside_others() {
        let tools = base_tools(AgentType::LettaV1Agent, false);
        let tools: Vec<String> = tools.iter().map(|&tool| tool.to_owned()).collect();
        let rules =
            |wanted, has_rules| base_rules(AgentType::LettaV1Agent, &tools, wanted, has_rules);
        assert!(rules(None, false).is_empty() && rules(Some(false), true).is_empty());
        assert_eq!(rules(None, true).len(), 3);
        assert_eq!(rules(Some(true), false).len(), 3);
    }

    #[test]
    fn speaking_ends_the_turn_of_older_types_whatever_was_asked_for() {
        let tools = [SEND_MESSAGE.to_owned()];
        for wanted in [None, Some(false), Some(true)] {
            let rules = base_rules(AgentType::WorkflowAgent, &tools, wanted, false);
            assert_eq!(rules, [ToolRule::new(SEND_MESSAGE, RuleKind::ExitLoop)]);
        }
    }
}
