//! An agent of this server as a document, with the one that was made to look after its memory.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use bulkhead_domain::{
    Agent, Group, Message,
    id::{AgentId, ConversationId, McpServerId, MessageId},
};
use bulkhead_store::{MessageFilter, PAGE_MAX, StoreError, ThreadFilter, ToolRecord};

use super::{
    BYTES_MAX, MESSAGES_MAX,
    document::{
        AgentFile, Hanging, Skill, WrittenAgent, WrittenBlock, WrittenGroup, WrittenMcpServer,
    },
    folders::Folders,
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
    let main = agent(app, id).await?;
    let mut writing = Writing::default();
    let (group, others) = sleeptime(app, &main).await?;
    let group_ids: Vec<_> = group.iter().map(|_| GROUP.to_owned()).collect();
    let mut written = Vec::with_capacity(1 + others.len());
    for (at, agent) in std::iter::once(main).chain(others).enumerate() {
        let local = format!("agent-{at}");
        let mut hanging = hanging(app, &agent, &local, &mut writing).await?;
        hanging.group_ids.clone_from(&group_ids);
        // A conversation is of the agent that was asked for.
        let conversation = wanted.conversation_id.filter(|_| at == 0);
        let context = context(app, agent.id, conversation).await?;
        if !wanted.scrub_messages {
            let history = history(app, &agent, &local, conversation, context, &writing.size);
            let history = history.await?;
            writing.size = history.size;
            hanging.context = history.context;
            hanging.messages = history.messages;
        }
        written.push((agent, local, hanging));
    }
    let members = written.iter().skip(1).map(|(_, local, _)| local.clone());
    let members = members.collect();
    let group = group.and_then(|group| {
        let (_, manager, _) = written.first()?;
        WrittenGroup::new(group, GROUP.to_owned(), manager, members)
    });
    let servers = mcp_servers(app, &writing.tools).await?;
    let skills = wanted.skills;
    // Large histories take long to write: not on a thread that others wait for.
    let written = tokio::task::spawn_blocking(move || {
        let agents = written.into_iter();
        let agents = agents.map(|(agent, local, hanging)| WrittenAgent::new(agent, local, hanging));
        let groups = group.into_iter().collect();
        let tools = writing.tools();
        let blocks = writing.blocks.all;
        let tools = (tools, servers);
        let folders = (writing.folders.sources, writing.folders.files);
        let file = AgentFile::new(agents.collect(), groups, blocks, tools, folders, skills);
        serde_json::to_vec_pretty(&file)
    });
    let written = written.await.map_err(|error| Rejection::host(&error))?;
    let written = written.map_err(|error| Rejection::host(&error))?;
    if written.len() > BYTES_MAX {
        return Err(too_large());
    }
    Ok(written)
}

/// The local id of the one group of a document.
const GROUP: &str = "group-0";

/// What agents of a document share, each thing once, and how much is written by now.
#[derive(Default)]
struct Writing {
    blocks: Shared<WrittenBlock>,
    tools: Shared<Arc<ToolRecord>>,
    folders: Folders,
    size: Size,
}

/// Things of a kind, and their local ids by those of the database.
struct Shared<T> {
    ids: HashMap<String, String>,
    all: Vec<T>,
}

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self {
            ids: HashMap::new(),
            all: Vec::new(),
        }
    }
}

impl<T> Shared<T> {
    /// The local id of a thing, which is taken in where it is new.
    fn local(&mut self, id: String, prefix: &str, thing: impl FnOnce(String) -> T) -> String {
        if let Some(local) = self.ids.get(&id) {
            return local.clone();
        }
        let local = format!("{prefix}-{}", self.all.len());
        self.all.push(thing(local.clone()));
        self.ids.insert(id, local.clone());
        local
    }
}

impl Writing {
    fn tools(&self) -> Vec<FileTool> {
        let tools = self.tools.all.iter().enumerate();
        let written = tools.map(|(at, tool)| FileTool::of(tool, format!("tool-{at}")));
        written.collect()
    }
}

/// The group of an agent and those that were made to look after its memory, and the latter; neither
/// where there is none.
async fn sleeptime(app: &App, main: &Agent) -> Result<(Option<Group>, Vec<Agent>), Refusal> {
    let made = app.store.sleeptime_agents_of(&main.id).await?;
    let groups = app.store.managed_groups(&[main.id]).await;
    let group = groups.map_err(missing::stored)?.remove(&main.id);
    let looks_after = |group: &Group| group.agent_ids.iter().any(|id| made.contains(id));
    let Some(group) = group.filter(looks_after) else {
        return Ok((None, Vec::new()));
    };
    let mut agents = Vec::new();
    for id in group.agent_ids.iter().filter(|id| made.contains(id)) {
        agents.extend(app.store.agent(id).await?);
    }
    Ok((Some(group), agents))
}

/// What hangs on an agent but for its history, under local ids: of its tools those that whoever asks
/// sees. `local`: its own local id.
async fn hanging(
    app: &App,
    agent: &Agent,
    local: &str,
    writing: &mut Writing,
) -> Result<Hanging, Refusal> {
    let id = [agent.id];
    let mut hanging = Hanging::default();
    let blocks = app.store.blocks_of(&id).await;
    for block in blocks.map_err(missing::stored)?.into_values().flatten() {
        let known = block.id.to_string();
        let written = |local| WrittenBlock::new(block, local);
        let local = writing.blocks.local(known, "block", written);
        hanging.block_ids.push(local);
    }
    let tools = app.store.tools_of(&id).await;
    let tools = tools.map_err(missing::stored)?.into_values().flatten();
    for tool in tools.filter(|tool| scope::sees(tool)) {
        let local = writing.tools.local(tool.id.clone(), "tool", |_| tool);
        hanging.tool_ids.push(local);
    }
    let folders = writing.folders.of(app, agent, local).await?;
    hanging.source_ids = folders.source_ids;
    hanging.attachments = folders.attachments;
    let tags = app.store.tags_of(&id).await.map_err(missing::stored)?;
    hanging.tags = tags.into_values().flatten().collect();
    let secrets = app.store.secrets_of(&id).await;
    let secrets = secrets.map_err(missing::stored)?.into_values().flatten();
    hanging.keys = secrets.map(|secret| secret.key).collect();
    Ok(hanging)
}

/// The MCP servers that run some of the tools.
async fn mcp_servers(
    app: &App,
    tools: &Shared<Arc<ToolRecord>>,
) -> Result<Vec<WrittenMcpServer>, Refusal> {
    let of_servers = tools.all.iter().filter_map(|tool| tool.mcp.as_ref());
    let ids: BTreeSet<McpServerId> = of_servers.map(|mcp| mcp.server_id).collect();
    let mut servers = Vec::with_capacity(ids.len());
    for id in ids {
        // One that was deleted meanwhile took its tools with it.
        if let Some(server) = app.store.mcp_server(&id).await? {
            let local = format!("mcp_server-{}", servers.len());
            servers.push(WrittenMcpServer::new(server, local));
        }
    }
    Ok(servers)
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
    agent: &Agent,
    local: &str,
    conversation_id: Option<ConversationId>,
    mut context: Vec<MessageId>,
    before: &Size,
) -> Result<History, Refusal> {
    for _ in 0..TRIES {
        let history = History::of(local, before);
        let history = read(app, agent.id, history, conversation_id, &context).await?;
        let now = self::context(app, agent.id, conversation_id).await?;
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
    mut history: History,
    conversation_id: Option<ConversationId>,
    context: &[MessageId],
) -> Result<Option<History>, Refusal> {
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

/// How much of histories is written.
#[derive(Clone, Copy, Default)]
struct Size {
    messages: usize,
    bytes: usize,
}

/// Messages under local ids.
struct History {
    /// The local id of the agent.
    agent: String,
    ids: HashMap<MessageId, String>,
    /// Those that the model sees.
    context: Vec<String>,
    messages: Vec<FileMessage>,
    /// With that of the agents before.
    size: Size,
}

impl History {
    fn of(agent: &str, before: &Size) -> Self {
        Self {
            agent: agent.to_owned(),
            ids: HashMap::new(),
            context: Vec::new(),
            messages: Vec::new(),
            size: *before,
        }
    }

    fn add(&mut self, message: &Message) -> Result<(), Refusal> {
        let id = format!("message-{}", self.size.messages);
        let file = FileMessage::of(message, id.clone(), &self.agent);
        let bytes = serde_json::to_vec(&file).map_err(|error| Rejection::host(&error))?;
        self.size.bytes = self.size.bytes.saturating_add(bytes.len());
        if self.size.bytes > BYTES_MAX || self.size.messages == MESSAGES_MAX {
            return Err(too_large());
        }
        self.size.messages += 1;
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
