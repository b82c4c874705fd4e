//! One agent, many, and how many.

use axum::{Json, extract::State};

use super::{
    client::Client,
    find,
    query::{Include, IncludeQuery, ListQuery, Ordering, Which},
    view::AgentView,
};
use crate::{
    contract::{Parameters, Refusal, document::Refusals, query::Page},
    http::{AppState, missing, query::Path},
};

/// One agent.
#[utoipa::path(
    get,
    path = "/v1/agents/{agent_id}",
    operation_id = "retrieve_agent",
    tag = "agents",
    params(("agent_id" = String, Path, description = "the agent's id"), Include),
    responses((status = OK, body = AgentView, description = "the agent"), Refusals)
)]
pub(crate) async fn get(
    State(app): State<AppState>,
    client: Client,
    Path(agent_id): Path<String>,
    Parameters(query): Parameters<IncludeQuery>,
) -> Result<Json<AgentView>, Refusal> {
    let agent = find::agent(&app, &agent_id).await?;
    let relations = query.relations(client);
    AgentView::of(&app, agent, relations).await.map(Json)
}

/// Agents that are not hidden, the newest first unless told otherwise.
#[utoipa::path(
    get,
    path = "/v1/agents/",
    operation_id = "list_agents",
    tag = "agents",
    params(Which, Include, Ordering, Page),
    responses((status = OK, body = Vec<AgentView>, description = "the agents"), Refusals)
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    client: Client,
    Parameters(query): Parameters<ListQuery>,
) -> Result<Json<Vec<AgentView>>, Refusal> {
    let (filter, relations) = query.into_parts(client);
    let agents = match filter {
        Some(filter) => app.store.agents(&filter).await.map_err(missing::stored)?,
        None => Vec::new(),
    };
    AgentView::of_all(&app, agents, relations).await.map(Json)
}

/// How many agents there are.
#[utoipa::path(
    get,
    path = "/v1/agents/count",
    operation_id = "count_agents",
    tag = "agents",
    params(Which),
    responses((status = OK, body = u64, content_type = "application/json", description = "how many"), Refusals)
)]
pub(crate) async fn count(
    State(app): State<AppState>,
    Parameters(which): Parameters<Which>,
) -> Result<Json<u64>, Refusal> {
    let Some(filter) = which.filter() else {
        return Ok(Json(0));
    };
    let count = app.store.count_agents(&filter).await;
    count.map(Json).map_err(missing::stored)
}
