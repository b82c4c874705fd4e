//! The texts of a folder's files in pieces, as they are searched.

use axum::{Json, extract::State};
use bulkhead_store::{FilePassageFilter, Paging};

use super::find;
use crate::{
    app::App,
    contract::{
        Parameters, Refusal,
        document::Refusals,
        query::{ByCreation, FromQuery, Order, Page, Query},
    },
    http::{AppState, archives::view::PassageView, missing, query::Path},
};

/// Passages of one answer where the client names no number.
const LIMIT_DEFAULT: u32 = 100;

/// Which part of the list.
pub(crate) struct PageQuery(pub(super) Page);

impl FromQuery for PageQuery {
    fn from_query(query: &mut Query) -> Self {
        Self(query.page_by_creation(LIMIT_DEFAULT, Order::Descending))
    }
}

/// The passages of a folder's files, the newest first unless told otherwise.
#[utoipa::path(
    get,
    path = "/v1/folders/{folder_id}/passages",
    operation_id = "list_folder_passages",
    tag = "folders",
    params(("folder_id" = String, Path, description = "the folder's id"), ByCreation, Page),
    responses((status = OK, body = Vec<PassageView>, description = "the passages"), Refusals)
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    Path(folder_id): Path<String>,
    Parameters(PageQuery(page)): Parameters<PageQuery>,
) -> Result<Json<Vec<PassageView>>, Refusal> {
    all(&app, &folder_id, page.into()).await.map(Json)
}

/// The passages of a folder's files.
pub(super) async fn all(
    app: &App,
    folder_id: &str,
    paging: Paging,
) -> Result<Vec<PassageView>, Refusal> {
    let folder = find::folder(app, folder_id).await?;
    let filter = FilePassageFilter {
        folder_id: folder.id,
        file_id: None,
        paging,
    };
    let passages = app.store.file_passages(&filter).await;
    let passages = passages.map_err(missing::stored)?.into_iter();
    let view = |passage| PassageView::of_file(passage, &folder);
    Ok(passages.map(view).collect())
}
