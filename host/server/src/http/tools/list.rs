//! One tool, many, and how many.

use axum::{
    Json,
    extract::{Path, RawQuery, State},
};
use bulkhead_store::{StoreError, ToolFilter, ToolRecord, ToolType};
use serde_json::{Value, json};

use super::view::{Detail, ToolView};
use crate::{
    app::App,
    contract::{Refusal, id, repr},
    http::AppState,
};

/// Tools of one answer where the client names no number.
const LIMIT_DEFAULT: u32 = 50;

#[utoipa::path(
    get,
    path = "/v1/tools/{tool_id}",
    operation_id = "retrieve_tool",
    tag = "tools",
    params(("tool_id" = String, Path, description = "the tool's id")),
    responses(
        (status = OK, body = ToolView, description = "the tool"),
        (status = BAD_REQUEST, body = Detail, description = "the source or the schema is wrong, in the words of the contract"),
        (status = NOT_FOUND, body = Detail, description = "there is no such tool"),
        (status = UNPROCESSABLE_ENTITY, body = Detail, description = "the request does not have the form"),
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
    params(
        ("name" = Option<String>, Query, description = "of this name"),
        ("names" = Option<Vec<String>>, Query, description = "of one of these names"),
        ("tool_ids" = Option<Vec<String>>, Query, description = "with one of these ids"),
        ("search" = Option<String>, Query, description = "with this in the name"),
        ("tool_types" = Option<Vec<String>>, Query, description = "of one of these types"),
        ("exclude_tool_types" = Option<Vec<String>>, Query, description = "of none of these types"),
        ("return_only_letta_tools" = Option<bool>, Query, description = "only those that come with the server"),
        ("exclude_letta_tools" = Option<bool>, Query, description = "without those that come with the server"),
        ("before" = Option<String>, Query, description = "what comes before the tool with this id"),
        ("after" = Option<String>, Query, description = "what follows the tool with this id"),
        ("order" = Option<String>, Query, description = "asc or desc, the newest first by default"),
        ("limit" = Option<u32>, Query, description = "how many, 50 by default"),
    ),
    responses(
        (status = OK, body = Vec<ToolView>, description = "the tools"),
        (status = BAD_REQUEST, body = Detail, description = "the source or the schema is wrong, in the words of the contract"),
        (status = NOT_FOUND, body = Detail, description = "there is no such tool"),
        (status = UNPROCESSABLE_ENTITY, body = Detail, description = "the request does not have the form"),
    )
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    RawQuery(query): RawQuery,
) -> Result<Json<Vec<ToolView>>, Refusal> {
    let filter = filter(query.as_deref(), true)?;
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
    params(
        ("name" = Option<String>, Query, description = "of this name"),
        ("names" = Option<Vec<String>>, Query, description = "of one of these names"),
        ("tool_ids" = Option<Vec<String>>, Query, description = "with one of these ids"),
        ("search" = Option<String>, Query, description = "with this in the name"),
        ("tool_types" = Option<Vec<String>>, Query, description = "of one of these types"),
        ("exclude_tool_types" = Option<Vec<String>>, Query, description = "of none of these types"),
        ("return_only_letta_tools" = Option<bool>, Query, description = "only those that come with the server"),
        ("exclude_letta_tools" = Option<bool>, Query, description = "without those that come with the server"),
    ),
    responses(
        (status = OK, body = u64, description = "how many"),
        (status = BAD_REQUEST, body = Detail, description = "the source or the schema is wrong, in the words of the contract"),
        (status = NOT_FOUND, body = Detail, description = "there is no such tool"),
        (status = UNPROCESSABLE_ENTITY, body = Detail, description = "the request does not have the form"),
    )
)]
pub(crate) async fn count(
    State(app): State<AppState>,
    RawQuery(query): RawQuery,
) -> Result<Json<u64>, Refusal> {
    let filter = filter(query.as_deref(), false)?;
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
        (status = BAD_REQUEST, body = Detail, description = "the source or the schema is wrong, in the words of the contract"),
        (status = NOT_FOUND, body = Detail, description = "there is no such tool"),
        (status = UNPROCESSABLE_ENTITY, body = Detail, description = "the request does not have the form"),
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

/// The query as a filter. `paged`: whether it may name a page.
fn filter(query: Option<&str>, paged: bool) -> Result<ToolFilter, Refusal> {
    let mut filter = ToolFilter {
        limit: Some(LIMIT_DEFAULT),
        ..ToolFilter::default()
    };
    let mut faults = Vec::new();
    for (key, value) in url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
        let (key, value) = (key.as_ref(), value.into_owned());
        match key {
            "name" => filter.name = Some(value),
            "names" => filter.names.get_or_insert_default().push(value),
            "tool_ids" => filter.ids.get_or_insert_default().push(value),
            "search" => filter.search = Some(value),
            // A type that nobody knows is that of no tool.
            "tool_types" => {
                let types = filter.types.get_or_insert_default();
                types.extend(value.parse::<ToolType>());
            }
            "exclude_tool_types" => {
                let types = filter.exclude_types.get_or_insert_default();
                types.extend(value.parse::<ToolType>());
            }
            "return_only_letta_tools" => filter.return_only_letta_tools = is_true(&value),
            "exclude_letta_tools" => filter.exclude_letta_tools = is_true(&value),
            "before" if paged => filter.before = Some(value),
            "after" if paged => filter.after = Some(value),
            "order" if paged && matches!(value.as_str(), "asc" | "desc") => {
                filter.ascending = value == "asc";
            }
            "order" if paged => faults.push(fault(
                "literal_error",
                key,
                "Input should be 'asc' or 'desc'",
                &value,
            )),
            "limit" if paged => match value.parse::<i64>() {
                Ok(limit @ 0..) => {
                    let limit = limit.min(i64::from(bulkhead_store::PAGE_MAX));
                    filter.limit = u32::try_from(limit).ok();
                }
                Ok(_) => faults.push(fault(
                    "greater_than_equal",
                    key,
                    "Input should be greater than or equal to 0",
                    &value,
                )),
                Err(_) => faults.push(fault(
                    "int_parsing",
                    key,
                    "Input should be a valid integer, unable to parse string as an integer",
                    &value,
                )),
            },
            _ => {}
        }
    }
    if faults.is_empty() {
        Ok(filter)
    } else {
        Err(Refusal::invalid(&faults, &[]))
    }
}

fn is_true(value: &str) -> bool {
    matches!(
        value.to_lowercase().as_str(),
        "true" | "1" | "yes" | "on" | "t" | "y"
    )
}

fn fault(kind: &str, key: &str, message: &str, input: &str) -> String {
    let quoted = |text: &str| repr::repr(&Value::from(text));
    format!(
        "{{'type': '{kind}', 'loc': ('query', '{key}'), 'msg': {}, 'input': {}}}",
        quoted(message),
        repr::repr(&json!(input))
    )
}
