//! The engine: begins runs, drives them to their end whether or not anybody still listens, and
//! cancels them (`cancel`).

mod cancel;

use std::{
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use bulkhead_domain::{Message, Run, RunStatus, StopReason, Timestamp, Usage, id::RunId};
use bulkhead_store::{Store, StoreError};
use serde_json::{Value, json};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    AgentError,
    active::{ActiveRun, ActiveRuns, ThreadKey, Undriven},
    by_hand::ByHand,
    compiled_here,
    driver::Driver,
    event::{Event, Listener},
    lease::Said,
    ports::{Background, Models, Tools},
    recent::Recent,
    request::RunRequest,
    services::Waits,
    turn::Alone,
};

/// Runs agents. Cheap to clone.
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

struct Inner {
    store: Store,
    models: Arc<dyn Models>,
    tools: OnceLock<Arc<dyn Tools>>,
    background: OnceLock<Arc<dyn Background>>,
    /// Where other servers share the database: how long a turn counts of which nothing is heard.
    turn_silence: OnceLock<Duration>,
    active: ActiveRuns,
    by_hand: ByHand,
    waits: Waits,
    said: Said,
    recent: Recent,
    root: CancellationToken,
    tracker: TaskTracker,
}

/// A run that has its id and has not begun to work.
pub struct Begun {
    pub(crate) request: RunRequest,
    pub(crate) run: Run,
    pub(crate) active: Arc<ActiveRun>,
    pub(crate) began: Instant,
    pub(crate) undriven: Undriven,
}

/// What became of a request that must be alone in its thread.
pub enum Entry {
    /// Its run has begun.
    Begun(Box<Begun>),
    /// It came before, and began this run then.
    Known(Box<Run>),
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
    /// Whether its listener did not hear all of it, because it was cancelled while nothing was taken.
    pub has_gap: bool,
    /// The runs of other agents that it set going in the background.
    pub background: Vec<RunId>,
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
            background: OnceLock::new(),
            turn_silence: OnceLock::new(),
            active: ActiveRuns::default(),
            by_hand: ByHand::default(),
            waits: Waits::default(),
            said: Said::default(),
            recent: Recent::default(),
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

    /// What drives the runs that the engine itself begins. Known and said as [`Self::set_tools`]; where
    /// nobody says, they are only driven.
    pub fn set_background(&self, background: Arc<dyn Background>) {
        let _ = self.0.background.set(background);
    }

    pub(crate) fn background(&self) -> Option<&Arc<dyn Background>> {
        self.0.background.get()
    }

    /// Does this on a task that the end of the engine waits for.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.0.tracker.spawn(work);
    }

    /// Has runs take turns with those of other servers on the same database: one works on a thread at
    /// a time. Of a server of which nothing was heard for `silence` (see [`crate::TURN_SILENCE`])
    /// none does. Said once, before the first run.
    pub fn share(&self, silence: Duration) {
        // A second time would be a defect of the caller, and the first stays.
        let _ = self.0.turn_silence.set(silence);
    }

    pub(crate) fn turn_silence(&self) -> Option<Duration> {
        self.0.turn_silence.get().copied()
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

    pub(crate) fn recent(&self) -> &Recent {
        &self.0.recent
    }

    pub(crate) fn active(&self) -> &ActiveRuns {
        &self.0.active
    }

    /// What goes on and is no run.
    pub(crate) fn by_hand(&self) -> &ByHand {
        &self.0.by_hand
    }

    /// Which agents wait for answers of which.
    pub(crate) fn waits(&self) -> &Waits {
        &self.0.waits
    }

    pub(crate) fn said(&self) -> &Said {
        &self.0.said
    }

    pub(crate) fn root(&self) -> &CancellationToken {
        &self.0.root
    }

    /// Notes a run. It is stored as running from here on, and can be cancelled. One that is begun
    /// and not driven, because whoever asked for it went away meanwhile, is cancelled.
    ///
    /// # Errors
    ///
    /// For an agent or conversation that is not there, [`AgentError::Paused`] and
    /// [`AgentError::Terminated`], [`AgentError::TooManyRuns`], and failures of the database.
    #[compiled_here]
    pub async fn begin(&self, request: RunRequest) -> Result<Begun, AgentError> {
        let engine = self.clone();
        self.unbroken(async move { engine.note(request).await })
            .await
    }

    /// As [`Self::begin`], for a thread that takes one request at a time. A request in the
    /// background begins no run where one with the same [`RunRequest::otids`] has begun one in the
    /// thread: that run is given, whether it goes on or has ended. One that failed before it stored
    /// anything does not count.
    ///
    /// # Errors
    ///
    /// As those of [`Self::begin`], and [`AgentError::Busy`] while another run of the thread that began
    /// by this goes on here, or any works on another server that shares the database. One that began
    /// by [`Self::begin`] here is waited for, as it waits for others.
    #[compiled_here]
    pub async fn begin_alone(&self, request: RunRequest) -> Result<Entry, AgentError> {
        let engine = self.clone();
        self.unbroken(async move { engine.note_alone(request).await })
            .await
    }

    /// Does this on a task of its own: whether a run was stored is known whoever goes away.
    async fn unbroken<T: Send + 'static>(
        &self,
        noting: impl Future<Output = Result<T, AgentError>> + Send + 'static,
    ) -> Result<T, AgentError> {
        let noted = self.0.tracker.spawn(noting);
        noted.await.unwrap_or_else(|error| {
            let text = format!("the run could not begin: {error}");
            Err(AgentError::Internal(text))
        })
    }

    async fn note_alone(&self, request: RunRequest) -> Result<Entry, AgentError> {
        let thread = request.thread();
        let began = Instant::now();
        // Nobody else looks until this one is noted.
        let _door = self.0.active.door(thread).await;
        if request.background {
            let conversation = thread.conversation_id.as_ref();
            let store = &self.0.store;
            let known = store.run_of_otids(&thread.agent_id, conversation, &request.otids);
            if let Some(run) = known.await? {
                return Ok(Entry::Known(Box::new(run)));
            }
        }
        if let Some(run_id) = self.0.active.alone(thread) {
            return Err(AgentError::Busy(run_id));
        }
        let (run, active) = self.new_run(&request, true)?;
        let store = &self.0.store;
        let known = match request.background {
            true => store.create_run_once(&run, &request.otids).await,
            false => store.create_run(&run).await.map(|()| None),
        };
        // On another server, a moment ago.
        if let Some(run) = known.map_err(|error| not_begun(error, thread))? {
            return Ok(Entry::Known(Box::new(run)));
        }
        let begun = self.begun(request, run, active, began);
        match self.turn_alone(&begun.run, &begun.active.cancel).await? {
            Alone::Yes => Ok(Entry::Begun(Box::new(begun))),
            Alone::Busy(other) => {
                // It never worked, and its client learns nothing of it. Where it can't be deleted it
                // is given up.
                self.0.store.delete_run(&begun.run.id).await?;
                begun.undriven.driven();
                Err(AgentError::Busy(other))
            }
        }
    }

    async fn note(&self, request: RunRequest) -> Result<Begun, AgentError> {
        let began = Instant::now();
        let (run, active) = self.new_run(&request, false)?;
        let store = &self.0.store;
        let stored = match request.background {
            true => store.create_run_with_otids(&run, &request.otids).await,
            false => store.create_run(&run).await,
        };
        stored.map_err(|error| not_begun(error, request.thread()))?;
        Ok(self.begun(request, run, active, began))
    }

    /// A run that can be cancelled from now on, unless its thread is about to be deleted or too many
    /// wait already.
    fn new_run(&self, request: &RunRequest, alone: bool) -> Result<(Run, ActiveRun), AgentError> {
        let run = self.noted(request);
        let thread = request.thread();
        let active = self.0.active.begin(run.id, thread, alone, &self.0.root)?;
        Ok((run, active))
    }

    /// A run as it is stored when it begins.
    pub(crate) fn noted(&self, request: &RunRequest) -> Run {
        let mut run = Self::unstored(request);
        if self.turn_silence().is_some() {
            // Until it has its turn.
            run.status = RunStatus::Created;
        }
        run
    }

    /// A run as it begins.
    pub(crate) fn unstored(request: &RunRequest) -> Run {
        Run {
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
        }
    }

    /// A run that is stored.
    pub(crate) fn begun(
        &self,
        request: RunRequest,
        run: Run,
        active: ActiveRun,
        began: Instant,
    ) -> Begun {
        let active = Arc::new(active);
        Begun {
            undriven: Undriven::new(self, &run, &active),
            request,
            run,
            active,
            began,
        }
    }

    /// Stores that a run which nobody drives was cancelled.
    pub(crate) fn give_up(&self, run: Run, active: Arc<ActiveRun>) {
        let store = self.0.store.clone();
        let given_up = async move {
            // Whoever waits for its end finds it stored.
            let _active = active;
            if let Err(error) = crate::driver::cancelled_before(&store, &run).await {
                tracing::warn!(run = %run.id, %error, "a run that was given up was not stored as such");
            }
        };
        // Without a runtime the process is ending, and the next start ends the run.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            self.0.tracker.spawn_on(given_up, &runtime);
        }
    }

    /// Drives a run to its end, on a task of its own: a caller that goes away changes nothing.
    ///
    /// # Errors
    ///
    /// If the run failed; it is stored as failed by then.
    #[compiled_here]
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

    /// Ends what goes on: runs are cancelled and stored as such. Nothing begins afterwards.
    #[compiled_here]
    pub async fn finish(&self) {
        self.0.root.cancel();
        self.0.tracker.close();
        self.0.tracker.wait().await;
    }
}

/// Why a run could not be stored, in the words of its request.
fn not_begun(error: StoreError, thread: ThreadKey) -> AgentError {
    match error {
        StoreError::NotFound { .. } | StoreError::UnknownReferences { .. } => thread.missing(),
        StoreError::AgentPaused { .. } => AgentError::Paused(thread.agent_id),
        StoreError::AgentTerminated { .. } => AgentError::Terminated(thread.agent_id),
        other => AgentError::Store(other),
    }
}
