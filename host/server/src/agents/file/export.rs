//! An agent of this server as a document.

use std::collections::{BTreeSet, HashMap};

use bulkhead_domain::{
    Agent, Message,
    id::{AgentId, ConversationId, McpServerId, MessageId},
};
use bulkhead_store::{MessageFilter, PAGE_MAX, StoreError, ThreadFilter};

use super::{
    BYTES_MAX, MESSAGES_MAX,
    document::{AGENT, AgentFile, Hanging, Skill, WrittenAgent, WrittenBlock, WrittenMcpServer},
    folders,
    message::FileMessage,
    tool::FileTool,
};
use crate::{
    app::App,
    contract::Refusal,
    http::{error::Rejection, missing, scope},
};

/// How often a history is read that somebody else changes meanwhile.
const TRIES: usize = 5;

/// What of an agent is written.
#[derive(Default)]
pub(crate) struct Wanted {
    /// The history of this conversation; none for the agent's own.
    pub(crate) conversation_id: Option<ConversationId>,
    /// No history.
    pub(crate) scrub_messages: bool,
    /// What the client adds.
    pub(crate) skills: Vec<Skill>,
}

/// The document as indented JSON, [`BYTES_MAX`] bytes at most.
///
/// 404 where the agent or its conversation is not there; 400 where its history is larger than a file
/// may be; 409 where it changes whenever it is read.
pub(crate) async fn export(app: &App, id: AgentId, wanted: Wanted) -> Result<Vec<u8>, Refusal> {
    let agent = agent(app, id).await?;
    let mut hanging = Hanging::default();
    let blocks = blocks(app, &agent, &mut hanging).await?;
    let tools = tools(app, &agent, &mut hanging).await?;
    let folders = folders::of(app, &agent).await?;
    hanging.source_ids = folders
        .sources
        .iter()
        .map(|source| source.id.clone())
        .collect();
    hanging.attachments = folders.attachments;
    let folders = (folders.sources, folders.files);
    let tags = app.store.tags_of(&[id]).await.map_err(missing::stored)?;
    hanging.tags = tags.into_values().flatten().collect();
    let secrets = app.store.secrets_of(&[id]).await;
    let secrets = secrets.map_err(missing::stored)?.into_values().flatten();
    hanging.keys = secrets.map(|secret| secret.key).collect();
    let context = context(app, id, wanted.conversation_id).await?;
    if !wanted.scrub_messages {
        let history = history(app, id, wanted.conversation_id, context).await?;
        hanging.context = history.context;
        hanging.messages = history.messages;
    }
    let skills = wanted.skills;
    // Large histories take long to write: not on a thread that others wait for.
    let written = tokio::task::spawn_blocking(move || {
        let agent = WrittenAgent::new(agent, hanging);
        serde_json::to_vec_pretty(&AgentFile::new(agent, blocks, tools, folders, skills))
    });
    let written = written.await.map_err(|error| Rejection::host(&error))?;
    let written = written.map_err(|error| Rejection::host(&error))?;
    if written.len() > BYTES_MAX {
        return Err(too_large());
    }
    Ok(written)
}

async fn blocks(
    app: &App,
    agent: &Agent,
    hanging: &mut Hanging,
) -> Result<Vec<WrittenBlock>, Refusal> {
    let blocks = app.store.blocks_of(&[agent.id]).await;
    let blocks = blocks.map_err(missing::stored)?.into_values().flatten();
    let written = blocks.enumerate().map(|(at, block)| {
        let id = format!("block-{at}");
        hanging.block_ids.push(id.clone());
        WrittenBlock::new(block, id)
    });
    Ok(written.collect())
}

/// The agent's tools that whoever asks sees, and the MCP servers that run some of them.
async fn tools(
    app: &App,
    agent: &Agent,
    hanging: &mut Hanging,
) -> Result<(Vec<FileTool>, Vec<WrittenMcpServer>), Refusal> {
    let tools = app.store.tools_of(&[agent.id]).await;
    let tools: Vec<_> = tools
        .map_err(missing::stored)?
        .into_values()
        .flatten()
        .filter(|tool| scope::sees(tool))
        .collect();
    let of_servers = tools.iter().filter_map(|tool| tool.mcp.as_ref());
    let ids: BTreeSet<McpServerId> = of_servers.map(|mcp| mcp.server_id).collect();
    let mut servers = Vec::with_capacity(ids.len());
    for id in ids {
        // One that was deleted meanwhile took its tools with it.
        if let Some(server) = app.store.mcp_server(&id).await? {
            let local = format!("mcp_server-{}", servers.len());
            servers.push(WrittenMcpServer::new(server, local));
        }
    }
    let written = tools.into_iter().enumerate().map(|(at, tool)| {
        let id = format!("tool-{at}");
        hanging.tool_ids.push(id.clone());
        FileTool::of(&tool, id)
    });
    Ok((written.collect(), servers))
}

async fn agent(app: &App, id: AgentId) -> Result<Agent, Refusal> {
    let agent = app.store.agent(&id).await?;
    agent.ok_or_else(|| missing::agent(id))
}

/// What the thread's model sees.
async fn context(
    app: &App,
    agent_id: AgentId,
    conversation_id: Option<ConversationId>,
) -> Result<Vec<MessageId>, Refusal> {
    let Some(id) = conversation_id else {
        return Ok(agent(app, agent_id).await?.message_ids);
    };
    let conversation = app.store.conversation(&id).await?;
    let conversation = conversation.filter(|conversation| conversation.agent_id == agent_id);
    let conversation = conversation.ok_or_else(|| missing::object("Conversation", id))?;
    Ok(conversation.in_context_message_ids)
}

/// The messages of a thread whose context nobody changed while they were read.
async fn history(
    app: &App,
    agent_id: AgentId,
    conversation_id: Option<ConversationId>,
    mut context: Vec<MessageId>,
) -> Result<History, Refusal> {
    for _ in 0..TRIES {
        let history = read(app, agent_id, conversation_id, &context).await?;
        let now = self::context(app, agent_id, conversation_id).await?;
        match history {
            Some(history) if now == context => return Ok(history),
            _ => context = now,
        }
    }
    Err(Refusal::conflict(
        "CONFLICT: the agent works all the time, and its history changed while it was read; export \
         it again, or with scrub_messages=true",
    ))
}

/// The messages of a thread, the oldest first, before them those of other threads that its model
/// sees, where it went on from one. None where one that the model saw is gone.
async fn read(
    app: &App,
    agent_id: AgentId,
    conversation_id: Option<ConversationId>,
    context: &[MessageId],
) -> Result<Option<History>, Refusal> {
    let mut history = History::default();
    let others = match app.store.messages_by_ids(&agent_id, context).await {
        Ok(messages) => messages,
        Err(StoreError::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(missing::stored(error)),
    };
    for message in others {
        if message.conversation_id != conversation_id {
            history.add(&message)?;
        }
    }
    let mut filter = MessageFilter {
        agent_id: Some(agent_id),
        thread: ThreadFilter::of(conversation_id),
        limit: Some(PAGE_MAX),
        ..MessageFilter::default()
    };
    loop {
        let page = match app.store.messages(&filter).await {
            Ok(page) => page,
            // The last one of the page before.
            Err(StoreError::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(missing::stored(error)),
        };
        let Some(last) = page.last() else { break };
        filter.after = Some(last.id);
        for message in &page {
            history.add(message)?;
        }
    }
    let local = context.iter().map(|id| history.ids.get(id).cloned());
    let Some(local) = local.collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    history.context = local;
    Ok(Some(history))
}

/// Messages under local ids.
#[derive(Default)]
struct History {
    ids: HashMap<MessageId, String>,
    /// Those that the model sees.
    context: Vec<String>,
    messages: Vec<FileMessage>,
    bytes: usize,
}

impl History {
    fn add(&mut self, message: &Message) -> Result<(), Refusal> {
        let id = format!("message-{}", self.messages.len());
        let file = FileMessage::of(message, id.clone(), AGENT);
        let bytes = serde_json::to_vec(&file).map_err(|error| Rejection::host(&error))?;
        self.bytes = self.bytes.saturating_add(bytes.len());
        if self.bytes > BYTES_MAX || self.messages.len() == MESSAGES_MAX {
            return Err(too_large());
        }
        self.ids.insert(message.id, id);
        self.messages.push(file);
        Ok(())
    }
}

fn too_large() -> Refusal {
    Refusal::bad_request(format!(
        "INVALID_ARGUMENT: the history is larger than an agent file may be ({BYTES_MAX} bytes, \
         {MESSAGES_MAX} messages); export the agent with scrub_messages=true, or one of its \
         conversations"
    ))
}
