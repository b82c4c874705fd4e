//! One tool, many, and how many.

use axum::{
    Json,
    extract::{Path, State},
};
use bulkhead_store::{StoreError, ToolFilter, ToolRecord};

use super::{
    query::{ListQuery, Which},
    view::ToolView,
};
use crate::{
    app::App,
    contract::{
        Parameters, Refusal,
        document::Refusals,
        id,
        query::{ByCreation, Page},
    },
    http::AppState,
};

#[utoipa::path(
    get,
    path = "/v1/tools/{tool_id}",
    operation_id = "retrieve_tool",
    tag = "tools",
    params(("tool_id" = String, Path, description = "the tool's id")),
    responses(
        (status = OK, body = ToolView, description = "the tool"),
        Refusals,
    )
)]
pub(crate) async fn get(
    State(app): State<AppState>,
    Path(tool_id): Path<String>,
) -> Result<Json<ToolView>, Refusal> {
    find(&app, &tool_id).await.map(ToolView::from).map(Json)
}

/// The tool with this id.
pub(super) async fn find(app: &App, tool_id: &str) -> Result<ToolRecord, Refusal> {
    id::check("tool", "tool_id", tool_id)?;
    let found = app.store.tool(tool_id).await?;
    found.ok_or_else(|| not_found(tool_id))
}

pub(super) fn not_found(tool_id: &str) -> Refusal {
    Refusal::not_found(format!(
        "Tool not found with id='['{tool_id}']', access level in ['read'] for actor='{}'",
        id::DEFAULT_USER
    ))
}

#[utoipa::path(
    get,
    path = "/v1/tools/",
    operation_id = "list_tools",
    tag = "tools",
    params(Which, ByCreation, Page),
    responses(
        (status = OK, body = Vec<ToolView>, description = "the tools"),
        Refusals,
    )
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    Parameters(query): Parameters<ListQuery>,
) -> Result<Json<Vec<ToolView>>, Refusal> {
    let filter = ToolFilter::from(query);
    let tools = app
        .store
        .tools(&filter)
        .await
        .map_err(|error| match error {
            StoreError::NotFound { id, .. } => not_found(&id),
            error => error.into(),
        })?;
    Ok(Json(tools.into_iter().map(ToolView::from).collect()))
}

#[utoipa::path(
    get,
    path = "/v1/tools/count",
    operation_id = "count_tools",
    tag = "tools",
    params(Which),
    responses(
        (status = OK, body = u64, content_type = "application/json", description = "how many"),
        Refusals,
    )
)]
pub(crate) async fn count(
    State(app): State<AppState>,
    Parameters(which): Parameters<Which>,
) -> Result<Json<u64>, Refusal> {
    let filter = ToolFilter::from(which);
    Ok(Json(app.store.count_tools(&filter).await?))
}

/// Search by meaning needs a model of embeddings.
pub(super) async fn search() -> Refusal {
    Refusal::bad_request(
        "Tool search requires tool embedding, OpenAI, and Turbopuffer to be enabled.",
    )
}

/// The tools that come with the server. They are there from its start.
#[utoipa::path(
    post,
    path = "/v1/tools/add-base-tools",
    operation_id = "add_base_tools",
    tag = "tools",
    responses(
        (status = OK, body = Vec<ToolView>, description = "the tools that come with the server"),
        Refusals,
    )
)]
pub(crate) async fn add_base_tools(
    State(app): State<AppState>,
) -> Result<Json<Vec<ToolView>>, Refusal> {
    let filter = ToolFilter {
        return_only_letta_tools: true,
        limit: Some(bulkhead_store::PAGE_MAX),
        ..ToolFilter::default()
    };
    let tools = app.store.tools(&filter).await?;
    Ok(Json(tools.into_iter().map(ToolView::from).collect()))
}
