//! The document that an export writes.

use std::collections::BTreeMap;

use bulkhead_domain::{
    Agent, Block, CompactionSettings, EmbeddingConfig, Group, LlmConfig, Timestamp, ToolRule,
};
use bulkhead_store::McpServerRecord;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::{
    folders::{WrittenAttachment, WrittenSource},
    message::{FileMessage, offset},
    tool::FileTool,
};
use crate::http::folders::view::FileFields;

/// Which server wrote it, where others have the version of their database.
const WRITER: &str = concat!("bulkhead-", env!("CARGO_PKG_VERSION"));

/// An agent as a file.
#[derive(Serialize, ToSchema)]
pub(crate) struct AgentFile {
    #[schema(value_type = Vec<Object>)]
    pub(super) agents: Vec<WrittenAgent>,
    #[schema(value_type = Vec<Object>)]
    groups: Vec<WrittenGroup>,
    #[schema(value_type = Vec<Object>)]
    pub(super) blocks: Vec<WrittenBlock>,
    #[schema(value_type = Vec<Object>)]
    files: Vec<FileFields>,
    #[schema(value_type = Vec<Object>)]
    sources: Vec<WrittenSource>,
    #[schema(value_type = Vec<Object>)]
    pub(super) tools: Vec<FileTool>,
    #[schema(value_type = Vec<Object>)]
    mcp_servers: Vec<WrittenMcpServer>,
    skills: Vec<Skill>,
    #[schema(value_type = Object)]
    metadata: BTreeMap<&'static str, &'static str>,
    created_at: String,
}

/// Instructions that a client adds to a file, for other clients.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = AgentFileSkill)]
pub(crate) struct Skill {
    name: String,
    /// texts by their names; `SKILL.md` is the first that is read
    files: Option<BTreeMap<String, String>>,
    /// where it comes from
    source_url: Option<String>,
}

impl AgentFile {
    pub(super) fn new(
        agents: Vec<WrittenAgent>,
        groups: Vec<WrittenGroup>,
        blocks: Vec<WrittenBlock>,
        (tools, mcp_servers): (Vec<FileTool>, Vec<WrittenMcpServer>),
        (sources, files): (Vec<WrittenSource>, Vec<FileFields>),
        skills: Vec<Skill>,
    ) -> Self {
        Self {
            agents,
            groups,
            blocks,
            files,
            sources,
            tools,
            mcp_servers,
            skills,
            metadata: BTreeMap::from([("revision_id", WRITER)]),
            created_at: offset(Timestamp::now()),
        }
    }
}

/// Agents that work together. Who leads them is named by a local id.
#[derive(Serialize)]
pub(super) struct WrittenGroup {
    id: String,
    agent_ids: Vec<String>,
    description: String,
    manager_config: Value,
    project_id: Option<()>,
    shared_block_ids: [(); 0],
    hidden: Option<bool>,
}

impl WrittenGroup {
    /// `manager` and `agent_ids` are local ids. None where the group can't be written.
    pub(super) fn new(
        group: Group,
        id: String,
        manager: &str,
        agent_ids: Vec<String>,
    ) -> Option<Self> {
        let mut manager_config = serde_json::to_value(&group.manager).ok()?;
        manager_config["manager_agent_id"] = manager.into();
        Some(Self {
            id,
            agent_ids,
            description: group.description,
            manager_config,
            project_id: None,
            shared_block_ids: [],
            hidden: group.hidden,
        })
    }
}

/// A server that runs some of the tools, without what is sent to it alone: no token, no header, and
/// of its address neither user nor query.
#[derive(Serialize)]
pub(super) struct WrittenMcpServer {
    id: String,
    server_type: &'static str,
    server_name: String,
    server_url: String,
    stdio_config: Option<()>,
    metadata_: Option<()>,
}

impl WrittenMcpServer {
    pub(super) fn new(server: McpServerRecord, id: String) -> Self {
        Self {
            id,
            server_type: server.transport.as_str(),
            server_url: without_query(&server.url).to_owned(),
            server_name: server.name,
            stdio_config: None,
            metadata_: None,
        }
    }
}

/// An address without what may hold a secret.
pub(super) fn without_query(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or_default()
}

/// An agent with every field of a new one, as they are now, and its history. What would let a server
/// add something at import is switched off.
#[derive(Serialize)]
pub(super) struct WrittenAgent {
    id: String,
    name: String,
    agent_type: &'static str,
    system: String,
    description: Option<String>,
    metadata: Option<Value>,
    tags: Vec<String>,
    memory_blocks: [(); 0],
    block_ids: Vec<String>,
    tools: [(); 0],
    tool_ids: Vec<String>,
    tool_rules: Vec<ToolRule>,
    source_ids: Vec<String>,
    folder_ids: Option<()>,
    identity_ids: Option<()>,
    include_base_tools: bool,
    include_multi_agent_tools: bool,
    include_base_tool_rules: bool,
    include_default_source: bool,
    initial_message_sequence: Option<()>,
    llm_config: LlmConfig,
    embedding_config: Option<EmbeddingConfig>,
    model: Option<()>,
    embedding: Option<()>,
    model_settings: Option<()>,
    compaction_settings: Option<CompactionSettings>,
    context_window_limit: Option<()>,
    embedding_chunk_size: Option<()>,
    max_tokens: Option<()>,
    max_reasoning_tokens: Option<()>,
    enable_reasoner: bool,
    reasoning: Option<()>,
    parallel_tool_calls: Option<()>,
    response_format: Option<Value>,
    from_template: Option<()>,
    template: bool,
    project: Option<()>,
    project_id: Option<()>,
    template_id: Option<()>,
    base_template_id: Option<()>,
    memory_variables: Option<()>,
    /// The keys alone.
    secrets: BTreeMap<String, &'static str>,
    tool_exec_environment_variables: BTreeMap<String, &'static str>,
    message_buffer_autoclear: bool,
    enable_sleeptime: Option<bool>,
    timezone: String,
    max_files_open: Option<i64>,
    per_file_view_window_char_limit: Option<i64>,
    hidden: Option<bool>,
    in_context_message_ids: Vec<String>,
    messages: Vec<FileMessage>,
    files_agents: Vec<WrittenAttachment>,
    group_ids: Vec<String>,
}

/// What hangs on a written agent, under local ids.
#[derive(Default)]
pub(super) struct Hanging {
    pub(super) tags: Vec<String>,
    pub(super) block_ids: Vec<String>,
    pub(super) tool_ids: Vec<String>,
    pub(super) source_ids: Vec<String>,
    pub(super) attachments: Vec<WrittenAttachment>,
    /// Keys of secrets.
    pub(super) keys: Vec<String>,
    pub(super) context: Vec<String>,
    pub(super) messages: Vec<FileMessage>,
    pub(super) group_ids: Vec<String>,
}

impl WrittenAgent {
    /// `id`: its local id.
    pub(super) fn new(agent: Agent, id: String, hanging: Hanging) -> Self {
        let keys = hanging.keys.into_iter();
        let secrets: BTreeMap<_, _> = keys.map(|key| (key, "")).collect();
        Self {
            id,
            name: agent.name,
            agent_type: agent.agent_type.as_str(),
            system: agent.system,
            description: agent.description,
            metadata: agent.metadata,
            tags: hanging.tags,
            memory_blocks: [],
            block_ids: hanging.block_ids,
            tools: [],
            tool_ids: hanging.tool_ids,
            tool_rules: agent.tool_rules,
            source_ids: hanging.source_ids,
            folder_ids: None,
            identity_ids: None,
            include_base_tools: false,
            include_multi_agent_tools: false,
            include_base_tool_rules: false,
            include_default_source: false,
            initial_message_sequence: None,
            enable_reasoner: agent.llm_config.enable_reasoner,
            llm_config: agent.llm_config,
            embedding_config: agent.embedding_config,
            model: None,
            embedding: None,
            model_settings: None,
            compaction_settings: agent.compaction_settings,
            context_window_limit: None,
            embedding_chunk_size: None,
            max_tokens: None,
            max_reasoning_tokens: None,
            reasoning: None,
            parallel_tool_calls: None,
            response_format: agent.response_format,
            from_template: None,
            template: false,
            project: None,
            project_id: None,
            template_id: None,
            base_template_id: None,
            memory_variables: None,
            tool_exec_environment_variables: secrets.clone(),
            secrets,
            message_buffer_autoclear: agent.message_buffer_autoclear,
            enable_sleeptime: agent.enable_sleeptime,
            timezone: agent.timezone,
            max_files_open: agent.max_files_open,
            per_file_view_window_char_limit: agent.per_file_view_window_char_limit,
            hidden: agent.hidden,
            in_context_message_ids: hanging.context,
            messages: hanging.messages,
            files_agents: hanging.attachments,
            group_ids: hanging.group_ids,
        }
    }
}

/// A block with every field of the contract.
#[derive(Serialize)]
pub(super) struct WrittenBlock {
    id: String,
    label: String,
    value: String,
    limit: i64,
    description: Option<String>,
    read_only: bool,
    metadata: Option<Value>,
    tags: Vec<String>,
    hidden: Option<bool>,
    is_template: bool,
    template_name: Option<String>,
    template_id: Option<()>,
    base_template_id: Option<()>,
    deployment_id: Option<()>,
    entity_id: Option<()>,
    preserve_on_migration: Option<bool>,
    project_id: Option<()>,
}

impl WrittenBlock {
    pub(super) fn new(block: Block, id: String) -> Self {
        Self {
            id,
            label: block.label,
            value: block.value,
            limit: block.limit,
            description: block.description,
            read_only: block.read_only,
            metadata: block.metadata,
            tags: block.tags,
            hidden: block.hidden,
            is_template: block.is_template,
            template_name: block.template_name,
            template_id: None,
            base_template_id: None,
            deployment_id: None,
            entity_id: None,
            preserve_on_migration: block.preserve_on_migration,
            project_id: None,
        }
    }
}
