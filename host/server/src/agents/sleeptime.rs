//! The agent that looks after another one's memory while it is idle, and the group of the two.

use bulkhead_agent::{defaults, first_messages, prompt};
use bulkhead_domain::{
    Agent, AgentType, Block, Group, Manager, Timestamp, group::FREQUENCY_DEFAULT, id::AgentId,
};
use bulkhead_store::{NewAgent, NewSleeptime};

use super::toolset;
use crate::{app::App, contract::Refusal};

/// What is added to the name of the agent that it looks after.
const SUFFIX: &str = "-sleeptime";
/// The block that such an agent has for itself.
const PERSONA: &str = "memory_persona";
const PERSONA_DESCRIPTION: &str = "How I look after the memory of the other agent: my task, and what I \
                                   have learnt about doing it well.";
const PERSONA_VALUE: &str = "I look after the memory of another agent while it is idle. I read what was \
    said since I last looked and keep the shared blocks as they will be needed: complete, short, without \
    repetition, and with dates instead of words like \"today\". I change nothing that is right.";
/// Messages in the context of an agent that speaks, and those that stay there.
const VOICE_BUFFER: (i64, i64) = (30, 15);

/// Whether agents of this type may have one that looks after their memory. Those that do so themselves
/// have none.
pub(crate) fn expect_main(agent_type: AgentType) -> Result<(), Refusal> {
    match agent_type {
        AgentType::SleeptimeAgent | AgentType::VoiceSleeptimeAgent => {
            Err(Refusal::bad_request(format!(
                "INVALID_ARGUMENT: an agent of the type {} looks after the memory of another one, and \
                 none looks after its own; create it without enable_sleeptime",
                agent_type.as_str()
            )))
        }
        _ => Ok(()),
    }
}

/// An agent that looks after the memory of `main`, which has these blocks. It is whose `main` is, and
/// has its models.
pub(crate) async fn of(
    app: &App,
    main: &Agent,
    blocks: &[Block],
) -> Result<Box<NewSleeptime>, Refusal> {
    expect_main(main.agent_type)?;
    let (agent_type, manager) = match main.agent_type {
        AgentType::VoiceConvoAgent => (
            AgentType::VoiceSleeptimeAgent,
            Manager::VoiceSleeptime {
                manager_agent_id: main.id,
                max_message_buffer_length: Some(VOICE_BUFFER.0),
                min_message_buffer_length: Some(VOICE_BUFFER.1),
            },
        ),
        _ => (
            AgentType::SleeptimeAgent,
            Manager::Sleeptime {
                manager_agent_id: main.id,
                sleeptime_agent_frequency: Some(FREQUENCY_DEFAULT),
            },
        ),
    };
    let wanted = toolset::Wanted {
        names: Vec::new(),
        ids: Vec::new(),
        base: defaults::base_tools(agent_type, false).to_vec(),
    };
    let tools = wanted.resolve(app).await?;
    let now = Timestamp::now();
    let mut agent = Agent {
        id: AgentId::random(),
        name: format!("{}{SUFFIX}", main.name),
        agent_type,
        system: prompt::instructions(agent_type).to_owned(),
        description: None,
        metadata: None,
        message_ids: Vec::new(),
        response_format: None,
        tool_rules: toolset::rules(agent_type, &tools, Vec::new(), None),
        message_buffer_autoclear: false,
        enable_sleeptime: None,
        last_stop_reason: None,
        last_run_completion: None,
        last_run_duration_ms: None,
        recompiled_at: now,
        template_id: None,
        base_template_id: None,
        created_at: now,
        updated_at: now,
        ..main.clone()
    };
    let persona = persona(main, now);
    let mut seen: Vec<Block> = blocks.to_vec();
    if !seen.iter().any(|block| block.label == persona.label) {
        seen.push(persona.clone());
    }
    let messages = first_messages(&agent, &seen, None);
    agent.message_ids = messages.iter().map(|message| message.id).collect();
    let group = Group {
        project_id: main.project_id.clone(),
        hidden: main.hidden,
        created_by_id: main.created_by_id.clone(),
        ..Group::new(
            format!("{} and who looks after its memory", main.name),
            manager,
        )
    };
    Ok(Box::new(NewSleeptime {
        agent: NewAgent {
            new_blocks: vec![persona],
            tool_ids: tools.into_iter().map(|tool| tool.id).collect(),
            messages,
            ..NewAgent::new(agent)
        },
        group,
    }))
}

fn persona(main: &Agent, now: Timestamp) -> Block {
    Block {
        description: Some(PERSONA_DESCRIPTION.to_owned()),
        project_id: main.project_id.clone(),
        created_by_id: main.created_by_id.clone(),
        created_at: now,
        updated_at: now,
        ..Block::new(PERSONA, PERSONA_VALUE)
    }
}
