//! What agents of each type are told unless their owner says something else.

use bulkhead_domain::AgentType;

/// The base instructions of a type.
pub fn instructions(agent_type: AgentType) -> &'static str {
    match agent_type {
        AgentType::LettaV1Agent => include_str!("base/current.txt"),
        AgentType::MemgptAgent | AgentType::MemgptV2Agent | AgentType::SplitThreadAgent => {
            include_str!("base/messenger.txt")
        }
        AgentType::ReactAgent => include_str!("base/react.txt"),
        AgentType::WorkflowAgent => include_str!("base/workflow.txt"),
        AgentType::SleeptimeAgent => include_str!("base/sleeptime.txt"),
        AgentType::VoiceConvoAgent => include_str!("base/voice.txt"),
        AgentType::VoiceSleeptimeAgent => include_str!("base/voice_sleeptime.txt"),
    }
    .trim_end()
}
