//! Changes of an agent.

use axum::{Json, extract::State};
use bulkhead_domain::{
    Agent, CompactionSettings, LlmConfig, ManagerType, Message, StopReason, Timestamp, ToolRule,
    id::{AgentId, BlockId, IdentityId, MessageId},
};
use bulkhead_llm::catalog::keep_settings;
use bulkhead_store::{AgentRelations, Disagreement, NewSleeptime, StoreError, thread::check_calls};
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{approvals::Kept, find, folders, instance, relations::Relations, view::AgentView};
use crate::{
    agents::{
        body, checks,
        choice::{Chosen, ModelChoice},
        name, sleeptime,
        toolset::Wanted,
    },
    app::App,
    contract::{Body, Refusal, body::Schema, document::Refusals},
    http::{
        AppState,
        blocks::update::{replace, set},
        missing,
        query::Path,
        scope, unbroken_contract,
    },
};

/// Why the context of an agent that waits is not changed.
const WAITS: &str = "CONFLICT: Cannot change the messages in context: The agent is waiting for approval on a \
                     tool call. Please approve or deny the pending request before continuing.";

/// The body of an update. A field that is null is as one that is left out.
#[derive(Deserialize, ToSchema)]
pub(crate) struct UpdateAgent {
    name: Option<String>,
    system: Option<String>,
    description: Option<String>,
    #[schema(value_type = Option<Object>)]
    metadata: Option<Value>,
    #[serde(flatten)]
    models: ModelChoice,
    #[schema(value_type = Option<Object>)]
    compaction_settings: Option<CompactionSettings>,
    #[schema(value_type = Option<Vec<String>>)]
    block_ids: Option<Vec<BlockId>>,
    tool_ids: Option<Vec<String>>,
    #[schema(value_type = Option<Vec<Object>>)]
    tool_rules: Option<Vec<ToolRule>>,
    /// what its model sees, in order
    #[schema(value_type = Option<Vec<String>>)]
    message_ids: Option<Vec<MessageId>>,
    tags: Option<Vec<String>>,
    /// all of them, in place of those that it has
    #[schema(value_type = Option<Object>)]
    secrets: Option<Map<String, Value>>,
    /// the older name of secrets
    #[schema(value_type = Option<Object>)]
    tool_exec_environment_variables: Option<Map<String, Value>>,
    #[schema(value_type = Option<Vec<String>>)]
    identity_ids: Option<Vec<IdentityId>>,
    folder_ids: Option<Vec<String>>,
    source_ids: Option<Vec<String>>,
    message_buffer_autoclear: Option<bool>,
    enable_sleeptime: Option<bool>,
    /// an IANA name
    timezone: Option<String>,
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
}

impl Schema for UpdateAgent {
    const NAME: &str = "UpdateAgent";
}

impl UpdateAgent {
    fn check(&self) -> Result<(), Refusal> {
        if let Some(name) = &self.name {
            name::check(name)?;
        }
        if let Some(timezone) = &self.timezone {
            checks::timezone(timezone)?;
        }
        if let Some(number) = self.max_files_open {
            checks::max_files_open(number)?;
        }
        if let Some(number) = self.per_file_view_window_char_limit {
            checks::view_chars(number)?;
        }
        Ok(())
    }

    /// Takes out what says how the last run ended: of an agent that belongs to a project its runs
    /// alone say so, since its status is computed from that.
    fn leave_runs_alone(&mut self) {
        self.last_stop_reason = None;
        self.last_run_completion = None;
        self.last_run_duration_ms = None;
    }

    /// What is to hang on the agent.
    fn relations(&mut self) -> AgentRelations {
        let older = self.tool_exec_environment_variables.take();
        AgentRelations {
            tool_ids: self.tool_ids.take(),
            block_ids: self.block_ids.take(),
            tags: self.tags.take(),
            secrets: body::secrets(self.secrets.take(), older),
            identity_ids: self.identity_ids.take(),
            ..AgentRelations::default()
        }
    }

    /// `usual` is how the agent's model so far is asked unless somebody says otherwise.
    fn apply(
        self,
        mut chosen: Chosen,
        usual: Option<&LlmConfig>,
        approvals: &Kept,
        agent: &mut Agent,
    ) -> Result<(), Refusal> {
        if let Some(llm) = chosen.llm.as_mut().filter(|_| chosen.by_handle) {
            keep_settings(&agent.llm_config, usual, llm);
        }
        set(&mut agent.llm_config, chosen.llm);
        self.models.apply(&mut agent.llm_config)?;
        replace(&mut agent.embedding_config, chosen.embedding);
        let format = self.models.response_format().cloned();
        replace(&mut agent.response_format, format);
        set(&mut agent.name, self.name);
        set(&mut agent.system, self.system);
        replace(&mut agent.description, self.description);
        replace(&mut agent.metadata, self.metadata);
        replace(&mut agent.compaction_settings, self.compaction_settings);
        let former = agent.tool_rules.clone();
        set(&mut agent.tool_rules, self.tool_rules.map(distinct));
        approvals.keep(&former, agent);
        set(&mut agent.message_ids, self.message_ids);
        set(
            &mut agent.message_buffer_autoclear,
            self.message_buffer_autoclear,
        );
        replace(&mut agent.enable_sleeptime, self.enable_sleeptime);
        set(&mut agent.timezone, self.timezone);
        replace(&mut agent.max_files_open, self.max_files_open);
        replace(
            &mut agent.per_file_view_window_char_limit,
            self.per_file_view_window_char_limit,
        );
        replace(&mut agent.hidden, self.hidden);
        replace(&mut agent.last_stop_reason, self.last_stop_reason);
        replace(&mut agent.last_run_completion, self.last_run_completion);
        replace(&mut agent.last_run_duration_ms, self.last_run_duration_ms);
        replace(&mut agent.project_id, self.project_id);
        replace(&mut agent.template_id, self.template_id);
        replace(&mut agent.base_template_id, self.base_template_id);
        agent.last_updated_by_id = Some(scope::actor());
        Ok(())
    }
}

fn distinct(rules: Vec<ToolRule>) -> Vec<ToolRule> {
    let mut kept: Vec<ToolRule> = Vec::new();
    for rule in rules {
        if !kept.contains(&rule) {
            kept.push(rule);
        }
    }
    kept
}

/// Changes the fields that are given. The system message stays as it is until it is next made anew.
#[utoipa::path(
    patch,
    path = "/v1/agents/{agent_id}",
    operation_id = "modify_agent",
    tag = "agents",
    params(("agent_id" = String, Path, description = "the agent's id")),
    request_body = UpdateAgent,
    responses((status = OK, body = AgentView, description = "the agent"), Refusals)
)]
pub(crate) async fn update(
    State(app): State<AppState>,
    Path(agent_id): Path<String>,
    Body(mut body): Body<UpdateAgent>,
) -> Result<Json<AgentView>, Refusal> {
    let agent = find::agent(&app, &agent_id).await?;
    body.check()?;
    if instance::is_instance(&app, agent.id).await? {
        body.leave_runs_alone();
    }
    let chosen = body.models.resolve(&app).await?;
    let usual = match chosen.by_handle {
        true => {
            let models = app.engine.models();
            models.resolve(&agent.llm_config.handle()).await.ok()
        }
        false => None,
    };
    let mut relations = body.relations();
    let approvals = if body.tool_rules.is_some() || relations.tool_ids.is_some() {
        tools(&app, &agent.id, &mut relations).await?
    } else {
        Kept::default()
    };
    let (folder_ids, source_ids) = (body.folder_ids.take(), body.source_ids.take());
    relations.folder_ids = folders::named(&app, folder_ids, source_ids).await?;
    if relations.folder_ids.is_some() {
        relations.file_tool_ids = folders::file_tools(&app).await?;
    }
    if let Some(settings) = &body.compaction_settings {
        let llm = chosen.llm.as_ref().unwrap_or(&agent.llm_config);
        checks::compaction(&app, settings, llm).await?;
    }
    if body.enable_sleeptime == Some(true) {
        relations.sleeptime = sleeptime_agent(&app, &agent).await?;
    }
    let view = unbroken_contract(async move {
        // No run changes what its model sees meanwhile.
        let _held = match &body.message_ids {
            Some(messages) => {
                let held = app.engine.hold(agent.id).await;
                check_context(&app, &agent.id, messages).await?;
                Some(held)
            }
            None => None,
        };
        let edit = |agent: &mut Agent| {
            let applied = body.apply(chosen, usual.as_ref(), &approvals, agent);
            applied.map_err(Stopped::Refused)
        };
        let changed = app.store.update_agent(&agent.id, edit, &relations).await;
        let agent = changed.map_err(Refusal::from)?;
        AgentView::of(&app, agent, Relations::ALL).await
    });
    view.await.map(Json)
}

/// What of the agent's rules about approval outlasts a change of its tools or rules. Tools that whoever
/// asks does not see stay among its tools.
async fn tools(
    app: &App,
    agent: &AgentId,
    relations: &mut AgentRelations,
) -> Result<Kept, Refusal> {
    let attached = app.store.tools_of(&[*agent]).await;
    let attached = attached.map_err(missing::stored)?;
    let attached: Vec<_> = attached.into_values().flatten().collect();
    let Some(ids) = &mut relations.tool_ids else {
        return Ok(Kept::of(&attached));
    };
    let is_new = |id: &&String| attached.iter().all(|tool| tool.id != **id);
    let new = Wanted {
        names: Vec::new(),
        ids: ids.iter().filter(is_new).cloned().collect(),
        base: Vec::new(),
    };
    // Refuses those that are not there for whoever asks.
    new.resolve(app).await?;
    let unseen = attached.iter().filter(|tool| !scope::sees(tool));
    ids.extend(unseen.map(|tool| tool.id.clone()));
    Ok(Kept::of(&attached))
}

/// The agent that is to look after another one's memory from now on; none where there is one.
///
/// 409 for an agent of a project: what an agent costs that is not of the project would be nobody's.
async fn sleeptime_agent(app: &App, agent: &Agent) -> Result<Option<Box<NewSleeptime>>, Refusal> {
    sleeptime::expect_main(agent.agent_type)?;
    if app.store.instance_of(agent.id).await?.is_some() {
        return Err(Refusal::conflict(
            "CONFLICT: the agent belongs to a project, and agents of projects have no sleeptime agent",
        ));
    }
    let groups = app.store.managed_groups(&[agent.id]).await;
    let groups = groups.map_err(missing::stored)?;
    let has_one = groups.get(&agent.id).is_some_and(|group| {
        let kind = group.manager.manager_type();
        let looks_after = matches!(kind, ManagerType::Sleeptime | ManagerType::VoiceSleeptime);
        looks_after && !group.agent_ids.is_empty()
    });
    if has_one {
        return Ok(None);
    }
    let blocks = app.store.blocks_of(&[agent.id]).await;
    let blocks = blocks.map_err(missing::stored)?.remove(&agent.id);
    let new = sleeptime::of(app, agent, &blocks.unwrap_or_default()).await?;
    Ok(Some(new))
}

/// Refuses a context of which the database has not every message, or in which a call has no result:
/// providers take none, and nobody would ever answer. While a request for approval is open, every
/// other one.
async fn check_context(app: &App, id: &AgentId, messages: &[MessageId]) -> Result<(), Refusal> {
    let agent = app.store.agent(id).await?;
    let agent = agent.ok_or_else(|| missing::agent(id))?;
    if agent.message_ids == messages {
        return Ok(());
    }
    if app.engine.pending_approval(&agent).await?.is_some() {
        return Err(Refusal::conflict(WAITS));
    }
    let found = app.store.messages_by_ids(id, messages).await;
    let found = found.map_err(missing::stored)?;
    if found.last().is_some_and(Message::is_approval_request) {
        return Err(Refusal::bad_request(
            "INVALID_ARGUMENT: message_ids: the last is a request for approval that is not open",
        ));
    }
    let seen: Vec<&Message> = found.iter().collect();
    for disagreement in check_calls(&seen) {
        if let Disagreement::Unanswered {
            message_id,
            tool_call_id,
        } = disagreement
        {
            return Err(Refusal::bad_request(format!(
                "INVALID_ARGUMENT: message_ids: the call {tool_call_id} of {message_id} has no \
                 result among them"
            )));
        }
    }
    Ok(())
}

/// Why an update did not happen.
enum Stopped {
    Refused(Refusal),
    Store(StoreError),
}

impl From<StoreError> for Stopped {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<Stopped> for Refusal {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Refused(refusal) => refusal,
            Stopped::Store(error) => missing::stored(error),
        }
    }
}
