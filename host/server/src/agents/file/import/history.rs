//! The history of an agent of a document, under ids of this server.

use std::{collections::HashMap, fmt::Display};

use bulkhead_agent::{Incoming, first_messages, start::system_message};
use bulkhead_domain::{
    Agent, Block, LlmConfig, Message, Part, Role, Step, StepMetrics, StepStatus, StopReason, Usage,
    id::{MessageId, StepId},
};
use bulkhead_store::{Disagreement, message::expect_storable, thread::check_calls};

use super::super::{
    message::{
        FileMessage,
        reader::{Before, Reader},
    },
    problems::{Problems, clipped},
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
    ///
    /// 400 for messages that can't be stored.
    pub(super) fn begun(
        agent: &Agent,
        blocks: &[Block],
        sequence: Vec<Incoming>,
    ) -> Result<Self, Refusal> {
        let messages = first_messages(agent, blocks, Some(sequence));
        for message in &messages {
            expect_storable(message).map_err(missing::stored)?;
        }
        Ok(Self {
            context: messages.iter().map(|message| message.id).collect(),
            messages,
            waiting: None,
        })
    }

    /// Bytes of its system message.
    pub(super) fn prompt_bytes(&self) -> usize {
        let first = self.messages.iter().take(1);
        let parts = first.flat_map(|first| &first.content);
        let bytes = parts.map(|part| match part {
            Part::Text { text, .. } => text.len(),
            _ => 0,
        });
        bytes.sum()
    }

    /// The messages of a file, of which `context` names those that the model sees. An agent whose
    /// model sees no system message first gets one.
    ///
    /// 400 for messages that can't be stored, and with all calls in context that have no result there
    /// and do not wait for an approval at its end.
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
            let message = message.map_err(|reason| refused(&local, reason))?;
            expect_storable(&message).map_err(|error| refused(&local, error))?;
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
            expect_storable(&system).map_err(missing::stored)?;
            context.insert(0, system.id);
            messages.insert(0, system);
        }
        pair(&mut messages);
        expect_answered(&messages, &context, &ids)?;
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

/// Refuses a context in which a call has no result: providers take none, and nobody would ever answer.
fn expect_answered(
    messages: &[Message],
    context: &[MessageId],
    ids: &HashMap<String, MessageId>,
) -> Result<(), Refusal> {
    let by_id: HashMap<_, _> = messages.iter().map(|one| (one.id, one)).collect();
    let seen: Vec<&Message> = context
        .iter()
        .filter_map(|id| by_id.get(id).copied())
        .collect();
    let disagreements = check_calls(&seen);
    if disagreements.is_empty() {
        return Ok(());
    }
    let local: HashMap<_, _> = ids.iter().map(|(local, id)| (*id, local)).collect();
    let mut problems = Problems::default();
    for disagreement in &disagreements {
        if let Disagreement::Unanswered {
            message_id,
            tool_call_id,
        } = disagreement
            && let Some(local) = local.get(message_id)
        {
            problems.add(format_args!(
                "{local}: the call {tool_call_id} has no result in context"
            ));
        }
    }
    problems.refuse("Invalid agent file")
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

/// 400 for what the file has under this id.
pub(super) fn refused(id: &str, reason: impl Display) -> Refusal {
    let text = format_args!("Invalid agent file: {id}: {reason}");
    Refusal::bad_request(clipped(text))
}
