//! The files of a folder.

use axum::{Json, extract::State};
use bulkhead_domain::id::FileId;
use bulkhead_store::{FolderFileFilter, Paging};
use http::StatusCode;

use super::{find, view::FileView};
use crate::{
    app::App,
    contract::{
        Parameters, Refusal,
        document::Refusals,
        id,
        query::{ByCreation, FromQuery, Order, Page, Query},
    },
    http::{AppState, missing, query::Path},
};

/// Files of one answer where the client names no number.
const LIMIT_DEFAULT: u32 = 1000;

/// What of files the answer carries.
#[derive(Clone, Copy, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Content {
    /// their texts too
    #[param(required = false)]
    pub(super) include_content: bool,
}

impl FromQuery for Content {
    fn from_query(query: &mut Query) -> Self {
        Self {
            include_content: query.boolean("include_content").unwrap_or(false),
        }
    }
}

/// Which part of the list.
pub(crate) struct ListQuery {
    pub(super) content: Content,
    pub(super) page: Page,
}

impl FromQuery for ListQuery {
    fn from_query(query: &mut Query) -> Self {
        Self {
            content: Content::from_query(query),
            page: query.page_by_creation(LIMIT_DEFAULT, Order::Descending),
        }
    }
}

/// The files of a folder, the newest first unless told otherwise.
#[utoipa::path(
    get,
    path = "/v1/folders/{folder_id}/files",
    operation_id = "list_files_for_folder",
    tag = "folders",
    params(("folder_id" = String, Path, description = "the folder's id"), Content, ByCreation, Page),
    responses((status = OK, body = Vec<FileView>, description = "the files"), Refusals)
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    Path(folder_id): Path<String>,
    Parameters(ListQuery { content, page }): Parameters<ListQuery>,
) -> Result<Json<Vec<FileView>>, Refusal> {
    all(&app, &folder_id, content, page.into()).await.map(Json)
}

/// The files of a folder.
pub(super) async fn all(
    app: &App,
    folder_id: &str,
    content: Content,
    paging: Paging,
) -> Result<Vec<FileView>, Refusal> {
    let folder = find::folder(app, folder_id).await?;
    let filter = FolderFileFilter {
        folder_id: folder.id,
        with_content: content.include_content,
        paging,
    };
    let files = app.store.folder_files(&filter).await;
    let files = files.map_err(missing::stored)?.into_iter();
    Ok(files.map(FileView::from).collect())
}

/// One file of a folder.
#[utoipa::path(
    get,
    path = "/v1/folders/{folder_id}/files/{file_id}",
    operation_id = "retrieve_file",
    tag = "folders",
    params(
        ("folder_id" = String, Path, description = "the folder's id"),
        ("file_id" = String, Path, description = "the file's id"),
        Content,
    ),
    responses((status = OK, body = FileView, description = "the file"), Refusals)
)]
pub(crate) async fn get(
    State(app): State<AppState>,
    Path((folder_id, file_id)): Path<(String, String)>,
    Parameters(content): Parameters<Content>,
) -> Result<Json<FileView>, Refusal> {
    let folder = find::folder(&app, &folder_id).await?;
    let file_id = id::parse("file_id", &file_id)?;
    let file = app
        .store
        .folder_file(&folder.id, &file_id, content.include_content);
    let file = file.await?.ok_or_else(|| not_found(file_id))?;
    Ok(Json(file.into()))
}

/// Deletes a file, also from the agents that have it.
#[utoipa::path(
    delete,
    path = "/v1/folders/{folder_id}/{file_id}",
    operation_id = "delete_file_from_folder",
    tag = "folders",
    params(
        ("folder_id" = String, Path, description = "the folder's id"),
        ("file_id" = String, Path, description = "the file's id"),
    ),
    responses((status = NO_CONTENT, description = "it is deleted"), Refusals)
)]
pub(crate) async fn delete(
    State(app): State<AppState>,
    Path((folder_id, file_id)): Path<(String, String)>,
) -> Result<StatusCode, Refusal> {
    let folder = find::folder(&app, &folder_id).await?;
    let file_id = id::parse("file_id", &file_id)?;
    if app.store.delete_folder_file(&folder.id, &file_id).await? {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(not_found(file_id))
    }
}

/// 404 for a file.
fn not_found(id: FileId) -> Refusal {
    missing::object("FileMetadata", id)
}
