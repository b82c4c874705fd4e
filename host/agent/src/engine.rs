//! The engine: begins runs, drives them to their end whether or not anybody still listens, and
//! cancels them.

use std::{
    sync::{Arc, OnceLock},
    time::Instant,
};

use bulkhead_domain::{
    Message, Run, RunStatus, StopReason, Timestamp, Usage,
    id::{AgentId, ConversationId, RunId},
};
use bulkhead_store::{RunUpdate, Store, StoreError};
use serde_json::{Value, json};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    AgentError,
    active::{ActiveRun, ActiveRuns, ThreadKey},
    driver::Driver,
    event::{Event, Listener},
    ports::{Models, Tools},
    request::RunRequest,
    thread::Thread,
};

/// Runs agents. Cheap to clone.
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

struct Inner {
    store: Store,
    models: Arc<dyn Models>,
    tools: OnceLock<Arc<dyn Tools>>,
    active: ActiveRuns,
    root: CancellationToken,
    tracker: TaskTracker,
}

/// A run that has its id and has not begun to work.
pub struct Begun {
    pub(crate) request: RunRequest,
    pub(crate) run: Run,
    pub(crate) active: ActiveRun,
    pub(crate) began: Instant,
}

impl Begun {
    /// The run's id.
    pub fn id(&self) -> RunId {
        self.run.id
    }

    /// The run as it was stored.
    pub fn run(&self) -> &Run {
        &self.run
    }
}

/// A run that ended as it should, or was cancelled.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The run.
    pub run_id: RunId,
    /// Why it ended.
    pub stop_reason: StopReason,
    /// Tokens of all its steps.
    pub usage: Usage,
    /// Its steps.
    pub steps: u32,
    /// Tokens of the context after its last step, where a model was asked.
    pub context_tokens: Option<i64>,
    /// What it stored beyond the client's own input, in order: answers, results, notices, summaries.
    pub messages: Vec<Arc<Message>>,
    /// Logarithms of probabilities of the last answer, in OpenAI's form.
    pub logprobs: Option<Value>,
}

/// A run that failed.
#[derive(Debug)]
pub struct Failure {
    /// The run.
    pub run_id: RunId,
    /// Why.
    pub error: AgentError,
    /// Whether the listener heard something of an answer before.
    pub after_output: bool,
}

impl Engine {
    /// An engine that asks these models. Tools are given by [`Self::set_tools`].
    pub fn new(store: Store, models: Arc<dyn Models>) -> Self {
        Self(Arc::new(Inner {
            store,
            models,
            tools: OnceLock::new(),
            active: ActiveRuns::default(),
            root: CancellationToken::new(),
            tracker: TaskTracker::new(),
        }))
    }

    /// What runs tools. It is known only when the server that holds this engine is: later than
    /// [`Self::new`], and once.
    pub fn set_tools(&self, tools: Arc<dyn Tools>) {
        // A second time would be a defect of the caller, and the first stays.
        let _ = self.0.tools.set(tools);
    }

    /// The database.
    pub fn store(&self) -> &Store {
        &self.0.store
    }

    /// The models.
    pub fn models(&self) -> &Arc<dyn Models> {
        &self.0.models
    }

    pub(crate) fn tools(&self) -> Result<&Arc<dyn Tools>, AgentError> {
        let tools = self.0.tools.get();
        tools.ok_or_else(|| AgentError::Internal("the engine has no tools yet".to_owned()))
    }

    pub(crate) fn active(&self) -> &ActiveRuns {
        &self.0.active
    }

    pub(crate) fn root(&self) -> &CancellationToken {
        &self.0.root
    }

    /// Notes a run. It is stored as running from here on, and can be cancelled.
    ///
    /// # Errors
    ///
    /// For an agent or conversation that is not there, and failures of the database.
    pub async fn begin(&self, request: RunRequest) -> Result<Begun, AgentError> {
        let run = Run {
            id: RunId::random(),
            agent_id: request.agent_id,
            conversation_id: request.conversation_id,
            status: RunStatus::Running,
            stop_reason: None,
            background: request.background,
            metadata: Some(json!({"run_type": request.run_type.as_str()})),
            request_config: request.request_config.clone(),
            callback_url: request.callback_url.clone(),
            callback_sent_at: None,
            callback_status_code: None,
            callback_error: None,
            ttft_ns: None,
            total_duration_ns: None,
            created_at: Timestamp::now(),
            completed_at: None,
        };
        let active = self.0.active.begin(run.id, request.thread(), &self.0.root);
        let began = Instant::now();
        self.0
            .store
            .create_run(&run)
            .await
            .map_err(|error| match error {
                StoreError::NotFound { .. } | StoreError::UnknownReferences { .. } => {
                    match request.conversation_id {
                        Some(id) => AgentError::NoConversation(id),
                        None => AgentError::NoAgent(request.agent_id),
                    }
                }
                other => AgentError::Store(other),
            })?;
        Ok(Begun {
            request,
            run,
            active,
            began,
        })
    }

    /// Drives a run to its end, on a task of its own: a caller that goes away changes nothing.
    ///
    /// # Errors
    ///
    /// If the run failed; it is stored as failed by then.
    pub async fn drive(&self, begun: Begun, listener: Listener) -> Result<Outcome, Failure> {
        let run_id = begun.run.id;
        let engine = self.clone();
        let driven = self.0.tracker.spawn(async move {
            listener.tell(Event::Started(run_id)).await;
            Driver::drive(engine, begun, listener).await
        });
        driven.await.unwrap_or_else(|error| {
            Err(Failure {
                run_id,
                error: AgentError::Internal(format!("the run broke off: {error}")),
                after_output: false,
            })
        })
    }

    /// Drives a run to its end without waiting for it.
    pub fn detach(&self, begun: Begun) {
        let engine = self.clone();
        self.0.tracker.spawn(async move {
            let run_id = begun.run.id;
            if let Err(failure) = Driver::drive(engine, begun, Listener::none()).await {
                tracing::info!(run = %run_id, error = %failure.error, "a run failed");
            }
        });
    }

    /// The run that goes on in a thread now, if one does.
    pub fn busy(&self, thread: ThreadKey) -> Option<RunId> {
        self.0.active.busy(thread)
    }

    /// The runs that go on here, for a server that says in a shared database that it works on them.
    pub fn running(&self) -> Vec<RunId> {
        self.0.active.all()
    }

    /// Cancels a run that goes on here; false if none does.
    pub fn cancel_run(&self, run_id: RunId) -> bool {
        self.0.active.cancel(run_id).is_some()
    }

    /// Cancels runs of an agent, or of one of its conversations: those named, or all that go on. An
    /// open request for approval is closed with denials. Gives each run and whether it is cancelled,
    /// when all has ended.
    ///
    /// # Errors
    ///
    /// If nothing goes on and nothing waits.
    pub async fn cancel(
        &self,
        agent_id: AgentId,
        conversation_id: Option<ConversationId>,
        named: Option<Vec<RunId>>,
    ) -> Result<Vec<(RunId, bool)>, AgentError> {
        let store = &self.0.store;
        if store.agent(&agent_id).await?.is_none() {
            return Err(AgentError::NoAgent(agent_id));
        }
        let thread = ThreadKey {
            agent_id,
            conversation_id,
        };
        let runs = match named {
            Some(named) if !named.is_empty() => named,
            _ => self.0.active.of(agent_id, conversation_id),
        };
        let mut results = Vec::with_capacity(runs.len());
        for run_id in runs {
            results.push((run_id, self.cancel_one(run_id, agent_id).await?));
        }
        let closed = self.close_request(thread).await?;
        results.extend(
            closed
                .filter(|id| results.iter().all(|(run, _)| run != id))
                .map(|id| (id, true)),
        );
        if results.is_empty() {
            let what = match conversation_id {
                None => format!("agent {agent_id}"),
                Some(id) => format!("conversation {id}"),
            };
            return Err(AgentError::NothingToCancel(what));
        }
        Ok(results)
    }

    async fn cancel_one(&self, run_id: RunId, agent_id: AgentId) -> Result<bool, AgentError> {
        if let Some(done) = self.0.active.cancel(run_id) {
            done.cancelled().await;
        } else if let Some(run) = self.0.store.run(&run_id).await?
            && run.agent_id == agent_id
            && !run.status.is_final()
        {
            // It goes on in another process, or nowhere any more; that process sees it when it
            // stores its next step.
            let update = RunUpdate::ended(run_id, StopReason::Cancelled);
            self.0.store.finish_run(&update).await?;
        }
        let run = self.0.store.run(&run_id).await?;
        Ok(run.is_some_and(|run| run.agent_id == agent_id && run.status == RunStatus::Cancelled))
    }

    /// Closes an open request for approval with denials; gives the run that asked.
    async fn close_request(&self, thread: ThreadKey) -> Result<Option<RunId>, AgentError> {
        let _gate = self.0.active.enter(thread).await;
        let loaded = Thread::load(&self.0.store, thread).await?;
        if loaded.pending().is_none() {
            return Ok(None);
        }
        crate::approval::close(&self.0.store, loaded).await
    }

    /// Ends what goes on: runs are cancelled and stored as such. Nothing begins afterwards.
    pub async fn finish(&self) {
        self.0.root.cancel();
        self.0.tracker.close();
        self.0.tracker.wait().await;
    }
}
