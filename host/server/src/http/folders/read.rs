//! One folder, many, and the agents that have one.

use axum::{Json, extract::State};
use bulkhead_domain::{Folder, id::FolderId};
use bulkhead_store::{FolderAgentsFilter, FolderFileFilter, FolderFilter, PAGE_MAX, Paging};
use serde::Serialize;
use utoipa::ToSchema;

use super::{find, view::FolderView};
use crate::{
    app::App,
    contract::{
        Parameters, Refusal,
        document::Refusals,
        query::{ByCreation, FromQuery, Order, Page, Query},
    },
    http::{AppState, missing, query::Path, scope},
};

/// Entries of one answer where the client names no number.
const LIMIT_DEFAULT: u32 = 50;

/// Which folders.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// of this name
    name: Option<String>,
}

/// Which folders, and which part of their list.
pub(crate) struct ListQuery {
    which: Which,
    page: Page,
}

impl FromQuery for ListQuery {
    fn from_query(query: &mut Query) -> Self {
        Self {
            which: Which {
                name: query.text("name"),
            },
            page: query.page_by_creation(LIMIT_DEFAULT, Order::Ascending),
        }
    }
}

/// Which part of the agents of a folder.
pub(crate) struct AgentsQuery(Page);

impl FromQuery for AgentsQuery {
    fn from_query(query: &mut Query) -> Self {
        Self(query.page_by_creation(LIMIT_DEFAULT, Order::Descending))
    }
}

/// What the numbers of all folders are to have.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct MetadataQuery {
    /// folder by folder too, with the files of each
    #[param(required = false)]
    include_detailed_per_source_metadata: bool,
}

impl FromQuery for MetadataQuery {
    fn from_query(query: &mut Query) -> Self {
        let name = "include_detailed_per_source_metadata";
        Self {
            include_detailed_per_source_metadata: query.boolean(name).unwrap_or(false),
        }
    }
}

/// How much is in all folders.
#[derive(Default, Serialize, ToSchema)]
#[schema(as = OrganizationSourcesStats)]
pub(crate) struct FoldersView {
    total_sources: u64,
    total_files: u64,
    /// bytes
    total_size: u64,
    sources: Vec<FolderSizeView>,
}

/// How much is in a folder.
#[derive(Serialize, ToSchema)]
#[schema(as = SourceStats)]
pub(crate) struct FolderSizeView {
    source_id: String,
    source_name: String,
    file_count: u64,
    /// bytes
    total_size: u64,
    files: Vec<FileSizeView>,
}

/// How large a file is.
#[derive(Serialize, ToSchema)]
#[schema(as = FileStats)]
pub(crate) struct FileSizeView {
    file_id: String,
    file_name: String,
    /// bytes
    file_size: u64,
}

/// One folder.
#[utoipa::path(
    get,
    path = "/v1/folders/{folder_id}",
    operation_id = "retrieve_folder",
    tag = "folders",
    params(("folder_id" = String, Path, description = "the folder's id")),
    responses((status = OK, body = FolderView, description = "the folder"), Refusals)
)]
pub(crate) async fn get(
    State(app): State<AppState>,
    Path(folder_id): Path<String>,
) -> Result<Json<FolderView>, Refusal> {
    let folder = find::folder(&app, &folder_id).await?;
    Ok(Json(folder.into()))
}

/// Folders, the oldest first unless told otherwise.
#[utoipa::path(
    get,
    path = "/v1/folders/",
    operation_id = "list_folders",
    tag = "folders",
    params(Which, ByCreation, Page),
    responses((status = OK, body = Vec<FolderView>, description = "the folders"), Refusals)
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    Parameters(ListQuery { which, page }): Parameters<ListQuery>,
) -> Result<Json<Vec<FolderView>>, Refusal> {
    let filter = FolderFilter {
        name: which.name,
        created_by: scope::only(),
        paging: page.into(),
        ..FolderFilter::default()
    };
    let folders = app.store.folders(&filter).await;
    let folders = folders.map_err(missing::stored)?.into_iter();
    Ok(Json(folders.map(FolderView::from).collect()))
}

/// How many folders there are.
#[utoipa::path(
    get,
    path = "/v1/folders/count",
    operation_id = "count_folders",
    tag = "folders",
    responses((status = OK, body = u64, content_type = "application/json", description = "the number"), Refusals)
)]
pub(crate) async fn count(State(app): State<AppState>) -> Result<Json<u64>, Refusal> {
    let filter = FolderFilter {
        created_by: scope::only(),
        ..FolderFilter::default()
    };
    Ok(Json(app.store.count_folders(&filter).await?))
}

/// The id of the folder with this name, the oldest where several creators have one.
#[utoipa::path(
    get,
    path = "/v1/folders/name/{folder_name}",
    operation_id = "get_folder_by_name",
    tag = "folders",
    params(("folder_name" = String, Path, description = "the folder's name")),
    responses((status = OK, body = String, content_type = "application/json", description = "its id"), Refusals)
)]
pub(crate) async fn by_name(
    State(app): State<AppState>,
    Path(folder_name): Path<String>,
) -> Result<Json<String>, Refusal> {
    let filter = FolderFilter {
        name: Some(folder_name.clone()),
        created_by: scope::only(),
        paging: Paging {
            ascending: true,
            limit: Some(1),
            ..Paging::default()
        },
        ..FolderFilter::default()
    };
    let found = app.store.folders(&filter).await.map_err(missing::stored)?;
    let found = found.first().map(|folder| folder.id.to_string());
    let unknown = || Refusal::not_found(format!("Source with name={folder_name} not found."));
    found.map(Json).ok_or_else(unknown)
}

/// How much is in all folders that whoever asks sees. Folder by folder it is the first thousand, with
/// the first thousand files of each.
#[utoipa::path(
    get,
    path = "/v1/folders/metadata",
    operation_id = "retrieve_metadata",
    tag = "folders",
    params(MetadataQuery),
    responses((status = OK, body = FoldersView, description = "the numbers"), Refusals)
)]
pub(crate) async fn metadata(
    State(app): State<AppState>,
    Parameters(query): Parameters<MetadataQuery>,
) -> Result<Json<FoldersView>, Refusal> {
    let mut view = FoldersView::default();
    let mut after = None;
    loop {
        let filter = FolderFilter {
            created_by: scope::only(),
            paging: first_page(after),
            ..FolderFilter::default()
        };
        let folders = app.store.folders(&filter).await.map_err(missing::stored)?;
        let Some(last) = folders.last() else { break };
        after = Some(last.id.to_string());
        let ids: Vec<FolderId> = folders.iter().map(|folder| folder.id).collect();
        for size in app.store.folder_sizes(&ids).await? {
            view.total_sources += 1;
            view.total_files += size.files;
            view.total_size += size.bytes;
            let is_shown = query.include_detailed_per_source_metadata
                && view.sources.len() < PAGE_MAX as usize;
            let folder = folders.iter().find(|folder| folder.id == size.id);
            if let Some(folder) = folder.filter(|_| is_shown) {
                view.sources.push(FolderSizeView {
                    source_id: folder.id.to_string(),
                    source_name: folder.name.clone(),
                    file_count: size.files,
                    total_size: size.bytes,
                    files: file_sizes(&app, folder).await?,
                });
            }
        }
    }
    Ok(Json(view))
}

async fn file_sizes(app: &App, folder: &Folder) -> Result<Vec<FileSizeView>, Refusal> {
    let filter = FolderFileFilter {
        folder_id: folder.id,
        with_content: false,
        paging: first_page(None),
    };
    let files = app.store.folder_files(&filter).await?.into_iter();
    let sizes = files.map(|file| FileSizeView {
        file_id: file.id.to_string(),
        file_name: file.name,
        file_size: file.size,
    });
    Ok(sizes.collect())
}

fn first_page(after: Option<String>) -> Paging {
    Paging {
        after,
        ascending: true,
        limit: Some(PAGE_MAX),
        ..Paging::default()
    }
}

/// The ids of the agents that have a folder.
#[utoipa::path(
    get,
    path = "/v1/folders/{folder_id}/agents",
    operation_id = "list_agents_for_folder",
    tag = "folders",
    params(("folder_id" = String, Path, description = "the folder's id"), ByCreation, Page),
    responses((status = OK, body = Vec<String>, description = "the ids"), Refusals)
)]
pub(crate) async fn agents(
    State(app): State<AppState>,
    Path(folder_id): Path<String>,
    Parameters(AgentsQuery(page)): Parameters<AgentsQuery>,
) -> Result<Json<Vec<String>>, Refusal> {
    agent_ids(&app, &folder_id, page.into()).await.map(Json)
}

/// The ids of the agents that have a folder.
pub(super) async fn agent_ids(
    app: &App,
    folder_id: &str,
    paging: Paging,
) -> Result<Vec<String>, Refusal> {
    let folder = find::folder(app, folder_id).await?;
    let filter = FolderAgentsFilter {
        folder_id: folder.id,
        created_by: scope::only(),
        paging,
    };
    let agents = app.store.agents_of_folder(&filter).await;
    let agents = agents.map_err(missing::stored)?;
    Ok(agents.iter().map(ToString::to_string).collect())
}
