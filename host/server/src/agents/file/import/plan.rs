//! All that an import writes, made before anything is written.

use std::collections::{HashMap, HashSet};

use bulkhead_agent::Incoming;
use bulkhead_domain::{
    Agent, AgentType, Block, Group, Manager, ManagerType, ToolRule,
    id::{AgentId, BlockId, FolderId, IdentityId},
};
use bulkhead_store::{
    ToolRecord,
    agent::{self, limits::BLOCKS_MAX},
    block,
    check::NAME_MAX,
};
use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use super::{
    super::{
        BYTES_MAX, PIECE_BYTES_MAX,
        agent::{FileAgent, FileBlock, Names},
        read::{self, Document},
    },
    folders::{self, View},
    history::{History, refused},
    options::Options,
    tools::{self, Planned},
};
use crate::{
    agents::{body::CreateAgent, create, name},
    app::App,
    contract::Refusal,
    http::{error::Rejection, groups, scope},
};

/// What is added to a name of a file.
const COPY: &str = "_copy";

/// All that an import writes.
pub(super) struct Plan {
    pub(super) tools: Vec<Planned>,
    pub(super) blocks: Vec<Block>,
    pub(super) folders: folders::Planned,
    pub(super) agents: Vec<PlannedAgent>,
    pub(super) groups: Vec<PlannedGroup>,
}

/// A group to make.
pub(super) struct PlannedGroup {
    pub(super) group: Group,
    /// Those of its agents that look after the memory of the one that leads it, and go with it.
    pub(super) owned: Vec<AgentId>,
}

/// An agent to make.
pub(super) struct PlannedAgent {
    /// Without its rules: some come with its tools.
    pub(super) agent: Agent,
    pub(super) block_ids: Vec<BlockId>,
    pub(super) tools: Vec<Wanted>,
    /// The rules of the file, and whether those of base tools come too.
    pub(super) rules: (Vec<ToolRule>, Option<bool>),
    pub(super) tags: Vec<String>,
    pub(super) secrets: Vec<(String, String)>,
    pub(super) identity_ids: Vec<IdentityId>,
    pub(super) folder_ids: Vec<FolderId>,
    /// The files that it sees.
    pub(super) views: Vec<View>,
    pub(super) history: History,
}

/// A tool of an agent.
pub(super) enum Wanted {
    /// The one at this place of the plan.
    OfFile(usize),
    /// One that is there.
    There(Box<ToolRecord>),
}

/// Plans an import of a document whose references are whole.
pub(super) async fn plan(
    app: &App,
    document: Document,
    options: &Options,
) -> Result<Plan, Refusal> {
    let Document {
        agents,
        blocks,
        tools,
        sources,
        files,
        groups,
        ..
    } = document;
    let tool_ids: Vec<String> = tools.iter().map(|tool| tool.id.clone()).collect();
    let tools = tools::plan(app, tools, options.override_existing_tools).await?;
    let folders = folders::plan(app, sources, files, options).await?;
    let mut planning = Planning {
        folders,
        app,
        options,
        tools: of_ids(tool_ids),
        names: of_ids(tools.iter().map(|tool| tool.name().to_owned())),
        blocks: HashMap::new(),
        all_blocks: Vec::new(),
        prompt_bytes: 0,
    };
    for FileBlock { id, block } in blocks {
        let at = planning.block(&id, block.into())?;
        planning.blocks.insert(id, at);
    }
    let mut planned = Vec::with_capacity(agents.len());
    let mut by_id = HashMap::new();
    for agent in agents {
        let local = agent.names.id.clone();
        let agent = planning.agent(agent).await?;
        by_id.insert(local, (agent.agent.id, agent.agent.agent_type));
        planned.push(agent);
    }
    let groups = groups.into_iter();
    let groups = groups.map(|group| planning.group(group, &by_id));
    Ok(Plan {
        groups: groups.collect::<Result<_, _>>()?,
        blocks: planning.all_blocks,
        folders: planning.folders,
        agents: planned,
        tools,
    })
}

/// The place of each id.
fn of_ids(ids: impl IntoIterator<Item = String>) -> HashMap<String, usize> {
    let places = ids.into_iter().enumerate();
    places.map(|(at, id)| (id, at)).collect()
}

struct Planning<'a> {
    app: &'a App,
    folders: folders::Planned,
    options: &'a Options,
    /// Places of the planned tools, by their local ids.
    tools: HashMap<String, usize>,
    /// And by their names.
    names: HashMap<String, usize>,
    /// Places of the blocks, by their local ids.
    blocks: HashMap<String, usize>,
    /// Those of the file, and those that its agents bring.
    all_blocks: Vec<Block>,
    /// Bytes of the system messages until now. They may have the same blocks, so that a small file
    /// could want a lot of memory.
    prompt_bytes: usize,
}

impl Planning<'_> {
    async fn agent(&mut self, file: FileAgent) -> Result<PlannedAgent, Refusal> {
        let FileAgent {
            mut names,
            mut body,
            messages,
            attachments,
        } = file;
        let name = self.name(body.name.take());
        if name.len() > NAME_MAX {
            let reason = format_args!("its name has more than {NAME_MAX} bytes");
            return Err(refused(&names.id, reason));
        }
        body.name = Some(name);
        create::check(&body)?;
        let agent_type = body.agent_type.unwrap_or_default();
        let choice = std::mem::take(&mut body.models);
        let response_format = choice.response_format().cloned();
        let Options {
            model, embedding, ..
        } = self.options;
        let models = choice.resolve_elsewhere(self.app, model.clone(), embedding.clone());
        let (llm, embedding) = models.await?;
        let blocks = self.blocks(&names, &mut body)?;
        let tools = self.wanted(&names, agent_type, &mut body).await?;
        let rules = body.tool_rules.take().unwrap_or_default();
        let rules = (rules, body.include_base_tool_rules);
        let tags = body.tags.take().unwrap_or_default();
        let secrets = self.secrets(&mut body);
        let sequence = body.initial_message_sequence.take();
        if self.options.project_id.is_some() {
            body.project_id.clone_from(&self.options.project_id);
        }
        let mut agent = create::agent(body, agent_type, llm, embedding, Vec::new());
        agent.response_format = response_format;
        agent::expect_storable(&agent).map_err(|error| refused(&names.id, error))?;
        let own = self.own(&names, &agent, &blocks)?;
        let block_ids = own.iter().map(|block| block.id).collect();
        let begins = messages.is_empty() || self.options.strip_messages;
        let context = std::mem::take(&mut names.in_context_message_ids);
        // Large histories take long to read: not on a thread that others wait for.
        let read = tokio::task::spawn_blocking(move || {
            let history = if begins {
                let sequence = sequence.into_iter().flatten().map(Incoming::from);
                History::begun(&agent, &own, sequence.collect())?
            } else {
                History::read(&agent, &own, messages, &context)?
            };
            agent.message_ids.clone_from(&history.context);
            Ok::<_, Refusal>((agent, history))
        });
        let (agent, history) = read.await.map_err(|error| Rejection::host(&error))??;
        self.prompt_bytes = self.prompt_bytes.saturating_add(history.prompt_bytes());
        if self.prompt_bytes > BYTES_MAX {
            let reason = format_args!(
                "the system prompts of the agents until this one have more than {BYTES_MAX} bytes"
            );
            return Err(refused(&names.id, reason));
        }
        Ok(PlannedAgent {
            agent,
            block_ids,
            tools,
            rules,
            tags,
            secrets,
            identity_ids: self.identities(&names).await?,
            folder_ids: self.folders.of(names.sources()),
            views: self.folders.views(&attachments),
            history,
        })
    }

    /// A group under ids of this server. What it names is there.
    fn group(
        &self,
        file: read::Group,
        agents: &HashMap<String, (AgentId, AgentType)>,
    ) -> Result<PlannedGroup, Refusal> {
        let lead = file.manager().and_then(|id| agents.get(id));
        let lead = lead.map(|(id, _)| *id);
        let mut manager = file
            .manager_config
            .unwrap_or(json!({ "manager_type": "round_robin" }));
        if let Some(lead) = lead {
            manager["manager_agent_id"] = json!(lead);
        }
        let manager = Manager::deserialize(manager).map_err(|error| refused(&file.id, error))?;
        groups::save::check(&manager)?;
        let members = file.agent_ids.iter().filter_map(|id| agents.get(id));
        let looks_after = |agent_type| {
            let pair = (manager.manager_type(), agent_type);
            matches!(
                pair,
                (ManagerType::Sleeptime, AgentType::SleeptimeAgent)
                    | (ManagerType::VoiceSleeptime, AgentType::VoiceSleeptimeAgent)
            )
        };
        let owned = members
            .clone()
            .filter(|(id, agent_type)| Some(*id) != lead && looks_after(*agent_type));
        let owned = owned.map(|(id, _)| *id).collect();
        let blocks = file.shared_block_ids.iter();
        let blocks = blocks.filter_map(|id| self.blocks.get(id));
        Ok(PlannedGroup {
            owned,
            group: Group {
                agent_ids: members.map(|(id, _)| *id).collect(),
                shared_block_ids: blocks.map(|at| self.all_blocks[*at].id).collect(),
                project_id: self.options.project_id.clone(),
                hidden: file.hidden,
                created_by_id: Some(scope::actor()),
                ..Group::new(file.description, manager)
            },
        })
    }

    fn name(&self, of_file: Option<String>) -> String {
        if let Some(name) = &self.options.name {
            return name.clone();
        }
        let mut name = of_file.unwrap_or_else(name::random);
        if self.options.append_copy_suffix {
            name.push_str(COPY);
        }
        name
    }

    /// Takes a block into the plan, and gives its place; `id` is what the file calls it.
    fn block(&mut self, id: &str, block: Block) -> Result<usize, Refusal> {
        block::expect_storable(&block).map_err(|error| refused(id, error))?;
        self.all_blocks.push(block);
        Ok(self.all_blocks.len() - 1)
    }

    /// The blocks at these places, all of which stand in the agent's system message.
    fn own(&self, names: &Names, agent: &Agent, places: &[usize]) -> Result<Vec<Block>, Refusal> {
        let blocks = places.iter().map(|at| &self.all_blocks[*at]);
        let values = blocks.clone().map(|block| block.value.len());
        let bytes = agent.system.len() + values.sum::<usize>();
        if bytes > PIECE_BYTES_MAX {
            let reason = format_args!(
                "its system prompt has {bytes} bytes with its blocks, more than the \
                 {PIECE_BYTES_MAX} of a message"
            );
            return Err(refused(&names.id, reason));
        }
        Ok(blocks.cloned().collect())
    }

    /// Places of the agent's blocks: those that it names, and those that it brings.
    fn blocks(&mut self, names: &Names, body: &mut CreateAgent) -> Result<Vec<usize>, Refusal> {
        let named = names.blocks().iter();
        let mut places: Vec<usize> = named
            .filter_map(|id| self.blocks.get(id).copied())
            .collect();
        let mut seen = HashSet::new();
        places.retain(|at| seen.insert(*at));
        for block in body.memory_blocks.take().into_iter().flatten() {
            places.push(self.block(&names.id, block.into())?);
        }
        if places.len() > BLOCKS_MAX {
            let reason = format_args!("it has more than {BLOCKS_MAX} blocks");
            return Err(refused(&names.id, reason));
        }
        let mut labels = HashSet::new();
        for at in &places {
            let label = &self.all_blocks[*at].label;
            if !labels.insert(label) {
                return Err(Refusal::bad_request(format!(
                    "Invalid agent file: {} has two blocks labelled '{label}'",
                    names.id
                )));
            }
        }
        Ok(places)
    }

    /// The agent's tools: those that it names by id, by name, and those that its type begins with.
    async fn wanted(
        &self,
        names: &Names,
        agent_type: AgentType,
        body: &mut CreateAgent,
    ) -> Result<Vec<Wanted>, Refusal> {
        let ids = names.tools().iter();
        let mut places: Vec<usize> = ids.filter_map(|id| self.tools.get(id).copied()).collect();
        let mut elsewhere = create::wanted_tools(agent_type, body);
        let mut of_file = |name: &str| match self.names.get(name) {
            Some(at) => {
                places.push(*at);
                true
            }
            None => false,
        };
        elsewhere.names.retain(|name| !of_file(name));
        elsewhere.base.retain(|name| !of_file(name));
        let there = elsewhere.resolve(self.app).await?;
        let mut seen = HashSet::new();
        places.retain(|at| seen.insert(*at));
        let of_file = places.into_iter().map(Wanted::OfFile);
        let there = there.into_iter().map(|tool| Wanted::There(Box::new(tool)));
        Ok(of_file.chain(there).collect())
    }

    /// The secrets that the file names, with the client's values where it gave some.
    fn secrets(&self, body: &mut CreateAgent) -> Vec<(String, String)> {
        let older = body.tool_exec_environment_variables.take();
        let mut named: Map<String, Value> = older.unwrap_or_default();
        for (key, value) in body.secrets.take().into_iter().flatten() {
            // One that says nothing takes no value away.
            if value != "" || !named.contains_key(&key) {
                named.insert(key, value);
            }
        }
        let given = &self.options.secrets;
        let secrets = named.into_iter().map(|(key, value)| {
            let of_file = || value.as_str().unwrap_or_default().to_owned();
            let value = given.get(&key).cloned().unwrap_or_else(of_file);
            (key, value)
        });
        secrets.collect()
    }

    /// Identities are not part of a file; one that was written by hand may name those of this server.
    async fn identities(&self, names: &Names) -> Result<Vec<IdentityId>, Refusal> {
        let mut identities = Vec::new();
        for id in names.identities() {
            let known = match id.parse::<IdentityId>() {
                Ok(id) => self.app.store.identity(&id).await?.map(|_| id),
                Err(_) => None,
            };
            identities.push(known.ok_or_else(|| {
                Refusal::bad_request(format!(
                    "Invalid agent file: {} belongs to the identity {id}, which this server does \
                     not have",
                    names.id
                ))
            })?);
        }
        Ok(identities)
    }
}
