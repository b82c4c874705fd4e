//! The files of an agent's folders, and which of them it sees.

use axum::{Json, extract::State};
use bulkhead_domain::{folder::view::Lines, id::FileId};
use bulkhead_store::{AgentFileFilter, Paging};
use serde::Serialize;
use utoipa::ToSchema;

use super::find;
use crate::{
    contract::{
        Parameters, Refusal,
        document::Refusals,
        id,
        query::{ByCreation, FromQuery, Order, Page, Query},
    },
    http::{AppState, folders::view::AgentFileView, missing, query::Path},
};

/// Files of one answer where the client names no number.
const LIMIT_DEFAULT: u32 = 100;

/// Which files of the agent.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// the `next_cursor` of an earlier answer
    cursor: Option<String>,
    /// only open ones, or only closed ones
    is_open: Option<bool>,
}

/// Which files, and which part of their list.
pub(crate) struct ListQuery {
    which: Which,
    page: Page,
}

impl FromQuery for ListQuery {
    fn from_query(query: &mut Query) -> Self {
        Self {
            which: Which {
                cursor: query.text("cursor"),
                is_open: query.boolean("is_open"),
            },
            page: query.page_by_creation(LIMIT_DEFAULT, Order::Descending),
        }
    }
}

/// A page of files.
#[derive(Serialize, ToSchema)]
#[schema(as = PaginatedAgentFiles)]
pub(crate) struct AgentFilesView {
    files: Vec<AgentFileView>,
    /// where the next page begins; null on the last one
    next_cursor: Option<String>,
    has_more: bool,
}

/// What became of a file.
#[derive(Serialize, ToSchema)]
pub(crate) struct ClosedFile {
    message: String,
}

/// The files of an agent, the last that came to it first unless told otherwise.
#[utoipa::path(
    get,
    path = "/v1/agents/{agent_id}/files",
    operation_id = "list_files_for_agent",
    tag = "agents",
    params(("agent_id" = String, Path, description = "the agent's id"), Which, ByCreation, Page),
    responses((status = OK, body = AgentFilesView, description = "the files"), Refusals)
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    Path(agent_id): Path<String>,
    Parameters(ListQuery { which, page }): Parameters<ListQuery>,
) -> Result<Json<AgentFilesView>, Refusal> {
    let agent = find::agent(&app, &agent_id).await?;
    let mut paging = Paging::from(page);
    paging.after = which.cursor.or(paging.after);
    let mut filter = AgentFileFilter {
        agent_id: agent.id,
        is_open: which.is_open,
        paging,
    };
    let files = app.store.agent_files(&filter).await;
    let files = files.map_err(missing::stored)?;
    let mut next_cursor = None;
    if let Some(last) = files.last() {
        // A page may end before its limit, so that only a look tells whether there is another one.
        filter.paging.after = Some(last.id.to_string());
        filter.paging.before = None;
        filter.paging.limit = Some(1);
        let more = app.store.agent_files(&filter).await;
        if !more.map_err(missing::stored)?.is_empty() {
            next_cursor = Some(last.id.to_string());
        }
    }
    Ok(Json(AgentFilesView {
        has_more: next_cursor.is_some(),
        files: files.into_iter().map(AgentFileView::from).collect(),
        next_cursor,
    }))
}

/// Puts the beginning of a file into an agent's view. The least recently used files are closed where
/// more would be open than may be.
#[utoipa::path(
    patch,
    path = "/v1/agents/{agent_id}/files/{file_id}/open",
    operation_id = "open_file_for_agent",
    tag = "agents",
    params(
        ("agent_id" = String, Path, description = "the agent's id"),
        ("file_id" = String, Path, description = "the file's id"),
    ),
    responses(
        (status = OK, body = Vec<String>, description = "the names of files that were closed for it"),
        Refusals,
    )
)]
pub(crate) async fn open(
    State(app): State<AppState>,
    Path((agent_id, file_id)): Path<(String, String)>,
) -> Result<Json<Vec<String>>, Refusal> {
    let agent = find::id(&agent_id)?;
    let file: FileId = id::parse("file_id", &file_id)?;
    let opened = app.store.open_file(&agent, &file, Lines::default()).await;
    Ok(Json(opened.map_err(missing::stored)?.closed))
}

/// Takes a file out of an agent's view.
#[utoipa::path(
    patch,
    path = "/v1/agents/{agent_id}/files/{file_id}/close",
    operation_id = "close_file_for_agent",
    tag = "agents",
    params(
        ("agent_id" = String, Path, description = "the agent's id"),
        ("file_id" = String, Path, description = "the file's id"),
    ),
    responses((status = OK, body = ClosedFile, description = "it is closed"), Refusals)
)]
pub(crate) async fn close(
    State(app): State<AppState>,
    Path((agent_id, file_id)): Path<(String, String)>,
) -> Result<Json<ClosedFile>, Refusal> {
    let agent = find::id(&agent_id)?;
    let file: FileId = id::parse("file_id", &file_id)?;
    let closed = app.store.close_file(&agent, &file).await;
    closed.map_err(missing::stored)?;
    Ok(Json(ClosedFile {
        message: format!("File id={file} successfully closed"),
    }))
}

/// Takes all files out of an agent's view.
#[utoipa::path(
    patch,
    path = "/v1/agents/{agent_id}/files/close-all",
    operation_id = "close_all_files_for_agent",
    tag = "agents",
    params(("agent_id" = String, Path, description = "the agent's id")),
    responses((status = OK, body = Vec<String>, description = "the names of those that were open"), Refusals)
)]
pub(crate) async fn close_all(
    State(app): State<AppState>,
    Path(agent_id): Path<String>,
) -> Result<Json<Vec<String>>, Refusal> {
    let agent = find::id(&agent_id)?;
    let closed = app.store.close_files_but(&agent, &[]).await;
    Ok(Json(closed.map_err(missing::stored)?))
}
