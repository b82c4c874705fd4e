//! A group in an answer.

use bulkhead_domain::{Group, Manager};
use serde::Serialize;
use utoipa::ToSchema;

/// A group with every field of the contract. What its kind of manager does not have is null.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = Group)]
pub(crate) struct GroupView {
    id: String,
    description: String,
    /// round_robin, supervisor, dynamic, sleeptime or voice_sleeptime
    manager_type: &'static str,
    manager_agent_id: Option<String>,
    agent_ids: Vec<String>,
    shared_block_ids: Vec<String>,
    termination_token: Option<String>,
    max_turns: Option<i64>,
    /// requests to the agent that leads it for each time that the others look at its memory
    sleeptime_agent_frequency: Option<i64>,
    /// those requests, modulo that number
    turns_counter: Option<i64>,
    last_processed_message_id: Option<String>,
    max_message_buffer_length: Option<i64>,
    min_message_buffer_length: Option<i64>,
    hidden: Option<bool>,
    project_id: Option<String>,
    template_id: Option<String>,
    base_template_id: Option<String>,
    deployment_id: Option<String>,
}

impl From<Group> for GroupView {
    fn from(group: Group) -> Self {
        let mut view = Self {
            id: group.id.to_string(),
            description: group.description,
            manager_type: group.manager.manager_type().as_str(),
            manager_agent_id: group.manager.agent_id().map(|id| id.to_string()),
            agent_ids: group.agent_ids.iter().map(ToString::to_string).collect(),
            shared_block_ids: group
                .shared_block_ids
                .iter()
                .map(ToString::to_string)
                .collect(),
            termination_token: None,
            max_turns: None,
            sleeptime_agent_frequency: None,
            turns_counter: group.turns_counter,
            last_processed_message_id: group.last_processed_message_id.map(|id| id.to_string()),
            max_message_buffer_length: None,
            min_message_buffer_length: None,
            hidden: group.hidden,
            project_id: group.project_id,
            template_id: None,
            base_template_id: None,
            deployment_id: None,
        };
        match group.manager {
            Manager::RoundRobin { max_turns } => view.max_turns = max_turns,
            Manager::Supervisor { .. } => {}
            Manager::Dynamic {
                termination_token,
                max_turns,
                ..
            } => {
                view.termination_token = termination_token;
                view.max_turns = max_turns;
            }
            Manager::Sleeptime {
                sleeptime_agent_frequency,
                ..
            } => view.sleeptime_agent_frequency = sleeptime_agent_frequency,
            Manager::VoiceSleeptime {
                max_message_buffer_length,
                min_message_buffer_length,
                ..
            } => {
                view.max_message_buffer_length = max_message_buffer_length;
                view.min_message_buffer_length = min_message_buffer_length;
            }
        }
        view
    }
}
