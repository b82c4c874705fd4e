//! An answer to a request for approval: calls run, are denied, or come with their results.

use std::collections::BTreeMap;

use bulkhead_domain::{
    Approval, Message, Role, StopReason, Timestamp, ToolCall, ToolReturn, ToolStatus, id::StepId,
};
use bulkhead_store::StepCommit;

use super::{Driver, Flow, step::Gathered};
use crate::{
    AgentError,
    approval::{Open, denial, plain, unknown},
    asked::nanos,
    input, legacy,
};

impl Driver {
    /// Carries out decisions. What comes of them is stored in the step that asked, before the model
    /// is asked again: whatever happens then, no call stays without its result.
    pub(super) async fn resume(
        &mut self,
        open: Open,
        approvals: Vec<Approval>,
    ) -> Result<Flow, AgentError> {
        let step_id = open.request.step_id.unwrap_or_else(StepId::random);
        let now = Timestamp::now();
        let timezone = self.agent().timezone.clone();
        let calls: BTreeMap<&str, &ToolCall> = open
            .request
            .tool_calls
            .iter()
            .map(|call| (call.id.as_str(), call))
            .collect();
        let mut computed = Vec::new();
        let mut denied = Vec::new();
        let mut heartbeat = false;
        let mut to_run = Vec::new();
        for approval in &approvals {
            let Some(&call) = calls.get(approval.tool_call_id()) else {
                continue;
            };
            match approval {
                Approval::Tool { .. } => {
                    heartbeat |= legacy::wants_heartbeat(call);
                    computed.push(client_result(call, approval, now, &timezone));
                }
                Approval::Approval { approve: true, .. } => to_run.push(call.clone()),
                Approval::Approval { reason, .. } => denied.push((call, reason.as_deref())),
            }
        }
        to_run.extend(open.running.iter().cloned());
        self.expect_turn().await?;
        heartbeat |= to_run.iter().any(legacy::wants_heartbeat);
        let begun = self.note_begun(step_id, &to_run).await?;
        let has_begun = |call: &ToolCall| begun.contains(&call.id);
        let denied = denied
            .into_iter()
            .map(|(call, reason)| match has_begun(call) {
                true => unknown(call, now, &timezone),
                false => denial(call, reason, now, &timezone),
            });
        let denied: Vec<ToolReturn> = denied.collect();
        for returned in computed.iter().chain(&denied) {
            self.history.record(&returned.name, &returned.text);
        }
        let mut gathered = Gathered::default();
        let (interrupted, to_run): (Vec<_>, Vec<_>) = to_run.into_iter().partition(has_begun);
        let interrupted = interrupted.iter().map(|call| unknown(call, now, &timezone));
        let ran = self.run_calls(&to_run, None, step_id, &mut gathered).await;
        let mut returns = computed;
        returns.extend(denied);
        returns.extend(interrupted);
        returns.extend(ran);
        let response = Message {
            approvals,
            created_at: now,
            ..self.frame(Role::Approval)
        };
        gathered
            .messages
            .push(self.returned(returns.clone(), step_id));
        let flow = self.after_decision(&to_run, &returns, heartbeat, step_id, &mut gathered);
        self.store_decision(step_id, response, gathered, flow).await
    }

    /// Notes that calls begin to run, before they do. Gives those that had begun before: on a server
    /// that ended before it stored what came of them.
    async fn note_begun(
        &self,
        step_id: StepId,
        calls: &[ToolCall],
    ) -> Result<Vec<String>, AgentError> {
        if calls.is_empty() {
            let step = self.store.step(&step_id).await?;
            return Ok(step.map(|step| step.begun_calls).unwrap_or_default());
        }
        let ids: Vec<String> = calls.iter().map(|call| call.id.clone()).collect();
        Ok(self.store.begin_calls(&step_id, &ids).await?)
    }

    /// What follows the calls of which these ran: what follows any others, except that an agent of an
    /// older type which would end is asked about what came along.
    fn after_decision(
        &self,
        ran: &[ToolCall],
        returns: &[ToolReturn],
        heartbeat: bool,
        step_id: StepId,
        gathered: &mut Gathered,
    ) -> Flow {
        let flow = self.after_tools(ran, returns, heartbeat, false, step_id, gathered);
        let is_legacy = self.agent().agent_type.is_legacy();
        match flow {
            Flow::Stop(StopReason::EndTurn) if is_legacy && !self.input.is_empty() => Flow::On,
            flow => flow,
        }
    }

    async fn store_decision(
        &mut self,
        step_id: StepId,
        response: Message,
        gathered: Gathered,
        flow: Flow,
    ) -> Result<Flow, AgentError> {
        self.expect_turn().await?;
        let mut commit = StepCommit::new(self.request.agent_id, self.thread.conversation_id());
        commit.messages = vec![response];
        commit.messages.extend(gathered.messages.iter().cloned());
        if flow != Flow::On {
            // No step follows that would store what came along.
            commit.messages.append(&mut self.input);
        }
        self.thread.context.extend(commit.messages.iter().cloned());
        commit.context = Some(self.thread.context_change());
        commit.step = self.store.step(&step_id).await?;
        if let Some(step) = &mut commit.step {
            step.metrics.tool_execution_ns = Some(nanos(gathered.tools));
            step.begun_calls.clear();
            commit.receipts = gathered.receipts;
        }
        if gathered.memory_changed {
            commit.system = self.rewritten_system().await?;
        }
        if let Flow::Stop(reason) = flow {
            commit.run = Some(self.ended_with(reason, &commit.messages));
            commit.last_stop_reason = Some(reason);
            commit.sleeptime = self.sleeptime_run();
        }
        commit.at = Timestamp::now();
        let committed = self.store.commit_step(&commit).await?;
        self.committed(&committed, &gathered.messages, &gathered.shared_blocks)
            .await;
        self.settle(flow, &committed).await
    }
}

/// A result that the client computed itself.
fn client_result(
    call: &ToolCall,
    approval: &Approval,
    at: Timestamp,
    timezone: &str,
) -> ToolReturn {
    let Approval::Tool {
        tool_return,
        status,
        stdout,
        stderr,
        ..
    } = approval
    else {
        return plain(call, ToolStatus::Error, String::new(), at, timezone);
    };
    let (text, parts) = input::client_return(tool_return);
    ToolReturn {
        parts,
        stdout: stdout.clone(),
        stderr: stderr.clone(),
        ..plain(call, *status, text, at, timezone)
    }
}
