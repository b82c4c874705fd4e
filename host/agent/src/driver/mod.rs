//! Drives one run: takes the input in, asks the model, runs its tools, and stores each step in one
//! transaction, until there is a reason to stop.
//!
//! - [`ask`]: one question to the model, with its pieces. [`execute`]: tools of one reply.
//! - [`step`]: one step from question to commit. [`resume`]: an answer to a request for approval.
//! - [`sleeptime`]: a run's end as those see it that look after the agent's memory.
//! - [`end`]: how a run ends in the database. [`shrink`]: the context is made shorter. [`instead`]:
//!   another model where one fails. [`preview`]: the first question, without a run.
//!
//! What a client sent is stored with the first step that is done: a run whose first step fails or
//! is cancelled leaves no trace in the history.

mod ask;
mod end;
mod execute;
mod instead;
mod preview;
mod resume;
mod shrink;
mod sleeptime;
mod step;
mod store;

pub(crate) use end::{Failed, cancelled_before, told};
pub use preview::Preview;

use std::{
    collections::{BTreeMap, VecDeque},
    panic::AssertUnwindSafe,
    sync::Arc,
    time::Instant,
};

use bulkhead_domain::{
    Agent, LlmConfig, Message, Role, Run, RunStatus, StopReason, Trace, Usage,
    id::{AgentId, RunId},
    platform::Standing,
    rule_book::CallHistory,
};
use bulkhead_llm::Endpoint;
use bulkhead_store::{MessageFilter, Store, StoreError, ThreadFilter};
use futures::FutureExt as _;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{
    AgentError, Engine,
    approval::Open,
    engine::{Begun, Failure, Outcome},
    event::{Event, Listener, Shown},
    fallback,
    input::Decision,
    pack, prompt,
    request::{RunRequest, RunType},
    services::{AgentFiles, AgentMemory, AgentRecall, OtherAgents},
    thread::Thread,
    toolset::ToolSet,
    turn::Awaited,
};

/// What a client that repeats an answered decision sets going.
const KEEP_ALIVE: &str = "<system-alert>Automated keep-alive ping. Ignore this message and continue \
                          from where you stopped.</system-alert>";

/// Whether a run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    On,
    Stop(StopReason),
}

/// One run that goes on.
pub(crate) struct Driver {
    engine: Engine,
    store: Store,
    request: RunRequest,
    run: Run,
    cancel: CancellationToken,
    listener: Listener,
    thread: Thread,
    tools: ToolSet,
    /// The system prompt of all calls of this request, whatever tools do to the memory meanwhile:
    /// a changed one would cost the provider's cache.
    system: String,
    model: LlmConfig,
    endpoint: Endpoint,
    /// Handles of the models that are asked where this one fails.
    fallbacks: VecDeque<String>,
    /// The thread's own model, while another one is asked because that one failed.
    own_model: Option<LlmConfig>,
    history: CallHistory,
    /// Input that waits for the first step that is done.
    input: Vec<Message>,
    usage: Usage,
    steps: u32,
    context_tokens: Option<i64>,
    messages: Vec<Arc<Message>>,
    /// Of summaries that the step caused that goes on, or has just been stored.
    traces: Vec<Trace>,
    logprobs: Option<Value>,
    /// Runs of those that look after the agent's memory.
    background: Vec<RunId>,
    began: Instant,
    ttft_ns: Option<i64>,
    /// Whether the listener heard something of an answer.
    told: bool,
    /// Whether the listener did not hear something, because the run was cancelled while it took
    /// nothing.
    has_gap: bool,
    /// Whether tools wrote into the memory what the stored system message does not say.
    memory_unshown: bool,
}

/// A run whose turn it is.
struct Job {
    request: RunRequest,
    run: Run,
    cancel: CancellationToken,
    began: Instant,
}

/// What a run begins with.
enum Start {
    /// The model is asked.
    Ask,
    /// Calls that waited are decided first.
    Decided(Box<Open>, Vec<bulkhead_domain::Approval>),
}

impl Driver {
    /// Drives a run to its end.
    pub(crate) async fn drive(
        engine: Engine,
        begun: Begun,
        listener: Listener,
    ) -> Result<Outcome, Failure> {
        let Begun {
            request,
            run,
            active,
            began,
            undriven,
        } = begun;
        undriven.driven();
        let store = engine.store().clone();
        let (run_id, run_type, thread) = (run.id, request.run_type, request.thread());
        let is_whole = run_type == RunType::Message;
        let cancel = active.cancel.clone();
        let gate = tokio::select! {
            biased;
            gate = engine.active().enter(request.thread()) => Some(gate),
            () = cancel.cancelled() => None,
        };
        let turn = match &gate {
            // One that was cancelled in this very moment does not begin.
            Some(_) if !cancel.is_cancelled() => engine.await_turn(&run, &cancel).await,
            _ => Ok(Awaited::Cancelled),
        };
        let works = matches!(turn, Ok(Awaited::Turn));
        let result = match turn {
            Ok(Awaited::Turn) => {
                let known = engine.recent().take(thread);
                let job = Job {
                    request,
                    run,
                    cancel,
                    began,
                };
                let within = AssertUnwindSafe(Self::within(engine, job, known, listener));
                within.catch_unwind().await.unwrap_or_else(|_| {
                    let text = "a defect ended the run; the log has it".to_owned();
                    Err((AgentError::Internal(text), true))
                })
            }
            Ok(Awaited::Failed) => {
                // That is stored, with what was to be said of it.
                return Err(Failure {
                    run_id,
                    error: AgentError::Abandoned,
                    after_output: false,
                });
            }
            // Also where it was deleted.
            Ok(Awaited::Cancelled) | Err(AgentError::Store(StoreError::NotFound { .. })) => {
                let ended = cancelled_before(&store, &run).await;
                ended.map_err(|error| (error, false))
            }
            Err(error) => Err((error, false)),
        };
        let ended = match result {
            Ok(outcome) => Ok(outcome),
            Err((error, after_output)) => {
                let failed = Failed {
                    thread,
                    run_id,
                    is_whole,
                    took: began.elapsed(),
                    works,
                };
                failed.store(&store, &error).await;
                Err(Failure {
                    run_id,
                    error,
                    after_output,
                })
            }
        };
        // The end is stored: whoever waits for it finds it, and the next run finds the agent as
        // this one left it.
        drop((active, gate));
        ended
    }

    /// The run, while no other of its thread goes on. The messages of its thread that are `known`
    /// need not be read.
    async fn within(
        engine: Engine,
        job: Job,
        known: Vec<Message>,
        listener: Listener,
    ) -> Result<Outcome, (AgentError, bool)> {
        let before = |error| (error, false);
        let thread = Thread::load_with(engine.store(), job.request.thread(), known);
        let thread = thread.await.map_err(before)?;
        // Somebody paused or terminated the agent between the moment when the run was stored and
        // this one.
        if thread.agent.standing != Standing::Active {
            let ended = cancelled_before(engine.store(), &job.run).await;
            return ended.map_err(before);
        }
        let prepared = Self::prepare(engine, job, thread, listener).await;
        let (mut driver, start) = prepared.map_err(before)?;
        let stopped = match driver.work(start).await {
            // Another server deleted the agent or the conversation, or cancelled the run: it closed
            // the request that this one answers, or had it put out of its turn.
            Err(error)
                if end::is_deleted(&error)
                    || (end::is_overtaken(&error) && driver.is_cancelled_elsewhere().await) =>
            {
                let ended = cancelled_before(&driver.store, &driver.run).await;
                ended.map(|outcome| outcome.stop_reason)
            }
            stopped => stopped,
        };
        if driver.memory_unshown {
            // They wrote it in a step that was not stored.
            let shown = driver.engine.show_memory(driver.request.thread());
            if let Err(error) = shown.await {
                tracing::warn!(agent = %driver.request.agent_id, %error, "changed memory is not in the system message");
            }
        }
        if stopped.is_ok() {
            let seen = std::mem::take(&mut driver.thread.context);
            driver.engine.recent().keep(driver.request.thread(), seen);
        }
        stopped
            .map_err(|error| (error, driver.told))
            .map(|reason| driver.outcome(reason))
    }

    /// What came of the run until now.
    fn outcome(&self, reason: StopReason) -> Outcome {
        Outcome {
            run_id: self.run.id,
            stop_reason: reason,
            usage: self.usage,
            steps: self.steps,
            context_tokens: self.context_tokens,
            messages: self.messages.clone(),
            logprobs: self.logprobs.clone(),
            has_gap: self.has_gap,
            background: self.background.clone(),
        }
    }

    async fn is_cancelled_elsewhere(&self) -> bool {
        let run = self.store.run(&self.run.id).await;
        run.is_ok_and(|run| run.is_none_or(|run| run.status == RunStatus::Cancelled))
    }

    async fn prepare(
        engine: Engine,
        job: Job,
        mut thread: Thread,
        listener: Listener,
    ) -> Result<(Self, Start), AgentError> {
        let Job {
            mut request,
            run,
            cancel,
            began,
        } = job;
        let store = engine.store().clone();
        let model = model(&engine, &request, &thread).await?;
        let mut fallbacks = fallback::of(&thread.agent, &model);
        let (model, endpoint) = fallback::reached(&engine, model, &mut fallbacks).await?;
        if model != thread.agent.llm_config {
            Arc::make_mut(&mut thread.agent).llm_config = model.clone();
        }
        let client_tools = std::mem::take(&mut request.client_tools);
        let tools = ToolSet::new(
            &thread.agent,
            std::mem::take(&mut thread.tools),
            client_tools,
        );
        let system = system_prompt(&request, &thread);
        let mut driver = Self {
            store,
            run,
            cancel,
            listener,
            tools,
            system,
            model,
            endpoint,
            fallbacks,
            own_model: None,
            history: CallHistory::default(),
            input: Vec::new(),
            usage: Usage::default(),
            steps: 0,
            context_tokens: None,
            messages: Vec::new(),
            traces: Vec::new(),
            logprobs: None,
            background: Vec::new(),
            began,
            ttft_ns: None,
            told: false,
            has_gap: false,
            memory_unshown: false,
            engine,
            request,
            thread,
        };
        let start = driver.take_input().await?;
        Ok((driver, start))
    }

    /// Takes what the client brought, in the light of what the thread waits for.
    async fn take_input(&mut self) -> Result<Start, AgentError> {
        let input = std::mem::take(&mut self.request.input);
        let agent_id = self.request.agent_id;
        let open = Open::of(&self.thread);
        if open.is_none() && self.thread.agent.message_buffer_autoclear {
            self.thread.context.clear();
        }
        let start = match (open, input.decision) {
            (Some(open), None) => return Err(AgentError::PendingApproval(open.request.id)),
            (Some(open), Some(decision)) => {
                let approvals = decision.on(&open.request)?;
                Start::Decided(Box::new(open), approvals)
            }
            (None, Some(decision)) => {
                if !self.repeats(&decision).await? {
                    return Err(AgentError::NothingToApprove);
                }
                let notice = Message::text(agent_id, Role::User, KEEP_ALIVE);
                self.input.push(notice);
                Start::Ask
            }
            (None, None) => Start::Ask,
        };
        let messages = input.messages.into_iter();
        self.input
            .extend(messages.map(|message| message.into_message(agent_id)));
        for message in &mut self.input {
            message.conversation_id = self.thread.conversation_id();
            message.run_id = Some(self.run.id);
        }
        Ok(start)
    }

    /// Whether a decision repeats the one that was answered last: a client that tried again. What
    /// was answered may be out of the context by now.
    async fn repeats(&self, decision: &Decision) -> Result<bool, AgentError> {
        let mut context = self.thread.context.iter().rev();
        if let Some(answered) = context.find(|message| !message.approvals.is_empty())
            && let Some(request) = context.find(|message| message.is_approval_request())
        {
            return Ok(decision.repeats(&answered.approvals, Some(request.id)));
        }
        // Nothing is open: the newest two are a request and its answer.
        let filter = MessageFilter {
            agent_id: Some(self.request.agent_id),
            thread: ThreadFilter::of(self.thread.conversation_id()),
            roles: Some(vec![Role::Approval]),
            newest: true,
            limit: Some(2),
            ..MessageFilter::default()
        };
        let stored = self.store.messages(&filter).await?;
        let answered = stored.iter().find(|message| !message.approvals.is_empty());
        let request = stored.iter().find(|message| message.is_approval_request());
        let request_id = request.map(|request| request.id);
        Ok(answered.is_some_and(|answered| decision.repeats(&answered.approvals, request_id)))
    }

    async fn work(&mut self, start: Start) -> Result<StopReason, AgentError> {
        if let Start::Decided(open, approvals) = start
            && let Flow::Stop(reason) = self.resume(*open, approvals).await?
        {
            return Ok(reason);
        }
        let last = self.request.max_steps.max(1);
        loop {
            if self.cancel.is_cancelled() {
                return self.end_cancelled().await;
            }
            match self.step(self.steps + 1 >= last).await? {
                Flow::On => {}
                Flow::Stop(reason) => return Ok(reason),
            }
        }
    }

    fn agent(&self) -> &Arc<Agent> {
        &self.thread.agent
    }

    fn cancel(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Fails where another server may work in the place of this run.
    async fn expect_turn(&self) -> Result<(), AgentError> {
        self.engine.expect_turn(self.run.id).await
    }

    /// Tells the listener; a run that ends with it is cancelled when it has gone.
    async fn tell(&mut self, event: Event) {
        if matches!(event, Event::Delta(_) | Event::Message(..)) {
            self.told = true;
        }
        let heard = tokio::select! {
            biased;
            heard = self.listener.tell(event) => heard,
            // One that takes nothing holds a run up, but not its end.
            () = self.cancel.cancelled() => {
                self.has_gap = true;
                return;
            }
        };
        if !heard && self.request.listening.ends_with_listener {
            self.cancel.cancel();
        }
    }

    /// Notes a message as part of the answer to this request, and tells of it.
    async fn show(&mut self, message: &Message, shown: Shown) {
        let message = Arc::new(message.clone());
        self.messages.push(Arc::clone(&message));
        self.tell(Event::Message(message, shown)).await;
    }

    /// A message of this run and thread.
    fn frame(&self, role: Role) -> Message {
        Message {
            conversation_id: self.thread.conversation_id(),
            run_id: Some(self.run.id),
            ..Message::new(self.request.agent_id, role)
        }
    }

    fn services(&self) -> StepServices {
        StepServices::new(
            &self.engine,
            &self.thread,
            Arc::clone(&self.request.chain),
            self.cancel.clone(),
        )
    }
}

/// What the tools of one step reach of the agent.
pub(crate) struct StepServices {
    pub(crate) memory: Arc<AgentMemory>,
    pub(crate) recall: Arc<AgentRecall>,
    pub(crate) files: Arc<AgentFiles>,
    pub(crate) agents: Arc<OtherAgents>,
}

impl StepServices {
    /// Whether something was changed that the system prompt shows.
    pub(crate) fn is_changed(&self) -> bool {
        self.memory.is_changed() || self.files.is_changed()
    }

    pub(crate) fn new(
        engine: &Engine,
        thread: &Thread,
        chain: Arc<[AgentId]>,
        cancel: CancellationToken,
    ) -> Self {
        let agent = &thread.agent;
        let own = thread
            .conversation
            .iter()
            .flat_map(|c| &c.isolated_block_ids);
        let isolated: BTreeMap<_, _> = own
            .filter_map(|id| {
                let block = thread.blocks.iter().find(|block| block.id == *id)?;
                Some((block.label.clone(), *id))
            })
            .collect();
        let store = engine.store();
        Self {
            memory: Arc::new(AgentMemory::new(store.clone(), agent.id, isolated)),
            recall: Arc::new(AgentRecall::new(
                store.clone(),
                agent.id,
                agent.name.clone(),
                thread.conversation_id(),
            )),
            files: Arc::new(AgentFiles::new(
                store.clone(),
                agent.id,
                agent.max_files_open,
            )),
            agents: Arc::new(OtherAgents {
                engine: engine.clone(),
                chain,
                keeps_default: thread.conversation.is_none(),
                cancel,
            }),
        }
    }
}

/// The model of a request: its own, the conversation's, or the agent's.
async fn model(
    engine: &Engine,
    request: &RunRequest,
    thread: &Thread,
) -> Result<LlmConfig, AgentError> {
    if let Some(model) = &request.override_model {
        return Ok(model.clone());
    }
    thread.model(&**engine.models()).await
}

/// What the model is told in this request.
fn system_prompt(request: &RunRequest, thread: &Thread) -> String {
    let stored = thread.system.as_ref().map(Message::plain_text);
    let own = request.override_system.clone();
    let mut text = own.or(stored).unwrap_or_default();
    prompt::append_skills(&mut text, &request.client_skills);
    text
}

/// What the model is told of a run that may not end yet.
fn still_required(missing: &[String], agent: &Agent) -> String {
    let reason = format!(
        "ToolRuleViolated: You must call {} at least once to exit the loop.",
        missing.join(", ")
    );
    pack::heartbeat(&reason, bulkhead_domain::Timestamp::now(), &agent.timezone)
}
