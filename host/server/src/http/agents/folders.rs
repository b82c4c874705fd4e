//! The folders of an agent.

use axum::{Json, extract::State};
use bulkhead_domain::{
    Folder,
    id::{AgentId, FolderId},
};
use bulkhead_store::{FolderFilter, Paging};
use serde_json::Value;

use super::{client::Client, find};
use crate::{
    agents::toolset,
    app::App,
    contract::{
        Parameters, Refusal,
        document::Refusals,
        id,
        query::{ByCreation, FromQuery, Order, Page, Query},
    },
    http::{
        AppState,
        folders::{self, view::SourceView},
        missing,
        query::Path,
        unbroken_contract,
    },
};

/// Folders of one answer where the client names no number.
const LIMIT_DEFAULT: u32 = 100;

/// Which part of the list.
pub(crate) struct PageQuery(pub(super) Page);

impl FromQuery for PageQuery {
    fn from_query(query: &mut Query) -> Self {
        Self(query.page_by_creation(LIMIT_DEFAULT, Order::Descending))
    }
}

/// The folders of an agent, the newest first unless told otherwise.
#[utoipa::path(
    get,
    path = "/v1/agents/{agent_id}/folders",
    operation_id = "list_folders_for_agent",
    tag = "agents",
    params(("agent_id" = String, Path, description = "the agent's id"), ByCreation, Page),
    responses((status = OK, body = Vec<SourceView>, description = "the folders"), Refusals)
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    Path(agent_id): Path<String>,
    Parameters(PageQuery(page)): Parameters<PageQuery>,
) -> Result<Json<Vec<SourceView>>, Refusal> {
    all(&app, &agent_id, page.into()).await.map(Json)
}

/// The folders of an agent.
async fn all(app: &App, agent_id: &str, paging: Paging) -> Result<Vec<SourceView>, Refusal> {
    let agent = find::agent(app, agent_id).await?;
    let filter = FolderFilter {
        agent_id: Some(agent.id),
        paging,
        ..FolderFilter::default()
    };
    let folders = app.store.folders(&filter).await;
    let folders = folders.map_err(missing::stored)?.into_iter();
    Ok(folders.map(SourceView::from).collect())
}

/// Gives an agent a folder: as many of its files are opened as may be open, and the agent gets the
/// tools that read files.
#[utoipa::path(
    patch,
    path = "/v1/agents/{agent_id}/folders/attach/{folder_id}",
    operation_id = "attach_folder_to_agent",
    tag = "agents",
    params(
        ("agent_id" = String, Path, description = "the agent's id"),
        ("folder_id" = String, Path, description = "the folder's id"),
    ),
    responses(
        (status = OK, body = Option<Object>, description = "null; the agent for older clients"),
        Refusals,
    )
)]
pub(crate) async fn attach(
    State(app): State<AppState>,
    client: Client,
    Path((agent_id, folder_id)): Path<(String, String)>,
) -> Result<Json<Value>, Refusal> {
    change(app, client, &agent_id, &folder_id, true).await
}

/// Takes a folder from an agent; with the last one go the tools that read files.
#[utoipa::path(
    patch,
    path = "/v1/agents/{agent_id}/folders/detach/{folder_id}",
    operation_id = "detach_folder_from_agent",
    tag = "agents",
    params(
        ("agent_id" = String, Path, description = "the agent's id"),
        ("folder_id" = String, Path, description = "the folder's id"),
    ),
    responses(
        (status = OK, body = Option<Object>, description = "null; the agent for older clients"),
        Refusals,
    )
)]
pub(crate) async fn detach(
    State(app): State<AppState>,
    client: Client,
    Path((agent_id, folder_id)): Path<(String, String)>,
) -> Result<Json<Value>, Refusal> {
    change(app, client, &agent_id, &folder_id, false).await
}

/// The folders of an agent, under their older name.
#[utoipa::path(
    get,
    path = "/v1/agents/{agent_id}/sources",
    operation_id = "list_agent_sources",
    tag = "agents",
    params(("agent_id" = String, Path, description = "the agent's id"), ByCreation, Page),
    responses((status = OK, body = Vec<SourceView>, description = "the folders"), Refusals)
)]
pub(crate) async fn list_sources(
    State(app): State<AppState>,
    Path(agent_id): Path<String>,
    Parameters(PageQuery(page)): Parameters<PageQuery>,
) -> Result<Json<Vec<SourceView>>, Refusal> {
    all(&app, &agent_id, page.into()).await.map(Json)
}

/// As [`attach`], under the older name; the answer is the agent.
#[utoipa::path(
    patch,
    path = "/v1/agents/{agent_id}/sources/attach/{source_id}",
    operation_id = "attach_source_to_agent",
    tag = "agents",
    params(
        ("agent_id" = String, Path, description = "the agent's id"),
        ("source_id" = String, Path, description = "the folder's id"),
    ),
    responses(
        (status = OK, body = super::view::AgentView, description = "the agent"),
        Refusals,
    )
)]
pub(crate) async fn attach_source(
    State(app): State<AppState>,
    Path((agent_id, source_id)): Path<(String, String)>,
) -> Result<Json<Value>, Refusal> {
    change(app, Client { is_legacy: true }, &agent_id, &source_id, true).await
}

/// As [`detach`], under the older name; the answer is the agent.
#[utoipa::path(
    patch,
    path = "/v1/agents/{agent_id}/sources/detach/{source_id}",
    operation_id = "detach_source_from_agent",
    tag = "agents",
    params(
        ("agent_id" = String, Path, description = "the agent's id"),
        ("source_id" = String, Path, description = "the folder's id"),
    ),
    responses(
        (status = OK, body = super::view::AgentView, description = "the agent"),
        Refusals,
    )
)]
pub(crate) async fn detach_source(
    State(app): State<AppState>,
    Path((agent_id, source_id)): Path<(String, String)>,
) -> Result<Json<Value>, Refusal> {
    change(
        app,
        Client { is_legacy: true },
        &agent_id,
        &source_id,
        false,
    )
    .await
}

async fn change(
    app: AppState,
    client: Client,
    agent_id: &str,
    folder_id: &str,
    attach: bool,
) -> Result<Json<Value>, Refusal> {
    let agent = find::agent(&app, agent_id).await?.id;
    let folder: FolderId = id::parse("folder_id", folder_id)?;
    let found = app.store.folder(&folder).await?;
    found.ok_or_else(|| folders::not_found(folder))?;
    let tools = file_tools(&app).await?;
    unbroken_contract(async move {
        if attach {
            let attached = app.store.attach_folder(&agent, &folder, &tools).await;
            attached.map_err(missing::stored)?;
        } else {
            let detached = app.store.detach_folder(&agent, &folder, &tools).await;
            detached.map_err(missing::stored)?;
        }
        find::changed(&app, client, agent).await
    })
    .await
}

/// The ids of the tools that read files.
pub(crate) async fn file_tools(app: &App) -> Result<Vec<String>, Refusal> {
    let names = crate::registry::FILE_TOOLS.map(str::to_owned);
    let tools = toolset::by_name(app, names.to_vec()).await?;
    Ok(tools.into_iter().map(|tool| tool.id).collect())
}

/// The folders that a body names for an agent, by either name; none where it says nothing of them.
/// 404 for one that is not there.
pub(crate) async fn named(
    app: &App,
    folder_ids: Option<Vec<String>>,
    source_ids: Option<Vec<String>>,
) -> Result<Option<Vec<FolderId>>, Refusal> {
    if folder_ids.is_none() && source_ids.is_none() {
        return Ok(None);
    }
    let mut folders: Vec<FolderId> = Vec::new();
    for named in folder_ids.into_iter().chain(source_ids).flatten() {
        let folder = match named.parse::<FolderId>() {
            Ok(id) => app.store.folder(&id).await?,
            Err(_) => None,
        };
        let Folder { id, .. } = folder.ok_or_else(|| missing::object("Source", &named))?;
        if !folders.contains(&id) {
            folders.push(id);
        }
    }
    Ok(Some(folders))
}

/// The agent's system message shows the folders that it was made with.
pub(crate) async fn shown(app: &App, agent: AgentId) -> Result<(), Refusal> {
    app.engine.recompile_after_change(agent).await?;
    Ok(())
}
