//! What hangs on agents, read for many of them at once.

use std::{collections::HashMap, sync::Arc};

use bulkhead_domain::{
    Agent, AgentFile, AgentSecret, Block, Folder, Group, Identity, Message, id::AgentId,
};
use bulkhead_store::ToolRecord;

use super::relations::Relations;
use crate::{
    app::App,
    contract::Refusal,
    http::{missing, scope, tools::view::ToolView},
};

/// What hangs on agents, as far as the answer carries it.
#[derive(Default)]
pub(super) struct Hanging {
    pub(super) blocks: HashMap<AgentId, Vec<Block>>,
    pub(super) files: HashMap<AgentId, Vec<AgentFile>>,
    pub(super) tools: HashMap<AgentId, Vec<ToolView>>,
    pub(super) tags: HashMap<AgentId, Vec<String>>,
    pub(super) secrets: HashMap<AgentId, Vec<AgentSecret>>,
    pub(super) identities: HashMap<AgentId, Vec<Identity>>,
    pub(super) folders: HashMap<AgentId, Vec<Folder>>,
    pub(super) groups: HashMap<AgentId, Group>,
    pub(super) pending: HashMap<AgentId, Message>,
}

impl Hanging {
    pub(super) async fn load(
        app: &App,
        agents: &[Agent],
        relations: Relations,
    ) -> Result<Self, Refusal> {
        let ids: Vec<AgentId> = agents.iter().map(|agent| agent.id).collect();
        let mut hanging = Self::default();
        if ids.is_empty() {
            return Ok(hanging);
        }
        let store = &app.store;
        if relations.have(Relations::BLOCKS) {
            hanging.blocks = store.blocks_of(&ids).await.map_err(missing::stored)?;
            hanging.files = store.agent_files_of(&ids).await.map_err(missing::stored)?;
        }
        if relations.have(Relations::TOOLS) {
            let tools = store.tools_of(&ids).await.map_err(missing::stored)?;
            let views = |tools: Vec<Arc<ToolRecord>>| {
                tools
                    .iter()
                    .filter(|tool| scope::sees(tool))
                    .map(|tool| ToolView::from((**tool).clone()))
                    .collect()
            };
            let tools = tools
                .into_iter()
                .map(|(agent, tools)| (agent, views(tools)));
            hanging.tools = tools.collect();
        }
        if relations.have(Relations::TAGS) {
            hanging.tags = store.tags_of(&ids).await.map_err(missing::stored)?;
        }
        if relations.have(Relations::SECRETS) {
            hanging.secrets = store.secrets_of(&ids).await.map_err(missing::stored)?;
        }
        if relations.have(Relations::IDENTITIES) {
            hanging.identities = store.identities_of(&ids).await.map_err(missing::stored)?;
        }
        if relations.have(Relations::FOLDERS) {
            hanging.folders = store.folders_of(&ids).await.map_err(missing::stored)?;
        }
        if relations.have(Relations::GROUP) {
            hanging.groups = store.managed_groups(&ids).await.map_err(missing::stored)?;
        }
        if relations.have(Relations::PENDING_APPROVAL) {
            hanging.pending = app.engine.pending_approvals(agents).await?;
        }
        Ok(hanging)
    }
}
