//! What is done with a thread beside runs: its system message is made anew, its history dropped, a
//! tool called by hand.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use bulkhead_domain::{
    Agent, Message, Part, Timestamp,
    id::{AgentId, BlockId, ConversationId},
};
use bulkhead_store::{StepCommit, SystemContent};
use serde_json::{Map, Value};

use crate::{
    AgentError, Engine,
    active::ThreadKey,
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

impl Engine {
    /// Makes the system message of a thread anew from the agent's memory, and gives its text.
    ///
    /// # Errors
    ///
    /// For an agent or conversation that is not there, and failures of the database.
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

    /// Makes the system message of every agent that has this block anew.
    ///
    /// # Errors
    ///
    /// Failures of the database; those agents that came before are done by then.
    pub async fn recompile_for_block(&self, block: &BlockId) -> Result<(), AgentError> {
        let agents = self.store().agent_ids_of_block(block).await?;
        for agent_id in agents {
            self.recompile_after_change(agent_id).await?;
        }
        Ok(())
    }

    /// Makes the system message of the other agents that have one of these blocks anew, because an
    /// agent wrote them.
    ///
    /// # Errors
    ///
    /// Failures of the database; those agents that came before are done by then.
    pub(crate) async fn recompile_others(
        &self,
        writer: AgentId,
        blocks: impl IntoIterator<Item = BlockId>,
    ) -> Result<(), AgentError> {
        let mut agents = BTreeSet::new();
        for block in blocks {
            agents.extend(self.store().agent_ids_of_block(&block).await?);
        }
        agents.remove(&writer);
        for agent_id in agents {
            self.recompile_after_change(agent_id).await?;
        }
        Ok(())
    }

    /// Makes the system message of an agent's default thread anew because its memory was changed by
    /// the API.
    ///
    /// # Errors
    ///
    /// Failures of the database.
    pub async fn recompile_after_change(&self, agent_id: AgentId) -> Result<(), AgentError> {
        let key = ThreadKey {
            agent_id,
            conversation_id: None,
        };
        let mut thread = match Thread::load(self.store(), key).await {
            Ok(thread) => thread,
            // It was deleted meanwhile.
            Err(AgentError::NoAgent(_)) => return Ok(()),
            Err(error) => return Err(error),
        };
        let now = Timestamp::now();
        let text = thread.sections(self.store(), now).await?.text();
        self.rewrite(&mut thread, &text).await?;
        self.note_recompiled(agent_id, now).await
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
            Ok(_) | Err(AgentError::Store(bulkhead_store::StoreError::NotFound { .. })) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Drops the history of an agent's default thread; the system message stays, made anew. With
    /// `add_default_initial_messages` it begins like a new agent of its type.
    ///
    /// # Errors
    ///
    /// For an agent that is not there, and failures of the database.
    pub async fn reset(
        &self,
        agent_id: AgentId,
        add_default_initial_messages: bool,
    ) -> Result<(), AgentError> {
        let key = ThreadKey {
            agent_id,
            conversation_id: None,
        };
        let _gate = self.active().enter(key).await;
        let mut thread = Thread::load(self.store(), key).await?;
        let now = Timestamp::now();
        thread.context.clear();
        let mut commit = StepCommit::new(agent_id, None);
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
    pub async fn run_tool(
        &self,
        agent_id: AgentId,
        tool_name: &str,
        arguments: Map<String, Value>,
    ) -> Result<Option<Executed>, AgentError> {
        let key = ThreadKey {
            agent_id,
            conversation_id: None,
        };
        let thread = Thread::load(self.store(), key).await?;
        expect_active(&thread.agent)?;
        let Some(tool) = thread.tools.iter().find(|tool| tool.name == tool_name) else {
            return Ok(None);
        };
        let tool = Arc::clone(tool);
        let cancel = self.root().child_token();
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
            self.recompile_others(agent_id, services.memory.written())
                .await?;
        }
        Ok(Some(executed))
    }
}
