//! The older name of folders: sources. The same things, in a slightly larger form.

use axum::{
    Json,
    extract::{Request, State},
};
use bulkhead_store::{FolderFilter, PAGE_MAX, Paging};
use http::StatusCode;
use serde_json::Value;
use utoipa_axum::{router::UtoipaMethodRouter, routes};

use super::{
    files, find, passages,
    read::{self, FoldersView, MetadataQuery},
    save::{self, SourceCreate, SourceUpdate},
    upload::{self, UploadForm, UploadQuery},
    view::{FileView, SourceView},
};
use crate::{
    contract::{
        Body, Parameters, Refusal,
        document::Refusals,
        query::{FromQuery, Order, Query},
    },
    http::{AppState, archives::view::PassageView, missing, query::Path, scope},
};

/// Entries of one answer where the client names no number.
const FILES_DEFAULT: u32 = 1000;
const PASSAGES_DEFAULT: u32 = 100;

/// The routes.
pub(crate) fn routes() -> Vec<UtoipaMethodRouter<AppState>> {
    vec![
        routes!(list, create),
        routes!(count),
        routes!(metadata),
        routes!(by_name),
        routes!(get, update, delete),
        routes!(agents),
        routes!(list_files),
        routes!(get_file),
        routes!(delete_file),
        routes!(upload_file),
        routes!(list_passages),
    ]
}

/// Which part of the files of a source.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct FilesQuery {
    /// what follows the file with this id
    after: Option<String>,
    /// how many files
    #[param(required = false)]
    limit: u32,
    /// their texts too
    #[param(required = false)]
    include_content: bool,
}

impl FromQuery for FilesQuery {
    fn from_query(query: &mut Query) -> Self {
        query.boolean("check_status_updates");
        Self {
            after: query.text("after"),
            limit: query.limit(FILES_DEFAULT),
            include_content: query.boolean("include_content").unwrap_or(false),
        }
    }
}

/// Which part of the passages of a source.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PassagesQuery {
    /// what comes before the passage with this id
    before: Option<String>,
    /// what follows the passage with this id
    after: Option<String>,
    /// how many passages
    #[param(required = false)]
    limit: u32,
}

impl FromQuery for PassagesQuery {
    fn from_query(query: &mut Query) -> Self {
        let page = query.page(PASSAGES_DEFAULT, Order::Ascending);
        Self {
            before: page.before,
            after: page.after,
            limit: page.limit,
        }
    }
}

/// How many sources there are.
#[utoipa::path(
    get,
    path = "/v1/sources/count",
    operation_id = "count_sources",
    tag = "sources",
    responses((status = OK, body = u64, content_type = "application/json", description = "the number"), Refusals)
)]
pub(crate) async fn count(State(app): State<AppState>) -> Result<Json<u64>, Refusal> {
    read::number(&app).await.map(Json)
}

/// One source.
#[utoipa::path(
    get,
    path = "/v1/sources/{source_id}",
    operation_id = "retrieve_source",
    tag = "sources",
    params(("source_id" = String, Path, description = "the source's id")),
    responses((status = OK, body = SourceView, description = "the source"), Refusals)
)]
pub(crate) async fn get(
    State(app): State<AppState>,
    Path(source_id): Path<String>,
) -> Result<Json<SourceView>, Refusal> {
    let folder = find::folder(&app, &source_id).await?;
    Ok(Json(folder.into()))
}

/// The first thousand sources, the oldest first.
#[utoipa::path(
    get,
    path = "/v1/sources/",
    operation_id = "list_sources",
    tag = "sources",
    responses((status = OK, body = Vec<SourceView>, description = "the sources"), Refusals)
)]
pub(crate) async fn list(State(app): State<AppState>) -> Result<Json<Vec<SourceView>>, Refusal> {
    let filter = FolderFilter {
        created_by: scope::only(),
        paging: Paging {
            ascending: true,
            limit: Some(PAGE_MAX),
            ..Paging::default()
        },
        ..FolderFilter::default()
    };
    let folders = app.store.folders(&filter).await;
    let folders = folders.map_err(missing::stored)?.into_iter();
    Ok(Json(folders.map(SourceView::from).collect()))
}

/// Makes a source.
#[utoipa::path(
    post,
    path = "/v1/sources/",
    operation_id = "create_source",
    tag = "sources",
    request_body = SourceCreate,
    responses((status = OK, body = SourceView, description = "the source"), Refusals)
)]
pub(crate) async fn create(
    State(app): State<AppState>,
    Body(body): Body<SourceCreate>,
) -> Result<Json<SourceView>, Refusal> {
    save::new(&app, body)
        .await
        .map(|folder| Json(folder.into()))
}

/// Changes the fields that are given.
#[utoipa::path(
    patch,
    path = "/v1/sources/{source_id}",
    operation_id = "modify_source",
    tag = "sources",
    params(("source_id" = String, Path, description = "the source's id")),
    request_body = SourceUpdate,
    responses((status = OK, body = SourceView, description = "the source"), Refusals)
)]
pub(crate) async fn update(
    State(app): State<AppState>,
    Path(source_id): Path<String>,
    Body(body): Body<SourceUpdate>,
) -> Result<Json<SourceView>, Refusal> {
    save::change(&app, &source_id, body)
        .await
        .map(|folder| Json(folder.into()))
}

/// Deletes a source with its files.
#[utoipa::path(
    delete,
    path = "/v1/sources/{source_id}",
    operation_id = "delete_source",
    tag = "sources",
    params(("source_id" = String, Path, description = "the source's id")),
    responses((status = OK, body = Option<Object>, description = "null"), Refusals)
)]
pub(crate) async fn delete(
    state: State<AppState>,
    source_id: Path<String>,
) -> Result<Json<Value>, Refusal> {
    save::delete(state, source_id).await
}

/// The id of the source with this name.
#[utoipa::path(
    get,
    path = "/v1/sources/name/{source_name}",
    operation_id = "get_source_id_by_name",
    tag = "sources",
    params(("source_name" = String, Path, description = "the source's name")),
    responses((status = OK, body = String, content_type = "application/json", description = "its id"), Refusals)
)]
pub(crate) async fn by_name(
    State(app): State<AppState>,
    Path(source_name): Path<String>,
) -> Result<Json<String>, Refusal> {
    read::id_of(&app, source_name).await.map(Json)
}

/// How much is in all sources.
#[utoipa::path(
    get,
    path = "/v1/sources/metadata",
    operation_id = "get_sources_metadata",
    tag = "sources",
    params(MetadataQuery),
    responses((status = OK, body = FoldersView, description = "the numbers"), Refusals)
)]
pub(crate) async fn metadata(
    State(app): State<AppState>,
    Parameters(query): Parameters<MetadataQuery>,
) -> Result<Json<FoldersView>, Refusal> {
    read::numbers(&app, &query).await.map(Json)
}

/// The ids of the agents that have a source, the first thousand.
#[utoipa::path(
    get,
    path = "/v1/sources/{source_id}/agents",
    operation_id = "get_agents_for_source",
    tag = "sources",
    params(("source_id" = String, Path, description = "the source's id")),
    responses((status = OK, body = Vec<String>, description = "the ids"), Refusals)
)]
pub(crate) async fn agents(
    State(app): State<AppState>,
    Path(source_id): Path<String>,
) -> Result<Json<Vec<String>>, Refusal> {
    let paging = Paging {
        limit: Some(PAGE_MAX),
        ..Paging::default()
    };
    read::agent_ids(&app, &source_id, paging).await.map(Json)
}

/// The files of a source, the newest first.
#[utoipa::path(
    get,
    path = "/v1/sources/{source_id}/files",
    operation_id = "list_source_files",
    tag = "sources",
    params(("source_id" = String, Path, description = "the source's id"), FilesQuery),
    responses((status = OK, body = Vec<FileView>, description = "the files"), Refusals)
)]
pub(crate) async fn list_files(
    State(app): State<AppState>,
    Path(source_id): Path<String>,
    Parameters(query): Parameters<FilesQuery>,
) -> Result<Json<Vec<FileView>>, Refusal> {
    let content = files::Content {
        include_content: query.include_content,
    };
    let paging = Paging {
        after: query.after,
        limit: Some(query.limit),
        ..Paging::default()
    };
    files::all(&app, &source_id, content, paging)
        .await
        .map(Json)
}

/// One file of a source.
#[utoipa::path(
    get,
    path = "/v1/sources/{source_id}/files/{file_id}",
    operation_id = "get_file_metadata",
    tag = "sources",
    params(
        ("source_id" = String, Path, description = "the source's id"),
        ("file_id" = String, Path, description = "the file's id"),
        files::Content,
    ),
    responses((status = OK, body = FileView, description = "the file"), Refusals)
)]
pub(crate) async fn get_file(
    State(app): State<AppState>,
    Path((source_id, file_id)): Path<(String, String)>,
    Parameters(content): Parameters<files::Content>,
) -> Result<Json<FileView>, Refusal> {
    files::one(&app, &source_id, &file_id, content)
        .await
        .map(Json)
}

/// Deletes a file of a source.
#[utoipa::path(
    delete,
    path = "/v1/sources/{source_id}/{file_id}",
    operation_id = "delete_file_from_source",
    tag = "sources",
    params(
        ("source_id" = String, Path, description = "the source's id"),
        ("file_id" = String, Path, description = "the file's id"),
    ),
    responses((status = NO_CONTENT, description = "it is deleted"), Refusals)
)]
pub(crate) async fn delete_file(
    State(app): State<AppState>,
    Path((source_id, file_id)): Path<(String, String)>,
) -> Result<StatusCode, Refusal> {
    files::remove(&app, &source_id, &file_id).await
}

/// Puts a file into a source.
#[utoipa::path(
    post,
    path = "/v1/sources/{source_id}/upload",
    operation_id = "upload_file_to_source",
    tag = "sources",
    params(("source_id" = String, Path, description = "the source's id"), UploadQuery),
    request_body(content = UploadForm, content_type = "multipart/form-data"),
    responses((status = OK, body = FileView, description = "the file"), Refusals)
)]
pub(crate) async fn upload_file(
    State(app): State<AppState>,
    Path(source_id): Path<String>,
    Parameters(query): Parameters<UploadQuery>,
    request: Request,
) -> Result<Json<FileView>, Refusal> {
    upload::take(app, &source_id, query, request)
        .await
        .map(Json)
}

/// The passages of a source's files, the oldest first.
#[utoipa::path(
    get,
    path = "/v1/sources/{source_id}/passages",
    operation_id = "list_source_passages",
    tag = "sources",
    params(("source_id" = String, Path, description = "the source's id"), PassagesQuery),
    responses((status = OK, body = Vec<PassageView>, description = "the passages"), Refusals)
)]
pub(crate) async fn list_passages(
    State(app): State<AppState>,
    Path(source_id): Path<String>,
    Parameters(query): Parameters<PassagesQuery>,
) -> Result<Json<Vec<PassageView>>, Refusal> {
    let paging = Paging {
        before: query.before,
        after: query.after,
        ascending: true,
        limit: Some(query.limit),
    };
    passages::all(&app, &source_id, paging).await.map(Json)
}
