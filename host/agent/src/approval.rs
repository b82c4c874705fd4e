//! Requests for approval that are answered or given up.

use bulkhead_domain::{
    Approval, Message, Role, StopReason, Timestamp, ToolCall, ToolReturn, ToolStatus, id::RunId,
};
use bulkhead_store::{RunUpdate, StepCommit, Store};
use serde_json::Value;

use crate::{AgentError, input, pack, thread::Thread};

/// Why calls of a cancelled request were denied; clients know this sentence.
pub const DENIED_ON_CANCEL: &str = "The user cancelled the request, so the tool call was denied.";

/// What is said of a call of which nobody knows whether it had an effect.
const UNKNOWN: &str = "Interrupted: it was approved and began to run, and the server ended before its \
                       result was stored. It may have had an effect, and was not run again. See what \
                       it did before you call it once more.";

/// The calls of the step of an open request: those that wait, and those that wait with them
/// although they need nobody.
pub(crate) struct Open {
    pub(crate) request: Message,
    pub(crate) running: Vec<ToolCall>,
}

impl Open {
    /// The open request of a thread.
    pub(crate) fn of(thread: &Thread) -> Option<Self> {
        let request = thread.pending()?.clone();
        let before = thread.context.iter().rev().nth(1);
        let same_step = before.filter(|message| {
            message.role == Role::Assistant
                && message.step_id.is_some()
                && message.step_id == request.step_id
        });
        Some(Self {
            running: same_step
                .map(|message| message.tool_calls.clone())
                .unwrap_or_default(),
            request,
        })
    }
}

/// The result of a call that a person denied.
pub(crate) fn denial(
    call: &ToolCall,
    reason: Option<&str>,
    at: Timestamp,
    timezone: &str,
) -> ToolReturn {
    let (status, text) = input::denied(reason);
    plain(call, status, text, at, timezone)
}

/// The result of a call that was approved once and began to run on a server that ended meanwhile. It
/// does not run a second time: nobody knows whether it had an effect.
pub(crate) fn unknown(call: &ToolCall, at: Timestamp, timezone: &str) -> ToolReturn {
    let text = format!("Error executing function {}: {UNKNOWN}", call.name);
    plain(call, ToolStatus::Error, text, at, timezone)
}

/// A result of one text, for a call that did not run.
pub(crate) fn plain(
    call: &ToolCall,
    status: ToolStatus,
    text: String,
    at: Timestamp,
    timezone: &str,
) -> ToolReturn {
    ToolReturn {
        tool_call_id: call.id.clone(),
        name: call.name.clone(),
        status,
        packed: pack::tool_return(status, &Value::from(text.as_str()), at, timezone),
        text,
        stdout: None,
        stderr: None,
        parts: None,
        receipt_id: None,
    }
}

/// Closes the open request of a thread: all of its calls are denied. Gives the run that asked.
pub(crate) async fn close(store: &Store, mut thread: Thread) -> Result<Option<RunId>, AgentError> {
    let Some(open) = Open::of(&thread) else {
        return Ok(None);
    };
    let agent = thread.agent.clone();
    let now = Timestamp::now();
    let reason = Some(DENIED_ON_CANCEL.to_owned());
    let mut frame = Message::new(agent.id, Role::Approval);
    frame.conversation_id = thread.conversation_id();
    frame.run_id = open.request.run_id;
    frame.created_at = now;
    let approvals = open
        .request
        .tool_calls
        .iter()
        .map(|call| Approval::Approval {
            tool_call_id: call.id.clone(),
            approve: false,
            reason: reason.clone(),
        });
    let response = Message {
        approvals: approvals.collect(),
        ..frame.clone()
    };
    let calls = open.request.tool_calls.iter().chain(&open.running);
    let step = match &open.request.step_id {
        Some(step_id) => store.step(step_id).await?,
        None => None,
    };
    let begun = step.map(|step| step.begun_calls).unwrap_or_default();
    let denials = calls.map(|call| match begun.contains(&call.id) {
        true => unknown(call, now, &agent.timezone),
        false => denial(call, reason.as_deref(), now, &agent.timezone),
    });
    let returned = Message {
        id: bulkhead_domain::id::MessageId::random(),
        role: Role::Tool,
        step_id: open.request.step_id,
        tool_returns: denials.collect(),
        ..frame
    };
    let mut commit = StepCommit::new(agent.id, thread.conversation_id());
    commit.messages = vec![response.clone(), returned.clone()];
    thread.context.extend([response, returned]);
    commit.context = Some(thread.context_change());
    commit.last_stop_reason = Some(StopReason::Cancelled);
    commit.at = now;
    commit.run = given_up(store, &thread, &open.request).await?;
    store.commit_step(&commit).await?;
    Ok(commit.run.map(|run| run.id))
}

/// What becomes of the run that asked, which had ended, where its request is given up. None where the
/// request is of another thread, in which it may be open still.
pub(crate) async fn given_up(
    store: &Store,
    thread: &Thread,
    request: &Message,
) -> Result<Option<RunUpdate>, AgentError> {
    let Some(run_id) = &request.run_id else {
        return Ok(None);
    };
    let asked = store.run(run_id).await?.filter(|run| {
        run.agent_id == thread.agent.id && request.conversation_id == thread.conversation_id()
    });
    Ok(asked.map(|run| RunUpdate {
        completed_at: None,
        closes_request: true,
        ..RunUpdate::ended(run.id, StopReason::Cancelled)
    }))
}
