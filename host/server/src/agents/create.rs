//! New agents: what a body leaves open is filled in here.

use std::collections::HashSet;

use bulkhead_agent::{Incoming, defaults, first_messages, prompt};
use bulkhead_domain::{
    Agent, AgentType, Block, EmbeddingConfig, LlmConfig, Timestamp, ToolRule,
    id::{AgentId, BlockId},
    platform::Standing,
};
use bulkhead_store::{NewAgent, StoreError, ToolRecord};

use super::{body, body::CreateAgent, checks, name, sleeptime, toolset};
use crate::{
    app::App,
    contract::Refusal,
    http::{agents::folders, messages::input::keep_images, missing, scope},
};

/// Makes an agent with all that hangs on it, or nothing.
pub(crate) async fn create(app: &App, body: CreateAgent) -> Result<NewAgent, Refusal> {
    let new = prepare(app, body).await?;
    let created = app.store.create_agent(&new).await;
    created.map_err(missing::stored)?;
    if !new.folder_ids.is_empty() {
        folders::shown(app, new.agent.id).await?;
    }
    Ok(new)
}

/// The agent of a body with all that hangs on it; nothing is stored.
pub(crate) async fn prepare(app: &App, mut body: CreateAgent) -> Result<NewAgent, Refusal> {
    check(&body)?;
    let agent_type = body.agent_type.unwrap_or_default();
    let (llm, embedding) = body.models.resolve_all(app).await?;
    if let Some(settings) = &body.compaction_settings {
        checks::compaction(app, settings, &llm).await?;
    }
    let (new_blocks, blocks) = blocks(app, &mut body).await?;
    let tools = wanted_tools(agent_type, &mut body).resolve(app).await?;
    let given = body.tool_rules.take().unwrap_or_default();
    let rules = toolset::rules(agent_type, &tools, given, body.include_base_tool_rules);
    let sequence = body.initial_message_sequence.take();
    let mut sequence: Option<Vec<Incoming>> =
        sequence.map(|messages| messages.into_iter().map(Incoming::from).collect());
    if let Some(messages) = &mut sequence {
        keep_images(app, messages).await?;
    }
    let block_ids = body.block_ids.take().unwrap_or_default();
    let with_sleeptime = body.enable_sleeptime == Some(true);
    let tags = body.tags.take().unwrap_or_default();
    let identity_ids = body.identity_ids.take().unwrap_or_default();
    let older = body.tool_exec_environment_variables.take();
    let secrets = body::secrets(body.secrets.take(), older).unwrap_or_default();
    let named = folders::named(app, body.folder_ids.take(), body.source_ids.take()).await?;
    let folder_ids = named.unwrap_or_default();
    let file_tool_ids = match folder_ids.is_empty() {
        true => Vec::new(),
        false => folders::file_tools(app).await?,
    };
    let mut agent = agent(body, agent_type, llm, embedding, rules);
    let messages = first_messages(&agent, &blocks, sequence);
    agent.message_ids = messages.iter().map(|message| message.id).collect();
    let sleeptime = match with_sleeptime {
        true => Some(sleeptime::of(app, &agent, &blocks).await?),
        false => None,
    };
    Ok(NewAgent {
        sleeptime,
        new_blocks,
        block_ids,
        tool_ids: tools.into_iter().map(|tool: ToolRecord| tool.id).collect(),
        tags,
        secrets,
        identity_ids,
        folder_ids,
        file_tool_ids,
        messages,
        ..NewAgent::new(agent)
    })
}

/// Refuses what no agent can have.
pub(super) fn check(body: &CreateAgent) -> Result<(), Refusal> {
    if let Some(name) = &body.name {
        name::check(name)?;
    }
    if let Some(timezone) = &body.timezone {
        checks::timezone(timezone)?;
    }
    if let Some(number) = body.max_files_open {
        checks::max_files_open(number)?;
    }
    if let Some(number) = body.per_file_view_window_char_limit {
        checks::view_chars(number)?;
    }
    if body.agent_type == Some(AgentType::SplitThreadAgent) {
        return Err(Refusal::bad_request(
            "Invalid agent type: AgentType.split_thread_agent",
        ));
    }
    Ok(())
}

/// The blocks to make, and all that the agent begins with in their order. Of two new ones with the
/// same label the first is kept, as clients know it.
async fn blocks(app: &App, body: &mut CreateAgent) -> Result<(Vec<Block>, Vec<Block>), Refusal> {
    let mut labels = HashSet::new();
    let new = body.memory_blocks.take().unwrap_or_default().into_iter();
    let new: Vec<Block> = new
        .filter(|block| labels.insert(block.label.clone()))
        .map(Block::from)
        .collect();
    let mut all = new.clone();
    let mut unknown = Vec::new();
    for id in body.block_ids.iter().flatten() {
        match app.store.block(id).await? {
            Some(block) => all.push(block),
            None => unknown.push(BlockId::to_string(id)),
        }
    }
    if unknown.is_empty() {
        return Ok((new, all));
    }
    let (what, ids) = ("block", unknown);
    Err(missing::stored(StoreError::UnknownReferences { what, ids }))
}

/// The tools that a body asks for, and those that its type begins with.
pub(super) fn wanted_tools(agent_type: AgentType, body: &mut CreateAgent) -> toolset::Wanted {
    let mut base = Vec::new();
    if body.include_base_tools.unwrap_or(true) {
        let sleeptime = body.enable_sleeptime.unwrap_or(false);
        base.extend(defaults::base_tools(agent_type, sleeptime));
    }
    if body.include_multi_agent_tools.unwrap_or(false) {
        base.extend(defaults::MULTI_AGENT_TOOLS);
    }
    toolset::Wanted {
        names: body.tools.take().unwrap_or_default(),
        ids: body.tool_ids.take().unwrap_or_default(),
        base,
    }
}

/// The agent of a body; nothing hangs on it yet.
pub(super) fn agent(
    body: CreateAgent,
    agent_type: AgentType,
    llm_config: LlmConfig,
    embedding_config: Option<EmbeddingConfig>,
    tool_rules: Vec<ToolRule>,
) -> Agent {
    let now = Timestamp::now();
    let (files, chars) = defaults::file_limits(llm_config.context_window);
    let instructions = || prompt::instructions(agent_type).to_owned();
    let user = Some(scope::actor());
    Agent {
        id: AgentId::random(),
        name: body.name.unwrap_or_else(name::random),
        agent_type,
        system: body.system.unwrap_or_else(instructions),
        description: body.description,
        metadata: body.metadata,
        message_ids: Vec::new(),
        response_format: body.models.response_format().cloned(),
        llm_config,
        embedding_config,
        compaction_settings: body.compaction_settings,
        tool_rules,
        // A workflow begins anew with every request.
        message_buffer_autoclear: body
            .message_buffer_autoclear
            .unwrap_or(agent_type == AgentType::WorkflowAgent),
        enable_sleeptime: body.enable_sleeptime,
        timezone: body.timezone.unwrap_or_else(|| "UTC".to_owned()),
        max_files_open: Some(body.max_files_open.unwrap_or(files)),
        per_file_view_window_char_limit: Some(
            body.per_file_view_window_char_limit.unwrap_or(chars),
        ),
        hidden: body.hidden,
        last_stop_reason: None,
        last_run_completion: None,
        last_run_duration_ms: None,
        recompiled_at: now,
        project_id: body.project_id,
        template_id: body.template_id,
        base_template_id: body.base_template_id,
        deployment_id: None,
        entity_id: None,
        fallback_models: Vec::new(),
        standing: Standing::default(),
        created_by_id: user.clone(),
        last_updated_by_id: user,
        created_at: now,
        updated_at: now,
    }
}
