//! What is done with a thread beside runs: its system message is made anew, its history dropped, a
//! tool called by hand.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use bulkhead_domain::{
    Agent, Conversation, Message, Part, StopReason, Timestamp,
    id::{AgentId, BlockId, ConversationId},
};
use bulkhead_store::{ConversationFilter, StepCommit, StoreError, SystemContent};
use serde_json::{Map, Value};
use tokio::sync::OwnedMutexGuard;

use crate::{
    AgentError, Engine,
    active::ThreadKey,
    approval, compiled_here,
    driver::StepServices,
    error::expect_active,
    ports::{Executed, Invocation},
    start,
    thread::Thread,
};

/// How a system message is made anew.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecompileOptions {
    /// Only say what it would be.
    pub dry_run: bool,
    /// Move the time that it is shown as made at.
    pub update_timestamp: bool,
}

impl RecompileOptions {
    /// It is made and stored as of now.
    pub const ANEW: Self = Self {
        dry_run: false,
        update_timestamp: true,
    };
}

/// A thread in which no run of this server works until this is dropped.
#[must_use = "runs work again when it is dropped"]
pub struct Held {
    _gate: OwnedMutexGuard<()>,
}

impl Engine {
    /// Waits until no run of this server works on an agent's default thread, and lets none work there
    /// for as long as the answer is kept. For changes of what its model sees.
    #[compiled_here]
    pub async fn hold(&self, agent_id: AgentId) -> Held {
        let key = ThreadKey::default_of(agent_id);
        Held {
            _gate: self.active().enter(key).await,
        }
    }

    /// Makes the system message of a thread anew from the agent's memory, and gives its text.
    ///
    /// # Errors
    ///
    /// For an agent or conversation that is not there, and failures of the database.
    #[compiled_here]
    pub async fn recompile(
        &self,
        agent_id: AgentId,
        conversation_id: Option<ConversationId>,
        options: RecompileOptions,
    ) -> Result<String, AgentError> {
        let key = ThreadKey {
            agent_id,
            conversation_id,
        };
        let mut thread = Thread::load(self.store(), key).await?;
        let at = match options.update_timestamp {
            true => Timestamp::now(),
            false => thread.agent.recompiled_at,
        };
        let text = thread.sections(self.store(), at).await?.text();
        if !options.dry_run {
            self.rewrite(&mut thread, &text).await?;
            if options.update_timestamp && conversation_id.is_none() {
                self.note_recompiled(agent_id, at).await?;
            }
        }
        Ok(text)
    }

    /// Makes the system message of every thread that sees this block anew.
    ///
    /// # Errors
    ///
    /// Failures of the database; those agents that came before are done by then.
    #[compiled_here]
    pub async fn recompile_for_block(&self, block: &BlockId) -> Result<(), AgentError> {
        let mut seen = BTreeMap::new();
        self.note_agents_of(block, None, &mut seen).await?;
        self.recompile_threads(seen, None).await
    }

    /// Makes the system message of every other thread anew that sees one of these blocks, which a
    /// tool wrote in this one, made or took away from its agent.
    ///
    /// # Errors
    ///
    /// Failures of the database; those threads that came before are done by then.
    pub(crate) async fn recompile_others(
        &self,
        own: ThreadKey,
        blocks: &BTreeSet<BlockId>,
    ) -> Result<(), AgentError> {
        let mut seen = BTreeMap::new();
        for block in blocks {
            self.note_agents_of(block, Some(own.agent_id), &mut seen)
                .await?;
        }
        self.recompile_threads(seen, Some(own)).await
    }

    /// Notes the label of a block for all agents that have it, and for this one.
    async fn note_agents_of(
        &self,
        block: &BlockId,
        own: Option<AgentId>,
        seen: &mut BTreeMap<AgentId, BTreeSet<String>>,
    ) -> Result<(), AgentError> {
        let Some(block) = self.store().block(block).await? else {
            return Ok(());
        };
        let agents = self.store().agent_ids_of_block(&block.id).await?;
        for agent_id in agents.into_iter().chain(own) {
            let labels = seen.entry(agent_id).or_default();
            labels.insert(block.label.clone());
        }
        Ok(())
    }

    /// Makes the system messages of all threads of these agents anew, but of those conversations that
    /// have blocks of their own in the place of all of these labels.
    async fn recompile_threads(
        &self,
        seen: BTreeMap<AgentId, BTreeSet<String>>,
        except: Option<ThreadKey>,
    ) -> Result<(), AgentError> {
        for (agent_id, labels) in seen {
            let default = ThreadKey::default_of(agent_id);
            if except != Some(default) {
                self.recompile_after_change(agent_id).await?;
            }
            let mut filter = ConversationFilter {
                agent_id: Some(agent_id),
                ..ConversationFilter::default()
            };
            filter.paging.ascending = true;
            loop {
                let page = self.store().conversations(&filter).await?;
                let Some(last) = page.last() else { break };
                filter.paging.after = Some(last.id.to_string());
                for conversation in &page {
                    let key = ThreadKey {
                        agent_id,
                        conversation_id: Some(conversation.id),
                    };
                    if except != Some(key) && !self.isolates(conversation, &labels).await? {
                        self.recompile_conversation(key).await?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether a conversation has blocks of its own in the place of all of these.
    async fn isolates(
        &self,
        conversation: &Conversation,
        labels: &BTreeSet<String>,
    ) -> Result<bool, AgentError> {
        let mut shared = labels.clone();
        for id in &conversation.isolated_block_ids {
            if let Some(own) = self.store().block(id).await? {
                shared.remove(&own.label);
            }
        }
        Ok(shared.is_empty())
    }

    async fn recompile_conversation(&self, key: ThreadKey) -> Result<(), AgentError> {
        match self.show_memory(key).await {
            // It was deleted meanwhile.
            Err(
                AgentError::NoAgent(_)
                | AgentError::NoConversation(_)
                | AgentError::Store(StoreError::NotFound { .. }),
            ) => Ok(()),
            shown => shown,
        }
    }

    /// Makes the system message of an agent's default thread anew because its memory was changed by
    /// the API.
    ///
    /// # Errors
    ///
    /// Failures of the database.
    #[compiled_here]
    pub async fn recompile_after_change(&self, agent_id: AgentId) -> Result<(), AgentError> {
        match self.show_memory(ThreadKey::default_of(agent_id)).await {
            // It was deleted meanwhile.
            Err(AgentError::NoAgent(_)) => Ok(()),
            shown => shown,
        }
    }

    /// Puts an agent's memory as it is now into the system message of a thread.
    pub(crate) async fn show_memory(&self, thread: ThreadKey) -> Result<(), AgentError> {
        let (agent_id, conversation_id) = (thread.agent_id, thread.conversation_id);
        let shown = self.recompile(agent_id, conversation_id, RecompileOptions::ANEW);
        shown.await.map(drop)
    }

    async fn rewrite(&self, thread: &mut Thread, text: &str) -> Result<(), AgentError> {
        let Some(system) = &thread.system else {
            return Ok(());
        };
        let mut commit = StepCommit::new(thread.agent.id, thread.conversation_id());
        commit.system = Some(SystemContent {
            message_id: system.id,
            content: vec![Part::text(text)],
        });
        self.store().commit_step(&commit).await?;
        Ok(())
    }

    async fn note_recompiled(&self, agent_id: AgentId, at: Timestamp) -> Result<(), AgentError> {
        let edit = move |agent: &mut Agent| {
            agent.recompiled_at = at;
            Ok::<_, AgentError>(())
        };
        let links = Default::default();
        match self.store().update_agent(&agent_id, edit, &links).await {
            Ok(_) | Err(AgentError::Store(StoreError::NotFound { .. })) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Drops the history of an agent's default thread; the system message stays, made anew. With
    /// `add_default_initial_messages` it begins like a new agent of its type. An open request for
    /// approval is given up with it: the run that asked is cancelled.
    ///
    /// # Errors
    ///
    /// For an agent that is not there, and failures of the database.
    #[compiled_here]
    pub async fn reset(
        &self,
        agent_id: AgentId,
        add_default_initial_messages: bool,
    ) -> Result<(), AgentError> {
        let key = ThreadKey::default_of(agent_id);
        let _gate = self.active().enter(key).await;
        let mut thread = Thread::load(self.store(), key).await?;
        let now = Timestamp::now();
        let mut commit = StepCommit::new(agent_id, None);
        if let Some(request) = thread.pending() {
            commit.run = approval::given_up(self.store(), &thread, request).await?;
            commit.last_stop_reason = Some(StopReason::Cancelled);
        }
        thread.context.clear();
        if add_default_initial_messages {
            let first = start::default_messages(&thread.agent, now);
            thread.context.extend(first.iter().cloned());
            commit.messages = first;
        }
        commit.context = Some(thread.context_change());
        commit.forget_others = true;
        commit.at = now;
        // What is forgotten is no longer stored out of view.
        let mut sections = thread.sections(self.store(), now).await?;
        sections.forget_history();
        if let Some(system) = &thread.system {
            commit.system = Some(SystemContent {
                message_id: system.id,
                content: vec![Part::text(sections.text())],
            });
        }
        self.store().commit_step(&commit).await?;
        self.note_recompiled(agent_id, now).await
    }

    /// The open request for approval of an agent's default thread.
    ///
    /// # Errors
    ///
    /// Failures of the database.
    #[compiled_here]
    pub async fn pending_approval(&self, agent: &Agent) -> Result<Option<Message>, AgentError> {
        let Some(last) = agent.message_ids.last() else {
            return Ok(None);
        };
        let message = self.store().message(last).await?;
        Ok(message.filter(Message::is_approval_request))
    }

    /// The open requests of several agents.
    ///
    /// # Errors
    ///
    /// Failures of the database.
    #[compiled_here]
    pub async fn pending_approvals(
        &self,
        agents: &[Agent],
    ) -> Result<HashMap<AgentId, Message>, AgentError> {
        let mut pending = HashMap::new();
        for agent in agents {
            if let Some(message) = self.pending_approval(agent).await? {
                pending.insert(agent.id, message);
            }
        }
        Ok(pending)
    }

    /// Calls a tool of an agent by hand, whether or not it requires approval; what it writes into the
    /// agent's memory is stored. None if the agent has no such tool.
    ///
    /// # Errors
    ///
    /// For an agent that is not there, [`AgentError::Paused`] and [`AgentError::Terminated`], and
    /// failures of the database. That the tool failed is no error here.
    #[compiled_here]
    pub async fn run_tool(
        &self,
        agent_id: AgentId,
        tool_name: &str,
        arguments: Map<String, Value>,
    ) -> Result<Option<Executed>, AgentError> {
        let key = ThreadKey::default_of(agent_id);
        let work = self.by_hand().begin(agent_id, self.root());
        let thread = Thread::load(self.store(), key).await?;
        expect_active(&thread.agent)?;
        let Some(tool) = thread.tools.iter().find(|tool| tool.name == tool_name) else {
            return Ok(None);
        };
        let tool = Arc::clone(tool);
        let cancel = work.cancel.clone();
        let chain: Arc<[AgentId]> = vec![agent_id].into();
        let services = StepServices::new(self, &thread, chain, cancel.clone());
        let executed = self
            .tools()?
            .call(Invocation {
                agent: Arc::clone(&thread.agent),
                conversation_id: None,
                tool,
                arguments,
                tool_call_id: String::new(),
                idempotency_key: uuid::Uuid::new_v4().to_string(),
                run_id: None,
                step_id: None,
                cancel,
                memory: Arc::clone(&services.memory) as _,
                recall: Arc::clone(&services.recall) as _,
                files: Arc::clone(&services.files) as _,
                agents: Arc::clone(&services.agents) as _,
            })
            .await;
        if services.is_changed() {
            self.recompile_after_change(agent_id).await?;
            let shared = services.memory.shared_changes();
            self.recompile_others(key, &shared).await?;
        }
        Ok(Some(executed))
    }
}
