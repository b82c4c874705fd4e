//! The older name of folders: sources. The same things, in a slightly larger form.

use axum::{Json, extract::State};
use bulkhead_store::{FolderFilter, PAGE_MAX, Paging};
use utoipa::openapi::RefOr;
use utoipa_axum::router::UtoipaMethodRouter;

use super::{
    files, find, passages, read,
    save::{self, SourceCreate, SourceUpdate},
    upload,
    view::{FileView, SourceView},
};
use crate::{
    contract::{
        Body, Parameters, Refusal,
        document::Refusals,
        query::{FromQuery, Query},
    },
    http::{AppState, archives::view::PassageView, missing, query::Path, routes::routes, scope},
};

/// Entries of one answer where the client names no number.
const FILES_DEFAULT: u32 = 1000;
const PASSAGES_DEFAULT: u32 = 100;

/// The routes. Where sources are told apart from folders by their path alone, handlers are those of
/// folders.
pub(crate) fn routes() -> Vec<UtoipaMethodRouter<AppState>> {
    vec![
        routes!(list, create),
        routes!(get, update),
        routes!(agents),
        routes!(list_files),
        routes!(list_passages),
        older(routes!(read::count), "count_sources"),
        older(routes!(read::metadata), "get_sources_metadata"),
        older(routes!(read::by_name), "get_source_id_by_name"),
        older(routes!(save::delete), "delete_source"),
        older(routes!(files::get), "get_file_metadata"),
        older(routes!(files::delete), "delete_file_from_source"),
        older(routes!(upload::upload), "upload_file_to_source"),
    ]
}

/// A route of folders under the path of sources. `name`: what the document calls it.
fn older(
    (schemas, mut paths, handler): UtoipaMethodRouter<AppState>,
    name: &str,
) -> UtoipaMethodRouter<AppState> {
    let items = std::mem::take(&mut paths.paths).into_iter();
    let renamed = items.map(|(path, mut item)| {
        let operations = [&mut item.get, &mut item.post, &mut item.delete];
        for operation in operations.into_iter().flatten() {
            operation.operation_id = Some(name.to_owned());
            operation.tags = Some(vec!["sources".to_owned()]);
            for parameter in operation.parameters.iter_mut().flatten() {
                if let RefOr::T(parameter) = parameter {
                    parameter.name = parameter.name.replace("folder", "source");
                }
            }
        }
        (path.replace("folder", "source"), item)
    });
    paths.paths = renamed.collect();
    (schemas, paths, handler)
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
    /// taken and without effect: what a list says of files is always up to date
    #[expect(
        dead_code,
        reason = "it is checked and stands in the document of the API"
    )]
    check_status_updates: Option<bool>,
}

impl FromQuery for FilesQuery {
    fn from_query(query: &mut Query) -> Self {
        Self {
            after: query.text("after"),
            limit: query.limit(FILES_DEFAULT),
            include_content: query.boolean("include_content").unwrap_or(false),
            check_status_updates: query.boolean("check_status_updates"),
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
        Self {
            before: query.text("before"),
            after: query.text("after"),
            limit: query.limit(PASSAGES_DEFAULT),
        }
    }
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
