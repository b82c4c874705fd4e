//! An agent in an answer.

use bulkhead_domain::{
    Agent, AgentFile, CompactionSettings, EmbeddingConfig, LlmConfig, StopReason, Timestamp,
    ToolRule,
};
use bulkhead_llm::catalog::settings;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::{hanging::Hanging, relations::Relations, secret::SecretView};
use crate::{
    agents::choice,
    app::App,
    contract::Refusal,
    http::{
        blocks::view::{BlockView, FileBlockView},
        folders::view::SourceView,
        groups::view::GroupView,
        identities::view::IdentityView,
        messages::view::approval_request,
        tools::view::ToolView,
    },
};

/// An agent with every field of the contract. What the answer does not carry of it is empty.
#[derive(Serialize, ToSchema)]
#[schema(as = AgentState)]
pub(crate) struct AgentView {
    id: String,
    name: String,
    agent_type: &'static str,
    system: String,
    description: Option<String>,
    #[schema(value_type = Option<Object>)]
    metadata: Option<Value>,
    message_ids: Vec<String>,
    #[schema(value_type = Vec<Object>)]
    tool_rules: Vec<ToolRule>,
    /// the model's handle
    model: String,
    #[schema(value_type = Object)]
    model_settings: Value,
    #[schema(value_type = Object)]
    llm_config: LlmConfig,
    /// the embedding model's handle
    embedding: Option<String>,
    #[schema(value_type = Option<Object>)]
    embedding_config: Option<EmbeddingConfig>,
    #[schema(value_type = Option<Object>)]
    compaction_settings: Option<CompactionSettings>,
    #[schema(value_type = Option<Object>)]
    response_format: Option<Value>,
    pub(super) memory: Memory,
    blocks: Vec<BlockView>,
    tools: Vec<ToolView>,
    /// its folders
    sources: Vec<SourceView>,
    tags: Vec<String>,
    secrets: Vec<SecretView>,
    tool_exec_environment_variables: Vec<SecretView>,
    identities: Vec<IdentityView>,
    identity_ids: Vec<String>,
    #[schema(value_type = Option<Object>)]
    pending_approval: Option<Value>,
    /// the older name of managed_group
    multi_agent_group: Option<GroupView>,
    /// the group that it leads
    managed_group: Option<GroupView>,
    message_buffer_autoclear: bool,
    enable_sleeptime: Option<bool>,
    timezone: String,
    max_files_open: Option<i64>,
    per_file_view_window_char_limit: Option<i64>,
    hidden: Option<bool>,
    #[schema(value_type = Option<String>)]
    last_stop_reason: Option<StopReason>,
    #[schema(value_type = Option<String>)]
    last_run_completion: Option<Timestamp>,
    last_run_duration_ms: Option<i64>,
    project_id: Option<String>,
    template_id: Option<String>,
    base_template_id: Option<String>,
    deployment_id: Option<String>,
    entity_id: Option<String>,
    created_by_id: Option<String>,
    last_updated_by_id: Option<String>,
    #[schema(value_type = String)]
    created_at: Timestamp,
    #[schema(value_type = String)]
    updated_at: Timestamp,
}

/// An agent's memory: its blocks, as older clients look for them, and its files.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Memory {
    agent_type: &'static str,
    git_enabled: bool,
    blocks: Vec<BlockView>,
    /// its files: all that it sees, and the first of the others
    file_blocks: Vec<FileBlockView>,
    prompt_template: &'static str,
}

impl Memory {
    pub(crate) fn new(agent: &Agent, blocks: Vec<BlockView>, files: Vec<AgentFile>) -> Self {
        let files = files.into_iter();
        let chars = agent.per_file_view_window_char_limit;
        Self {
            agent_type: agent.agent_type.as_str(),
            git_enabled: false,
            blocks,
            file_blocks: files.map(|file| FileBlockView::new(file, chars)).collect(),
            prompt_template: "",
        }
    }
}

impl AgentView {
    /// Agents with their relations, in their order.
    pub(crate) async fn of_all(
        app: &App,
        agents: Vec<Agent>,
        relations: Relations,
    ) -> Result<Vec<Self>, Refusal> {
        let mut hanging = Hanging::load(app, &agents, relations).await?;
        let agents = agents.into_iter();
        Ok(agents.map(|agent| Self::new(agent, &mut hanging)).collect())
    }

    /// One agent with its relations.
    pub(crate) async fn of(app: &App, agent: Agent, relations: Relations) -> Result<Self, Refusal> {
        let one = std::slice::from_ref(&agent);
        let mut hanging = Hanging::load(app, one, relations).await?;
        Ok(Self::new(agent, &mut hanging))
    }

    fn new(agent: Agent, hanging: &mut Hanging) -> Self {
        let id = agent.id;
        let blocks = hanging.blocks.remove(&id).unwrap_or_default();
        let blocks: Vec<_> = blocks.into_iter().map(BlockView::from).collect();
        let files = hanging.files.remove(&id).unwrap_or_default();
        let secrets = hanging.secrets.remove(&id).unwrap_or_default();
        let secrets: Vec<_> = secrets.into_iter().map(SecretView::from).collect();
        let identities = hanging.identities.remove(&id).unwrap_or_default();
        let identities: Vec<_> = identities.into_iter().map(IdentityView::from).collect();
        let folders = hanging.folders.remove(&id).unwrap_or_default();
        let group = hanging.groups.remove(&id).map(GroupView::from);
        let messages = agent.message_ids.iter();
        Self {
            memory: Memory::new(&agent, blocks.clone(), files),
            id: id.to_string(),
            name: agent.name,
            agent_type: agent.agent_type.as_str(),
            system: agent.system,
            description: agent.description,
            metadata: agent.metadata,
            message_ids: messages.map(ToString::to_string).collect(),
            tool_rules: agent.tool_rules,
            model: agent.llm_config.handle(),
            model_settings: settings::render(&agent.llm_config),
            embedding: agent
                .embedding_config
                .as_ref()
                .map(choice::embedding_handle),
            llm_config: agent.llm_config,
            embedding_config: agent.embedding_config,
            compaction_settings: agent.compaction_settings,
            response_format: agent.response_format,
            blocks,
            tools: hanging.tools.remove(&id).unwrap_or_default(),
            sources: folders.into_iter().map(SourceView::from).collect(),
            tags: hanging.tags.remove(&id).unwrap_or_default(),
            tool_exec_environment_variables: secrets.clone(),
            secrets,
            identity_ids: identities
                .iter()
                .map(|identity| identity.id.clone())
                .collect(),
            identities,
            pending_approval: hanging.pending.remove(&id).as_ref().map(approval_request),
            multi_agent_group: group.clone(),
            managed_group: group,
            message_buffer_autoclear: agent.message_buffer_autoclear,
            enable_sleeptime: agent.enable_sleeptime,
            timezone: agent.timezone,
            max_files_open: agent.max_files_open,
            per_file_view_window_char_limit: agent.per_file_view_window_char_limit,
            hidden: agent.hidden,
            last_stop_reason: agent.last_stop_reason,
            last_run_completion: agent.last_run_completion,
            last_run_duration_ms: agent.last_run_duration_ms,
            project_id: agent.project_id,
            template_id: agent.template_id,
            base_template_id: agent.base_template_id,
            deployment_id: agent.deployment_id,
            entity_id: agent.entity_id,
            created_by_id: agent.created_by_id,
            last_updated_by_id: agent.last_updated_by_id,
            created_at: agent.created_at,
            updated_at: agent.updated_at,
        }
    }
}
