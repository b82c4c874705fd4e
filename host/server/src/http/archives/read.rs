//! One archive, many, and the agents that have one.

use axum::{Json, extract::State};
use bulkhead_store::{ArchiveAgentsFilter, ArchiveFilter};

use super::view::ArchiveView;
use crate::{
    contract::{
        Parameters, Refusal,
        document::Refusals,
        id,
        query::{ByCreation, FromQuery, Order, Page, Query},
    },
    http::{
        AppState,
        agents::{
            client::Client,
            query::{Include, RelatedQuery},
            view::AgentView,
        },
        missing,
        query::Path,
        scope,
    },
};

/// Archives of one answer where the client names no number.
const LIMIT_DEFAULT: u32 = 50;

/// Which archives.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// of this name
    name: Option<String>,
    /// of this agent
    agent_id: Option<String>,
}

/// Which archives, and which part of their list.
pub(crate) struct ListQuery {
    which: Which,
    page: Page,
}

impl FromQuery for ListQuery {
    fn from_query(query: &mut Query) -> Self {
        Self {
            which: Which {
                name: query.text("name"),
                agent_id: query.text("agent_id"),
            },
            page: query.page_by_creation(LIMIT_DEFAULT, Order::Descending),
        }
    }
}

/// One archive.
#[utoipa::path(
    get,
    path = "/v1/archives/{archive_id}",
    operation_id = "retrieve_archive",
    tag = "archives",
    params(("archive_id" = String, Path, description = "the archive's id")),
    responses((status = OK, body = ArchiveView, description = "the archive"), Refusals)
)]
pub(crate) async fn get(
    State(app): State<AppState>,
    Path(archive_id): Path<String>,
) -> Result<Json<ArchiveView>, Refusal> {
    let archive_id = id::parse("archive_id", &archive_id)?;
    let archive = app.store.archive(&archive_id).await?;
    let archive = archive.ok_or_else(|| super::not_found(archive_id))?;
    Ok(Json(archive.into()))
}

/// Archives, the newest first unless told otherwise.
#[utoipa::path(
    get,
    path = "/v1/archives/",
    operation_id = "list_archives",
    tag = "archives",
    params(Which, ByCreation, Page),
    responses((status = OK, body = Vec<ArchiveView>, description = "the archives"), Refusals)
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    Parameters(ListQuery { which, page }): Parameters<ListQuery>,
) -> Result<Json<Vec<ArchiveView>>, Refusal> {
    let agent_id = match which.agent_id.map(|id| id.parse()) {
        None => None,
        Some(Ok(id)) => Some(id),
        // What is no id is that of no agent.
        Some(Err(_)) => return Ok(Json(Vec::new())),
    };
    let filter = ArchiveFilter {
        name: which.name,
        agent_id,
        created_by: scope::only(),
        paging: page.into(),
    };
    let archives = app.store.archives(&filter).await;
    let archives = archives.map_err(missing::stored)?;
    Ok(Json(archives.into_iter().map(ArchiveView::from).collect()))
}

/// The agents that have an archive.
#[utoipa::path(
    get,
    path = "/v1/archives/{archive_id}/agents",
    operation_id = "list_agents_for_archive",
    tag = "archives",
    params(("archive_id" = String, Path, description = "the archive's id"), Include, ByCreation, Page),
    responses((status = OK, body = Vec<AgentView>, description = "the agents"), Refusals)
)]
pub(crate) async fn agents(
    State(app): State<AppState>,
    client: Client,
    Path(archive_id): Path<String>,
    Parameters(query): Parameters<RelatedQuery>,
) -> Result<Json<Vec<AgentView>>, Refusal> {
    let archive_id = id::parse("archive_id", &archive_id)?;
    if app.store.archive(&archive_id).await?.is_none() {
        return Err(super::not_found(archive_id));
    }
    let relations = query.relations(client);
    let filter = ArchiveAgentsFilter {
        archive_id,
        created_by: scope::only(),
        paging: query.page.into(),
    };
    let ids = app.store.agents_of_archive(&filter).await;
    let mut agents = Vec::new();
    for id in ids.map_err(missing::stored)? {
        // One that was deleted meanwhile is not there any more.
        agents.extend(app.store.agent(&id).await?);
    }
    AgentView::of_all(&app, agents, relations).await.map(Json)
}
