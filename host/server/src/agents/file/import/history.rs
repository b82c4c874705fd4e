//! The history of an agent of a document, under ids of this server.

use std::collections::HashMap;

use bulkhead_agent::{Incoming, first_messages, start::system_message};
use bulkhead_domain::{
    Agent, Block, LlmConfig, Message, Role, Step, StepMetrics, StepStatus, StopReason, Usage,
    id::{MessageId, StepId},
};
use bulkhead_store::message::expect_storable;

use super::super::{
    message::{
        FileMessage,
        reader::{Before, Reader},
    },
    problems::clipped,
};
use crate::{contract::Refusal, http::missing};

/// The messages of a new agent.
pub(super) struct History {
    /// In the order in which they are stored.
    pub(super) messages: Vec<Message>,
    /// Those that its model sees.
    pub(super) context: Vec<MessageId>,
    /// The step whose calls wait for a person, where some do.
    pub(super) waiting: Option<Step>,
}

impl History {
    /// Of an agent that begins anew: its system message, and the sequence that the file wants.
    pub(super) fn begun(agent: &Agent, blocks: &[Block], sequence: Vec<Incoming>) -> Self {
        let messages = first_messages(agent, blocks, Some(sequence));
        Self {
            context: messages.iter().map(|message| message.id).collect(),
            messages,
            waiting: None,
        }
    }

    /// The messages of a file, of which `context` names those that the model sees. An agent whose
    /// model sees no system message first gets one.
    ///
    /// 400 for messages that can't be stored.
    pub(super) fn read(
        agent: &Agent,
        blocks: &[Block],
        files: Vec<FileMessage>,
        context: &[String],
    ) -> Result<Self, Refusal> {
        let reader = Reader {
            agent_id: agent.id,
            timezone: &agent.timezone,
        };
        let mut before = Before::default();
        let mut ids = HashMap::with_capacity(files.len());
        let mut messages = Vec::with_capacity(files.len() + 1);
        for file in files {
            let local = file.id.clone();
            let message = reader.message(file, &mut before);
            let message = message.map_err(|reason| refused(&local, &reason))?;
            expect_storable(&message).map_err(missing::stored)?;
            ids.insert(local, message.id);
            messages.push(message);
        }
        // That each is there was checked with all other references.
        let mut context: Vec<_> = context
            .iter()
            .filter_map(|id| ids.get(id.as_str()).copied())
            .collect();
        let of_id = |id: MessageId| messages.iter().find(|message| message.id == id);
        let first = context.first().and_then(|id| of_id(*id));
        if first.is_none_or(|first| first.role != Role::System) {
            let system = system_message(agent, blocks, None, agent.recompiled_at);
            context.insert(0, system.id);
            messages.insert(0, system);
        }
        pair(&mut messages);
        let last = context.last().copied();
        let last = messages.iter().find(|message| Some(message.id) == last);
        let waiting = last.filter(|last| last.is_approval_request());
        let waiting = waiting.and_then(|request| step(agent, request));
        Ok(Self {
            messages,
            context,
            waiting,
        })
    }
}

/// Gives a request for approval and what the model said with it one step, by which they are known to
/// be one answer.
fn pair(messages: &mut [Message]) {
    for at in 0..messages.len() {
        if !messages[at].is_approval_request() {
            continue;
        }
        let step = Some(StepId::random());
        messages[at].step_id = step;
        if let Some(said) = at.checked_sub(1).and_then(|at| messages.get_mut(at))
            && said.role == Role::Assistant
        {
            said.step_id = step;
        }
    }
}

/// The step that asked: what its calls consume and touch once they are decided on hangs on it.
fn step(agent: &Agent, request: &Message) -> Option<Step> {
    let model: &LlmConfig = &agent.llm_config;
    Some(Step {
        id: request.step_id?,
        agent_id: agent.id,
        run_id: None,
        status: StepStatus::Success,
        stop_reason: Some(StopReason::RequiresApproval),
        provider_name: model.provider_name.clone(),
        provider_category: model.provider_category.clone(),
        provider_id: None,
        model: request.model.clone(),
        model_handle: None,
        model_endpoint: None,
        context_window_limit: Some(model.context_window),
        usage: Usage::default(),
        feedback: None,
        tags: Vec::new(),
        tid: None,
        project_id: agent.project_id.clone(),
        error_type: None,
        error_data: None,
        metrics: StepMetrics::default(),
        begun_calls: Vec::new(),
        created_at: request.created_at,
    })
}

fn refused(id: &str, reason: &str) -> Refusal {
    let text = format!("Invalid agent file: {id}: {reason}");
    Refusal::bad_request(clipped(text))
}
