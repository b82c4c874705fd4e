//! A thread of messages as a run works on it: the agent, its memory, and what its model sees.

use std::{collections::HashMap, sync::Arc};

use bulkhead_domain::{
    Agent, Block, Conversation, LlmConfig, Message, Role, Timestamp,
    id::{AgentId, ConversationId, MessageId},
};
use bulkhead_store::{
    ContextChange, EquippedAgent, MessageFilter, PassageFilter, Store, ThreadFilter, ToolRecord,
};

use crate::{
    AgentError,
    active::ThreadKey,
    model,
    ports::Models,
    prompt::{Parts, Sections},
};

/// A thread of an agent.
pub(crate) struct Thread {
    pub(crate) agent: Arc<Agent>,
    pub(crate) conversation: Option<Conversation>,
    pub(crate) blocks: Vec<Block>,
    /// The agent's tools.
    pub(crate) tools: Vec<Arc<ToolRecord>>,
    /// The system message, where the thread has one.
    pub(crate) system: Option<Message>,
    /// The messages in the context after it.
    pub(crate) context: Vec<Message>,
    /// What the database has as the context.
    stored_ids: Vec<MessageId>,
}

impl Thread {
    /// Loads a thread.
    pub(crate) async fn load(store: &Store, key: ThreadKey) -> Result<Self, AgentError> {
        Self::load_with(store, key, Vec::new()).await
    }

    /// Loads a thread of which these messages are known; the database says which of them are still
    /// in the context.
    pub(crate) async fn load_with(
        store: &Store,
        key: ThreadKey,
        known: Vec<Message>,
    ) -> Result<Self, AgentError> {
        let equipped = store.equipped_agent(&key.agent_id).await?;
        let EquippedAgent {
            mut agent,
            mut blocks,
            tools,
        } = equipped.ok_or(AgentError::NoAgent(key.agent_id))?;
        let conversation = match &key.conversation_id {
            None => None,
            Some(id) => Some(conversation(store, key.agent_id, id).await?),
        };
        let stored_ids = match &conversation {
            None => std::mem::take(&mut agent.message_ids),
            Some(conversation) => {
                isolate(store, conversation, &mut blocks).await?;
                conversation.in_context_message_ids.clone()
            }
        };
        let mut messages = messages(store, &agent.id, &stored_ids, known).await?;
        let has_system = messages
            .first()
            .is_some_and(|first| first.role == Role::System);
        let system = has_system.then(|| messages.remove(0));
        Ok(Self {
            agent: Arc::new(agent),
            conversation,
            blocks,
            tools,
            system,
            context: messages,
            stored_ids,
        })
    }

    pub(crate) fn conversation_id(&self) -> Option<ConversationId> {
        self.conversation
            .as_ref()
            .map(|conversation| conversation.id)
    }

    /// The request for approval that nobody has answered yet.
    pub(crate) fn pending(&self) -> Option<&Message> {
        self.context
            .last()
            .filter(|message| message.is_approval_request())
    }

    /// The thread's model.
    pub(crate) async fn model(&self, models: &dyn Models) -> Result<LlmConfig, AgentError> {
        model::of_thread(models, &self.agent, self.conversation.as_ref()).await
    }

    /// The ids of what the model sees now.
    pub(crate) fn ids(&self) -> Vec<MessageId> {
        let all = self.system.iter().chain(&self.context);
        all.map(|message| message.id).collect()
    }

    /// The change from what the database has to what the model sees now.
    pub(crate) fn context_change(&self) -> ContextChange {
        ContextChange {
            expected: self.stored_ids.clone(),
            next: self.ids(),
        }
    }

    /// Notes that the database has what the model sees now.
    pub(crate) fn stored(&mut self) {
        self.stored_ids = self.ids();
    }

    /// The system prompt as the memory is now.
    pub(crate) async fn sections(
        &self,
        store: &Store,
        at: Timestamp,
    ) -> Result<Sections, AgentError> {
        let agent = &*self.agent;
        let filter = MessageFilter {
            agent_id: Some(agent.id),
            thread: ThreadFilter::of(self.conversation_id()),
            ..MessageFilter::default()
        };
        let all = store.count_messages(&filter).await?;
        let seen = self.context.len() + usize::from(self.system.is_some());
        let (passages, tags) = archive(store, &agent.id).await?;
        let (directories, files_open) = store.directories(&agent.id).await?;
        Ok(Sections::of(&Parts {
            directories: &directories,
            files_open,
            agent,
            blocks: &self.blocks,
            conversation: self.conversation_id(),
            hidden_messages: all.saturating_sub(seen as u64),
            passages,
            passage_tags: &tags,
            at,
        }))
    }

    /// Reads the memory blocks again.
    pub(crate) async fn reload_blocks(&mut self, store: &Store) -> Result<(), AgentError> {
        self.blocks = blocks(store, &self.agent.id).await?;
        if let Some(conversation) = &self.conversation {
            isolate(store, conversation, &mut self.blocks).await?;
        }
        Ok(())
    }
}

/// Messages in this order, of which some are known.
async fn messages(
    store: &Store,
    agent: &AgentId,
    ids: &[MessageId],
    known: Vec<Message>,
) -> Result<Vec<Message>, AgentError> {
    if known.is_empty() {
        return Ok(store.messages_by_ids(agent, ids).await?);
    }
    let mut known: HashMap<_, _> = known
        .into_iter()
        .map(|message| (message.id, message))
        .collect();
    let unknown = ids.iter().copied().filter(|id| !known.contains_key(id));
    let unknown: Vec<_> = unknown.collect();
    let read = store.messages_by_ids(agent, &unknown).await?;
    known.extend(read.into_iter().map(|message| (message.id, message)));
    Ok(ids.iter().filter_map(|id| known.remove(id)).collect())
}

async fn blocks(store: &Store, agent: &AgentId) -> Result<Vec<Block>, AgentError> {
    let mut blocks = store.blocks_of(&[*agent]).await?;
    Ok(blocks.remove(agent).unwrap_or_default())
}

/// How many passages the agent's archive has, and their tags.
pub(crate) async fn archive(
    store: &Store,
    agent: &AgentId,
) -> Result<(u64, Vec<String>), AgentError> {
    let Some(archive) = store.archive_of_agent(agent).await? else {
        return Ok((0, Vec::new()));
    };
    let filter = PassageFilter {
        archive_id: Some(archive.id),
        ..PassageFilter::default()
    };
    let passages = store.count_passages(&filter).await?;
    let tags = match passages {
        0 => Vec::new(),
        _ => store.passage_tags(&archive.id).await?,
    };
    Ok((passages, tags))
}

/// A conversation of an agent.
pub(crate) async fn conversation(
    store: &Store,
    agent: AgentId,
    id: &ConversationId,
) -> Result<Conversation, AgentError> {
    let found = store.conversation(id).await?;
    found
        .filter(|conversation| conversation.agent_id == agent)
        .ok_or(AgentError::NoConversation(*id))
}

/// Puts a conversation's own blocks in the place of the agent's.
async fn isolate(
    store: &Store,
    conversation: &Conversation,
    blocks: &mut [Block],
) -> Result<(), AgentError> {
    for id in &conversation.isolated_block_ids {
        let Some(own) = store.block(id).await? else {
            continue;
        };
        if let Some(shared) = blocks.iter_mut().find(|block| block.label == own.label) {
            *shared = own;
        }
    }
    Ok(())
}
