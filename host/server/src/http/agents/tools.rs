//! The tools of an agent.

use axum::{Json, extract::State};
use bulkhead_domain::{Agent, ToolRule, id::AgentId};
use bulkhead_store::{AgentRelations, StoreError, ToolFilter, ToolRecord};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::{approvals, client::Client, find};
use crate::{
    app::App,
    contract::{
        OptionalBody, Parameters, Refusal,
        body::Schema,
        document::Refusals,
        id,
        query::{ByCreation, FromQuery, Order, Page, Query},
    },
    http::{AppState, missing, query::Path, scope, tools::view::ToolView, unbroken_contract},
};

/// Tools of one answer where the client names no number.
const LIMIT_DEFAULT: u32 = 10;

/// Which part of the list.
pub(crate) struct PageQuery(Page);

impl FromQuery for PageQuery {
    fn from_query(query: &mut Query) -> Self {
        Self(query.page_by_creation(LIMIT_DEFAULT, Order::Descending))
    }
}

/// The tools of an agent, the newest first unless told otherwise; ten unless told otherwise.
#[utoipa::path(
    get,
    path = "/v1/agents/{agent_id}/tools",
    operation_id = "list_tools_for_agent",
    tag = "agents",
    params(("agent_id" = String, Path, description = "the agent's id"), ByCreation, Page),
    responses((status = OK, body = Vec<ToolView>, description = "the tools"), Refusals)
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    Path(agent_id): Path<String>,
    Parameters(PageQuery(page)): Parameters<PageQuery>,
) -> Result<Json<Vec<ToolView>>, Refusal> {
    let agent = find::agent(&app, &agent_id).await?;
    let filter = ToolFilter {
        agent_id: Some(agent.id),
        created_by: scope::only(),
        ascending: page.is_ascending(),
        after: page.after,
        before: page.before,
        limit: Some(page.limit),
        ..ToolFilter::default()
    };
    let tools = app.store.tools(&filter).await.map_err(missing::stored)?;
    Ok(Json(tools.into_iter().map(ToolView::from).collect()))
}

/// Gives an agent a tool. Calls of one that requires approval by default wait from now on.
#[utoipa::path(
    patch,
    path = "/v1/agents/{agent_id}/tools/attach/{tool_id}",
    operation_id = "attach_tool_to_agent",
    tag = "agents",
    params(
        ("agent_id" = String, Path, description = "the agent's id"),
        ("tool_id" = String, Path, description = "the tool's id"),
    ),
    responses(
        (status = OK, body = Option<Object>, description = "null; the agent for older clients"),
        Refusals,
    )
)]
pub(crate) async fn attach(
    State(app): State<AppState>,
    client: Client,
    Path((agent_id, tool_id)): Path<(String, String)>,
) -> Result<Json<Value>, Refusal> {
    let agent = find::id(&agent_id)?;
    id::check("tool", "tool_id", &tool_id)?;
    unbroken_contract(async move {
        let attached = app.store.attach_tool(&agent, &tool_id).await;
        attached.map_err(|error| refusal(error, &tool_id))?;
        find::changed(&app, client, agent).await
    })
    .await
}

/// Takes a tool from an agent, if the agent has it.
#[utoipa::path(
    patch,
    path = "/v1/agents/{agent_id}/tools/detach/{tool_id}",
    operation_id = "detach_tool_from_agent",
    tag = "agents",
    params(
        ("agent_id" = String, Path, description = "the agent's id"),
        ("tool_id" = String, Path, description = "the tool's id"),
    ),
    responses(
        (status = OK, body = Option<Object>, description = "null; the agent for older clients"),
        Refusals,
    )
)]
pub(crate) async fn detach(
    State(app): State<AppState>,
    client: Client,
    Path((agent_id, tool_id)): Path<(String, String)>,
) -> Result<Json<Value>, Refusal> {
    let agent = find::id(&agent_id)?;
    id::check("tool", "tool_id", &tool_id)?;
    let detached = app.store.detach_tool(&agent, &tool_id).await;
    detached.map_err(|error| refusal(error, &tool_id))?;
    find::changed(&app, client, agent).await
}

/// The body that says whether calls wait.
#[derive(Deserialize, ToSchema)]
pub(crate) struct ModifyApprovalRequest {
    requires_approval: bool,
}

impl Schema for ModifyApprovalRequest {
    const NAME: &str = "ModifyApprovalRequest";
}

/// The same as a parameter.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ApprovalQuery {
    /// the older way to say it; the body counts more
    requires_approval: Option<bool>,
}

impl FromQuery for ApprovalQuery {
    fn from_query(query: &mut Query) -> Self {
        Self {
            requires_approval: query.boolean("requires_approval"),
        }
    }
}

/// Says whether a person decides on each call of a tool of the agent.
#[utoipa::path(
    patch,
    path = "/v1/agents/{agent_id}/tools/approval/{tool_name}",
    operation_id = "modify_approval_for_tool",
    tag = "agents",
    params(
        ("agent_id" = String, Path, description = "the agent's id"),
        ("tool_name" = String, Path, description = "the tool's name"),
        ApprovalQuery,
    ),
    request_body = ModifyApprovalRequest,
    responses(
        (status = OK, body = Option<Object>, description = "null; the agent for older clients"),
        Refusals,
    )
)]
pub(crate) async fn approval(
    State(app): State<AppState>,
    client: Client,
    Path((agent_id, tool_name)): Path<(String, String)>,
    Parameters(query): Parameters<ApprovalQuery>,
    OptionalBody(body): OptionalBody<ModifyApprovalRequest>,
) -> Result<Json<Value>, Refusal> {
    let agent = find::agent(&app, &agent_id).await?;
    let required = body.map(|body| body.requires_approval);
    let required = required.or(query.requires_approval).ok_or_else(|| {
        Refusal::unprocessable(
            "requires_approval must be given, in the body or as a parameter of the query",
        )
    })?;
    let tool = attached(&app, &agent.id, &tool_name).await?;
    if !required {
        approvals::expect_undecided(&tool)?;
    }
    require_approval(&app, &agent.id, &tool_name, required).await?;
    find::changed(&app, client, agent.id).await
}

/// Writes the rule that a person decides on each call of a tool, or takes it away.
async fn require_approval(
    app: &App,
    agent: &AgentId,
    tool: &str,
    required: bool,
) -> Result<(), Refusal> {
    let is_rule = |rule: &ToolRule| approvals::is_rule(rule, tool);
    let edit = |agent: &mut Agent| {
        if !required {
            agent.tool_rules.retain(|rule| !is_rule(rule));
        } else if !agent.tool_rules.iter().any(is_rule) {
            agent.tool_rules.push(approvals::rule(tool));
        }
        agent.last_updated_by_id = Some(scope::actor());
        Ok::<_, StoreError>(())
    };
    let relations = AgentRelations::default();
    let changed = app.store.update_agent(agent, edit, &relations).await;
    changed.map(drop).map_err(missing::stored)
}

/// The tool with this name, where the agent has it and whoever asks sees it; otherwise 404.
pub(super) async fn attached(
    app: &App,
    agent: &AgentId,
    tool: &str,
) -> Result<ToolRecord, Refusal> {
    let found = app.store.tool_of_agent(agent, tool).await;
    let found = found.map_err(missing::stored)?.filter(scope::sees);
    found.ok_or_else(|| not_attached(agent, tool))
}

/// 404 for a tool that an agent does not have.
pub(super) fn not_attached(agent: &AgentId, tool: &str) -> Refusal {
    Refusal::not_found(format!(
        "Tool '{tool}' not found or not attached to agent '{agent}'"
    ))
}

fn refusal(error: StoreError, tool_id: &str) -> Refusal {
    match error {
        StoreError::NotFound { what: "tool", .. } => Refusal::not_found(format!(
            "Tool with id={tool_id} not found in organization={}",
            id::DEFAULT_ORGANIZATION
        )),
        error => missing::stored(error),
    }
}
