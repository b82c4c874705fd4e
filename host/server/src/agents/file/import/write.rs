//! What was planned is written; where that fails, what is written by then is taken back.

use std::collections::HashMap;

use bulkhead_domain::id::{AgentId, BlockId, FileId, FolderId, GroupId};
use bulkhead_store::{DuplicateFile, NewAgent, StepCommit, StoreError, ToolRecord};
use tokio::time::Instant;

use super::{
    folders::{Planned as PlannedFolders, View},
    late,
    plan::{Plan, PlannedAgent, PlannedGroup, Wanted},
    tools::{self, Planned},
};
use crate::{
    agents::toolset,
    app::App,
    contract::Refusal,
    http::{agents::folders, missing, tools::save},
};

/// Blocks that the store takes at once.
const BLOCKS_AT_ONCE: usize = bulkhead_store::block::BLOCKS_AT_ONCE_MAX;

/// Writes a plan until `deadline`, and gives the agents in their order.
pub(super) async fn write(
    app: &App,
    plan: Plan,
    deadline: Instant,
) -> Result<Vec<AgentId>, Refusal> {
    let mut writer = Writer {
        app,
        deadline,
        undo: Vec::new(),
    };
    let written = writer.all(plan).await;
    if written.is_err() {
        writer.take_back().await;
    }
    written
}

/// Something that was written, and how it was before.
enum Written {
    Tool {
        saved: Box<ToolRecord>,
        /// None where the tool is new.
        former: Option<Box<ToolRecord>>,
    },
    Block(BlockId),
    Folder(FolderId),
    Agent(AgentId),
    Group(GroupId),
}

struct Writer<'a> {
    app: &'a App,
    /// Seen between writes, each of which ends by itself.
    deadline: Instant,
    undo: Vec<Written>,
}

impl Writer<'_> {
    async fn all(&mut self, plan: Plan) -> Result<Vec<AgentId>, Refusal> {
        let mut tools = Vec::with_capacity(plan.tools.len());
        for tool in plan.tools {
            self.expect_time()?;
            tools.push(self.tool(tool).await?);
        }
        for blocks in plan.blocks.chunks(BLOCKS_AT_ONCE) {
            self.expect_time()?;
            let stored = self.app.store.create_blocks(blocks).await;
            stored.map_err(missing::stored)?;
            self.undo
                .extend(blocks.iter().map(|block| Written::Block(block.id)));
        }
        let files = self.folders(plan.folders).await?;
        let mut agents = Vec::with_capacity(plan.agents.len());
        for agent in plan.agents {
            self.expect_time()?;
            agents.push(self.agent(agent, &tools, &files).await?);
        }
        for PlannedGroup { group, owned } in plan.groups {
            self.expect_time()?;
            let stored = self.app.store.create_owning_group(&group, &owned).await;
            stored.map_err(missing::stored)?;
            self.undo.push(Written::Group(group.id));
        }
        Ok(agents)
    }

    fn expect_time(&self) -> Result<(), Refusal> {
        match Instant::now() < self.deadline {
            true => Ok(()),
            false => Err(late()),
        }
    }

    async fn tool(&mut self, tool: Planned) -> Result<ToolRecord, Refusal> {
        let new = match tool {
            Planned::There(tool) => return Ok(*tool),
            Planned::Save(new) => *new,
        };
        // Somebody may have saved or granted something since it was planned: what is taken back one
        // day is what is there now.
        let there = self.app.store.tool_by_name(&new.name).await?;
        if let Some(there) = &there {
            tools::expect_ungranted(self.app, there, &new).await?;
        }
        let saved = save::store(self.app, new).await?;
        let former = there.filter(|_| !saved.is_new).map(Box::new);
        // What somebody else saved in this very moment is known to nobody here and can't be put back.
        if saved.is_new || former.is_some() {
            self.undo.push(Written::Tool {
                saved: Box::new(saved.record.clone()),
                former,
            });
        }
        Ok(saved.record)
    }

    async fn agent(
        &mut self,
        planned: PlannedAgent,
        tools: &[ToolRecord],
        files: &HashMap<usize, FileId>,
    ) -> Result<AgentId, Refusal> {
        let PlannedAgent {
            mut agent,
            block_ids,
            tools: wanted,
            rules: (rules, with_base),
            tags,
            secrets,
            identity_ids,
            folder_ids,
            views,
            history,
        } = planned;
        let wanted = wanted.into_iter().filter_map(|wanted| match wanted {
            Wanted::OfFile(at) => tools.get(at).cloned(),
            Wanted::There(tool) => Some(*tool),
        });
        let wanted: Vec<_> = wanted.collect();
        agent.tool_rules = toolset::rules(agent.agent_type, &wanted, rules, with_base);
        let id = agent.id;
        let file_tool_ids = match folder_ids.is_empty() {
            true => Vec::new(),
            false => folders::file_tools(self.app).await?,
        };
        let has_folders = !folder_ids.is_empty();
        let new = NewAgent {
            block_ids,
            tool_ids: wanted.into_iter().map(|tool| tool.id).collect(),
            tags,
            secrets,
            identity_ids,
            folder_ids,
            file_tool_ids,
            messages: history.messages,
            ..NewAgent::new(agent)
        };
        let store = &self.app.store;
        store.create_agent(&new).await.map_err(missing::stored)?;
        self.undo.push(Written::Agent(id));
        if let Some(step) = history.waiting {
            let mut commit = StepCommit::new(id, None);
            commit.step = Some(step);
            store.commit_step(&commit).await.map_err(missing::stored)?;
        }
        if has_folders {
            self.show(&id, views, files).await?;
        }
        // The file's system message names the agent that it was written from.
        self.app.engine.recompile_after_change(id).await?;
        Ok(id)
    }

    /// Makes the folders with their files; gives the ids of these by their places.
    async fn folders(
        &mut self,
        planned: PlannedFolders,
    ) -> Result<HashMap<usize, FileId>, Refusal> {
        let store = &self.app.store;
        for mut folder in planned.folders {
            self.expect_time()?;
            let created = match store.create_folder(&folder).await {
                Err(StoreError::NameTaken { .. }) => {
                    let number = &uuid::Uuid::new_v4().simple().to_string()[..8];
                    folder.name = format!("{}_{number}", folder.name);
                    store.create_folder(&folder).await
                }
                created => created,
            };
            created.map_err(missing::stored)?;
            self.undo.push(Written::Folder(folder.id));
        }
        let mut files = HashMap::new();
        for (place, file) in planned.files {
            self.expect_time()?;
            let added = store.add_file(file, DuplicateFile::Suffix).await;
            files.insert(place, added.map_err(missing::stored)?.file.id);
        }
        self.app.file_work.notify_one();
        Ok(files)
    }

    /// Lets an agent see what it saw of its files.
    async fn show(
        &self,
        agent: &AgentId,
        views: Vec<View>,
        files: &HashMap<usize, FileId>,
    ) -> Result<(), Refusal> {
        let store = &self.app.store;
        let closed = store.close_files_but(agent, &[]).await;
        closed.map_err(missing::stored)?;
        for View { file, lines } in views {
            let Some(file) = files.get(&file) else {
                continue;
            };
            match store.open_file(agent, file, lines).await {
                // The file has other lines, or no text at all.
                Ok(_) | Err(StoreError::Invalid { .. } | StoreError::NotFound { .. }) => {}
                Err(error) => return Err(missing::stored(error)),
            }
        }
        Ok(())
    }

    /// Takes back what was written, the last first. What can't be taken back is told in the log: the
    /// client learns why the import failed.
    async fn take_back(self) {
        for written in self.undo.into_iter().rev() {
            let taken_back = match written {
                Written::Agent(id) => self.app.store.delete_agent(&id).await.map(drop),
                Written::Folder(id) => self.app.store.delete_folder(&id).await.map(drop),
                Written::Group(id) => self.app.store.delete_group(&id).await.map(drop),
                Written::Block(id) => self.app.store.delete_block(&id).await.map(drop),
                Written::Tool { saved, former } => take_back_tool(self.app, &saved, former).await,
            };
            if let Err(error) = taken_back {
                tracing::error!(%error, "a part of an import that failed could not be taken back");
            }
        }
    }
}

/// Takes a tool back unless somebody has changed it since: what a person saved stays.
async fn take_back_tool(
    app: &App,
    saved: &ToolRecord,
    former: Option<Box<ToolRecord>>,
) -> Result<(), StoreError> {
    let (is_new, name) = (former.is_none(), saved.name.as_str());
    let former = former.map(|former| *former);
    let is_taken_back = app.store.take_back_tool(saved, former).await?;
    if !is_taken_back {
        tracing::warn!(
            name,
            "a tool of an import that failed was changed and stays"
        );
    } else if is_new && let Err(rejection) = app.registry.forget_source(name).await {
        let error = rejection.message();
        tracing::error!(
            error,
            name,
            "grants of a tool that is gone were not deleted"
        );
    }
    Ok(())
}
