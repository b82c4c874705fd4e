//! One step: a question to the model, the tools of its reply, and one transaction with all of it.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use bulkhead_domain::{
    Message, Part, Receipt, Role, Step, StepMetrics, StepStatus, StopReason, Timestamp, ToolCall,
    ToolReturn, Trace, Usage,
    id::{BlockId, MessageId, StepId, TraceId},
};
use bulkhead_llm::{ChatReply, Finish};
use bulkhead_store::{Committed, RunUpdate, StepCommit, SystemContent};

use super::{
    Driver, Flow,
    ask::{Asked, Begun, nanos},
    still_required,
};
use crate::{
    AgentError,
    answer::{Answer, Reply},
    approval, compact,
    event::Shown,
    legacy, pack,
    thread::Thread,
    toolset::Offered,
};

/// The share of the window from which on the context is made shorter after a step.
const SHRINK_ABOVE: f64 = 0.9;

/// A reply, taken apart.
struct Taken {
    content: Vec<Part>,
    calls: Vec<ToolCall>,
    /// Whether an older type asked to go on.
    heartbeat: bool,
}

/// What one step gives, to be stored together.
#[derive(Default)]
pub(super) struct Gathered {
    /// In the order in which they are stored, after the input.
    pub(super) messages: Vec<Message>,
    pub(super) receipts: Vec<(String, Receipt)>,
    pub(super) tools: Duration,
    pub(super) memory_changed: bool,
    /// Of the changed memory what other threads and agents may have too.
    pub(super) shared_blocks: BTreeSet<BlockId>,
    /// Whether a call ran that ends the loop.
    pub(super) exits: bool,
}

impl Driver {
    /// One step.
    pub(super) async fn step(&mut self, is_last: bool) -> Result<Flow, AgentError> {
        self.expect_turn().await?;
        let began = Instant::now();
        let step = Begun {
            id: StepId::random(),
            message_id: MessageId::random(),
            at: Timestamp::now(),
        };
        let offered = self.tools.offered(&self.history);
        let asked = match self.ask(&step, &offered).await {
            Ok(asked) => asked,
            // Whatever broke off, such as the writing of a summary, broke off for this.
            Err(_) if self.cancel().is_cancelled() => Asked::Cancelled,
            Err(error) => {
                self.steps += 1;
                self.store_failed_step(&step, &error, began.elapsed()).await;
                return Err(error);
            }
        };
        let Asked::Answered(mut reply, told) = asked else {
            return self.end_cancelled().await.map(Flow::Stop);
        };
        let asked_for = began.elapsed();
        self.steps += 1;
        self.usage += reply.usage;
        self.logprobs.clone_from(&reply.logprobs);
        if self.ttft_ns.is_none() {
            self.ttft_ns = Some(nanos(self.began.elapsed()));
        }
        let taken = match self.take_apart(&reply, &offered) {
            Ok(taken) => taken,
            Err(error) => {
                self.store_failed_step(&step, &error, began.elapsed()).await;
                return Err(error);
            }
        };
        let heartbeat = taken.heartbeat;
        let (waiting, running): (Vec<_>, Vec<_>) = taken
            .calls
            .into_iter()
            .partition(|call| self.tools.waits(&offered, &call.name));
        let answer = Answer::of(
            Reply {
                message_id: step.message_id,
                content: taken.content,
                running: running.clone(),
                waiting,
                model: reply.model.clone(),
                at: step.at,
                in_pieces: told,
            },
            &Message {
                step_id: Some(step.id),
                ..self.frame(Role::Assistant)
            },
        );
        let shown = if told { Shown::InPieces } else { Shown::Not };
        let mut gathered = Gathered::default();
        gathered.messages.extend(answer.messages().cloned());
        for message in answer.messages() {
            self.show(message, shown).await;
        }
        if self.has_gap {
            // Its listener did not hear all of the answer, because the run was cancelled.
            return self.end_cancelled().await.map(Flow::Stop);
        }
        let flow = if answer.waiting.is_some() {
            Flow::Stop(StopReason::RequiresApproval)
        } else if running.is_empty() {
            self.after_text(&reply, is_last, &step, &mut gathered)
        } else {
            let returns = self
                .execute(&running, &offered, step.id, &mut gathered)
                .await;
            self.after_tools(
                &running,
                &returns,
                heartbeat,
                is_last,
                step.id,
                &mut gathered,
            )
        };
        let record = self.step_record(&step, &reply, flow, asked_for, began.elapsed(), &gathered);
        let flow = self
            .store_step(&step, record, Some(&mut reply), gathered, flow)
            .await?;
        self.shrink_if_full(&reply, &offered, &step, flow).await;
        Ok(flow)
    }

    /// Thoughts, text and calls of a reply.
    fn take_apart(&self, reply: &ChatReply, offered: &Offered) -> Result<Taken, AgentError> {
        let calls = self.counted(reply.tool_calls.clone(), offered);
        let mut taken = Taken {
            content: reply.content.clone(),
            calls: Vec::with_capacity(calls.len()),
            heartbeat: false,
        };
        if !self.agent().agent_type.is_legacy() {
            taken.calls = calls;
            return Ok(taken);
        }
        if calls.is_empty() {
            return Err(AgentError::UnusableReply(
                "No tool calls found in response, model must make a tool call".to_owned(),
            ));
        }
        // What such a model writes beside its call is a thought.
        taken.content = taken.content.into_iter().map(as_thought).collect();
        for call in calls {
            let part = legacy::take(call);
            taken.content.extend(part.thinking);
            taken.heartbeat |= part.heartbeat;
            taken.calls.push(part.call);
        }
        Ok(taken)
    }

    /// What follows a reply without calls.
    fn after_text(
        &self,
        reply: &ChatReply,
        is_last: bool,
        step: &Begun,
        gathered: &mut Gathered,
    ) -> Flow {
        if reply.finish == Finish::Length {
            return Flow::Stop(StopReason::MaxTokensExceeded);
        }
        let missing = self
            .tools
            .book()
            .missing_before_exit(self.tools.names(), &self.history);
        if missing.is_empty() {
            return Flow::Stop(StopReason::EndTurn);
        }
        gathered
            .messages
            .push(self.notice(&still_required(&missing, self.agent()), step.id));
        if is_last {
            return Flow::Stop(StopReason::MaxSteps);
        }
        Flow::On
    }

    /// What follows the calls of a reply.
    pub(super) fn after_tools(
        &self,
        calls: &[ToolCall],
        returns: &[ToolReturn],
        heartbeat: bool,
        is_last: bool,
        step_id: StepId,
        gathered: &mut Gathered,
    ) -> Flow {
        if self.cancel().is_cancelled() {
            return Flow::Stop(StopReason::Cancelled);
        }
        let book = self.tools.book();
        let exits = gathered.exits;
        let is_legacy = self.agent().agent_type.is_legacy();
        let failed = returns
            .iter()
            .any(|returned| returned.status == bulkhead_domain::ToolStatus::Error);
        let continues = calls.iter().any(|call| book.continues(&call.name));
        let ends = match is_legacy {
            false => exits,
            // A call of such a type goes on only where something asks for it.
            true => (exits && !failed) || !(heartbeat || continues || failed),
        };
        let missing = book.missing_before_exit(self.tools.names(), &self.history);
        if ends && missing.is_empty() {
            return Flow::Stop(match is_legacy {
                true => StopReason::EndTurn,
                false => StopReason::ToolRule,
            });
        }
        if ends {
            gathered
                .messages
                .push(self.notice(&still_required(&missing, self.agent()), step_id));
        }
        if is_last {
            return Flow::Stop(StopReason::MaxSteps);
        }
        if is_legacy && !ends {
            let reason = match failed {
                true => "Function call failed, returning control",
                false => "Function called using request_heartbeat=true, returning control",
            };
            let notice = pack::heartbeat(reason, Timestamp::now(), &self.agent().timezone);
            gathered.messages.push(self.notice(&notice, step_id));
        }
        Flow::On
    }

    /// A notice to the model in a person's place.
    fn notice(&self, text: &str, step_id: StepId) -> Message {
        Message {
            content: vec![Part::text(text)],
            step_id: Some(step_id),
            ..self.frame(Role::User)
        }
    }

    fn step_record(
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
        let model = &self.model;
        Step {
            id: step.id,
            agent_id: self.request.agent_id,
            run_id: Some(self.run.id),
            status: StepStatus::Pending,
            stop_reason: None,
            provider_name: model.provider_name.clone(),
            provider_category: model.provider_category.clone(),
            provider_id: self.endpoint.provider_id.clone(),
            model: Some(model.model.clone()),
            model_handle: Some(model.handle()),
            model_endpoint: model.model_endpoint.clone(),
            context_window_limit: Some(model.context_window),
            usage: Usage::default(),
            feedback: None,
            tags: Vec::new(),
            tid: None,
            project_id: self.agent().project_id.clone(),
            error_type: None,
            error_data: None,
            begun_calls: Vec::new(),
            metrics: StepMetrics::default(),
            created_at: step.at,
        }
    }

    /// Stores a step with all that belongs to it, in one transaction, and tells of what it made.
    pub(super) async fn store_step(
        &mut self,
        step: &Begun,
        record: Step,
        reply: Option<&mut ChatReply>,
        gathered: Gathered,
        flow: Flow,
    ) -> Result<Flow, AgentError> {
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
        commit
            .traces
            .extend(reply.map(|reply| self.trace(step.id, reply, "agent_step")));
        commit.traces.append(&mut self.traces);
        commit.receipts = gathered.receipts;
        commit.step = Some(record);
        commit.at = Timestamp::now();
        if let Flow::Stop(reason) = flow {
            commit.run = Some(self.ended_with(reason, &gathered.messages));
            commit.last_stop_reason = Some(reason);
            commit.sleeptime = self.sleeptime_run();
        }
        let committed = self.store.commit_step(&commit).await?;
        self.committed(&committed, &gathered.messages, &gathered.shared_blocks)
            .await;
        let ended = settled(flow, &committed);
        if flow == Flow::Stop(StopReason::RequiresApproval) && ended != flow {
            // Nobody is told of this request, so nobody would answer it.
            let thread = Thread::load(&self.store, self.request.thread()).await?;
            approval::close(&self.store, thread).await?;
        }
        Ok(ended)
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

    /// What the provider was sent and answered, taken from its reply: it can be large.
    fn trace(&self, step_id: StepId, reply: &mut ChatReply, call_type: &str) -> Trace {
        Trace {
            id: TraceId::random(),
            step_id,
            agent_id: self.request.agent_id,
            run_id: Some(self.run.id),
            call_type: call_type.to_owned(),
            request_json: std::mem::take(&mut reply.request_json),
            response_json: std::mem::take(&mut reply.response_json),
            created_at: Timestamp::now(),
        }
    }

    /// How the run ends now.
    pub(super) fn ended(&self, reason: StopReason) -> RunUpdate {
        RunUpdate {
            ttft_ns: self.ttft_ns,
            total_duration_ns: Some(nanos(self.began.elapsed())),
            ..RunUpdate::ended(self.run.id, reason)
        }
    }

    /// Makes the context shorter where it fills most of the window. That it could not be done now
    /// is no reason to fail a step that is stored: the next one tries again.
    async fn shrink_if_full(
        &mut self,
        reply: &ChatReply,
        offered: &Offered,
        step: &Begun,
        flow: Flow,
    ) {
        let window = self.own_model().context_window as f64;
        let filled = match reply.usage.total_tokens {
            // An endpoint that reports no usage. The estimate is for this alone; nobody is billed it.
            0 => compact::tokens(&self.system, &self.thread.context, &offered.specs),
            reported => reported,
        };
        self.context_tokens = Some(filled);
        let is_full = filled as f64 > SHRINK_ABOVE * window;
        let waits = matches!(
            flow,
            Flow::Stop(StopReason::RequiresApproval | StopReason::Cancelled)
        );
        if !is_full || waits || self.cancel().is_cancelled() {
            return;
        }
        if let Err(error) = self
            .shrink("post_step_context_check", Some(step.id), 0)
            .await
        {
            tracing::warn!(agent = %self.request.agent_id, %error, "a full context was not made shorter");
        }
        for trace in std::mem::take(&mut self.traces) {
            if let Err(error) = self.store.add_trace(&trace).await {
                tracing::warn!(step = %step.id, %error, "a summary's trace was not stored");
            }
        }
    }
}

/// How a run goes on that another server may have ended before its own end was stored.
pub(super) fn settled(flow: Flow, committed: &Committed) -> Flow {
    let ended = committed.run.as_ref().filter(|run| run.status.is_final());
    match ended.and_then(|run| run.stop_reason) {
        Some(reason) => Flow::Stop(reason),
        None => flow,
    }
}

/// Text of a model that speaks by a tool only.
fn as_thought(part: Part) -> Part {
    match part {
        Part::Text { text, signature } => Part::Reasoning {
            is_native: false,
            reasoning: text,
            signature,
        },
        other => other,
    }
}
