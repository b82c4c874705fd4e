//! The one transaction of a step, and what follows it.

use std::{collections::BTreeSet, time::Duration};

use bulkhead_domain::{
    Message, Part, Role, Step, StepMetrics, StepStatus, StopReason, Timestamp, Trace,
    id::{BlockId, StepId, TraceId},
    platform::Standing,
};
use bulkhead_llm::ChatReply;
use bulkhead_store::{Committed, RunUpdate, StepCommit, StoreError, SystemContent};

use super::{Driver, Flow, ask::Begun, step::Gathered};
use crate::{
    AgentError, approval,
    asked::{self, nanos},
    event::Shown,
    thread::Thread,
};

impl Driver {
    pub(super) fn step_record(
        &self,
        step: &Begun,
        reply: &ChatReply,
        flow: Flow,
        asked: Duration,
        all: Duration,
        gathered: &Gathered,
    ) -> Step {
        let mut record = self.blank_step(step);
        record.status = match flow {
            Flow::Stop(StopReason::Cancelled) => StepStatus::Cancelled,
            _ => StepStatus::Success,
        };
        record.stop_reason = match flow {
            Flow::On => None,
            Flow::Stop(reason) => Some(reason),
        };
        record.usage = reply.usage;
        let start = step.at.micros().saturating_mul(1_000);
        record.metrics = StepMetrics {
            step_start_ns: Some(start),
            llm_request_start_ns: Some(start),
            llm_request_ns: Some(nanos(asked)),
            tool_execution_ns: (!gathered.tools.is_zero()).then(|| nanos(gathered.tools)),
            step_ns: Some(nanos(all)),
        };
        record
    }

    /// A step of which nothing is known but the model.
    pub(super) fn blank_step(&self, step: &Begun) -> Step {
        let asked = (&self.model, &self.endpoint);
        Step {
            run_id: Some(self.run.id),
            ..asked::blank(step.id, self.agent(), asked, step.at)
        }
    }

    /// Stores a step with all that belongs to it, in one transaction. What of it is stored with a
    /// failed step too, traces and receipts, is back where it was if that failed.
    pub(super) async fn store_step(
        &mut self,
        step: &Begun,
        record: Step,
        gathered: &mut Gathered,
        flow: Flow,
    ) -> Result<Committed, AgentError> {
        self.expect_turn().await?;
        let mut commit = StepCommit::new(self.request.agent_id, self.thread.conversation_id());
        let mut input = std::mem::take(&mut self.input);
        for message in &mut input {
            message.step_id = Some(step.id);
        }
        self.thread.context.extend(input.iter().cloned());
        self.thread
            .context
            .extend(gathered.messages.iter().cloned());
        commit.context = Some(self.thread.context_change());
        commit.messages = input;
        commit.messages.extend(gathered.messages.iter().cloned());
        if gathered.memory_changed {
            commit.system = self.rewritten_system().await?;
        }
        commit.traces = std::mem::take(&mut self.traces);
        commit.receipts = std::mem::take(&mut gathered.receipts);
        commit.step = Some(record);
        commit.at = Timestamp::now();
        if let Flow::Stop(reason) = flow {
            commit.run = Some(self.ended_with(reason, &gathered.messages));
            commit.last_stop_reason = Some(reason);
            commit.sleeptime = self.sleeptime_run();
        }
        let committed = self.store.commit_step(&commit).await;
        if committed.is_err() {
            (self.traces, gathered.receipts) = (commit.traces, commit.receipts);
        }
        Ok(committed?)
    }

    /// What follows a step that is stored.
    pub(super) async fn stored_step(
        &mut self,
        flow: Flow,
        committed: &Committed,
        gathered: &Gathered,
    ) -> Result<Flow, AgentError> {
        self.committed(committed, &gathered.messages, &gathered.shared_blocks)
            .await;
        let ended = self.settle(flow, committed).await?;
        if flow == Flow::Stop(StopReason::RequiresApproval) && ended != flow {
            // Nobody is told of this request, so nobody would answer it.
            let thread = Thread::load(&self.store, self.request.thread()).await?;
            match approval::close(&self.store, thread).await {
                // Whoever cancelled the run was faster.
                Err(AgentError::Store(StoreError::ThreadChanged { .. })) => {}
                closed => drop(closed?),
            }
        }
        Ok(ended)
    }

    /// How the run goes on after a commit. It ends where the agent was paused or terminated and
    /// nobody has cancelled the run yet: its server may never do so.
    pub(super) async fn settle(
        &mut self,
        flow: Flow,
        committed: &Committed,
    ) -> Result<Flow, AgentError> {
        match settled(flow, committed) {
            Flow::On if committed.standing != Standing::Active => {
                self.end_cancelled().await.map(Flow::Stop)
            }
            settled => Ok(settled),
        }
    }

    /// What follows the commit of what a step gathered, these messages and changed blocks: who is
    /// concerned learns of it.
    pub(super) async fn committed(
        &mut self,
        committed: &Committed,
        messages: &[Message],
        shared_blocks: &BTreeSet<BlockId>,
    ) {
        self.thread.stored();
        self.memory_unshown = false;
        self.look_after(committed.sleeptime.as_ref());
        self.tell_others_of(shared_blocks).await;
        self.show_stored(messages).await;
    }

    /// Tells of what was made in a step. What the model wrote was told before its tools ran.
    async fn show_stored(&mut self, messages: &[Message]) {
        for message in messages {
            let is_shown = match message.role {
                Role::Tool => true,
                // Older types' notices are in lists only.
                Role::User => !self.agent().agent_type.is_legacy(),
                _ => false,
            };
            if is_shown {
                self.show(message, Shown::Not).await;
            }
        }
    }

    /// Makes the system messages of other threads that see these blocks anew. That it failed is no
    /// reason to fail a step that is stored.
    async fn tell_others_of(&self, blocks: &BTreeSet<BlockId>) {
        if blocks.is_empty() {
            return;
        }
        let told = self.engine.recompile_others(self.request.thread(), blocks);
        if let Err(error) = told.await {
            tracing::warn!(agent = %self.request.agent_id, %error, "other threads do not see a change of memory yet");
        }
    }

    /// The system message as the memory is now, where the thread has one.
    pub(super) async fn rewritten_system(&mut self) -> Result<Option<SystemContent>, AgentError> {
        self.thread.reload_blocks(&self.store).await?;
        let sections = self.thread.sections(&self.store, Timestamp::now()).await?;
        let Some(system) = &mut self.thread.system else {
            return Ok(None);
        };
        system.content = vec![Part::text(sections.text())];
        Ok(Some(SystemContent {
            message_id: system.id,
            content: system.content.clone(),
        }))
    }

    /// Notes what the provider was sent and answered, taken from its reply since it can be large: it
    /// is stored with the step, however that ends.
    pub(super) fn note_trace(&mut self, step_id: StepId, reply: &mut ChatReply) {
        let trace = Trace {
            id: TraceId::random(),
            step_id,
            agent_id: self.request.agent_id,
            run_id: Some(self.run.id),
            call_type: "agent_step".to_owned(),
            request_json: std::mem::take(&mut reply.request_json),
            response_json: std::mem::take(&mut reply.response_json),
            created_at: Timestamp::now(),
        };
        // Before those of the summaries that it needed.
        self.traces.insert(0, trace);
    }

    /// How the run ends now.
    pub(super) fn ended(&self, reason: StopReason) -> RunUpdate {
        RunUpdate {
            ttft_ns: self.ttft_ns,
            total_duration_ns: Some(nanos(self.began.elapsed())),
            ..RunUpdate::ended(self.run.id, reason)
        }
    }
}

/// How a run goes on that another server may have ended before its own end was stored.
fn settled(flow: Flow, committed: &Committed) -> Flow {
    let ended = committed.run.as_ref().filter(|run| run.status.is_final());
    match ended.and_then(|run| run.stop_reason) {
        Some(reason) => Flow::Stop(reason),
        None => flow,
    }
}
