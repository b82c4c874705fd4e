//! Passages by their text.

use axum::{Json, extract::State};
use bulkhead_domain::{Timestamp, id::ArchiveId};
use bulkhead_store::PassageSearch;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::view::PassageView;
use crate::{
    app::App,
    contract::{Body, Refusal, body::Schema, document::Refusals},
    http::{AppState, missing, scope},
};

/// Passages of one answer where the client names no number.
const LIMIT_DEFAULT: u32 = 50;

/// The body of a search.
#[derive(Deserialize, ToSchema)]
pub(crate) struct PassageSearchRequest {
    query: Option<String>,
    agent_id: Option<String>,
    archive_id: Option<String>,
    tags: Option<Vec<String>>,
    tag_match_mode: Option<TagMode>,
    limit: Option<u32>,
    #[schema(value_type = Option<String>)]
    start_date: Option<Timestamp>,
    #[schema(value_type = Option<String>)]
    end_date: Option<Timestamp>,
}

impl Schema for PassageSearchRequest {
    const NAME: &str = "PassageSearchRequest";
}

/// How many of the tags a passage must have.
#[derive(Clone, Copy, Deserialize, PartialEq, Eq, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TagMode {
    /// one of them
    Any,
    /// every one
    All,
}

/// A passage that was found.
#[derive(Serialize, ToSchema)]
pub(crate) struct FoundPassage {
    passage: PassageView,
    /// the share of the query's words that are in it
    score: f64,
    #[schema(value_type = Object)]
    metadata: Value,
}

/// Passages in which words of the query are, those with the most first; without a query the newest.
#[utoipa::path(
    post,
    path = "/v1/passages/search",
    operation_id = "search_passages",
    tag = "passages",
    request_body = PassageSearchRequest,
    responses((status = OK, body = Vec<FoundPassage>, description = "what was found"), Refusals)
)]
pub(crate) async fn search(
    State(app): State<AppState>,
    Body(body): Body<PassageSearchRequest>,
) -> Result<Json<Vec<FoundPassage>>, Refusal> {
    let archive_ids = archives(&app, &body).await?;
    let search = PassageSearch {
        archive_ids,
        created_by: scope::only(),
        query: body.query.filter(|query| !query.trim().is_empty()),
        tags: body.tags.unwrap_or_default(),
        match_all_tags: body.tag_match_mode == Some(TagMode::All),
        since: body.start_date,
        until: body.end_date,
        limit: Some(body.limit.unwrap_or(LIMIT_DEFAULT)),
    };
    let found = app.store.search_passages(&search).await;
    let found = found.map_err(missing::stored)?.into_iter();
    let view = |(passage, score): (_, f64)| FoundPassage {
        passage: PassageView::from(passage),
        score,
        metadata: json!({}),
    };
    Ok(Json(found.map(view).collect()))
}

/// Where to look: in the archive and that of the agent, or in all.
async fn archives(
    app: &App,
    body: &PassageSearchRequest,
) -> Result<Option<Vec<ArchiveId>>, Refusal> {
    if body.archive_id.is_none() && body.agent_id.is_none() {
        return Ok(None);
    }
    let mut archives = Vec::new();
    if let Some(id) = &body.archive_id {
        let id: ArchiveId = id.parse().map_err(|_| missing::object("Archive", id))?;
        let archive = app.store.archive(&id).await?;
        archives.push(archive.ok_or_else(|| super::not_found(id))?.id);
    }
    if let Some(id) = &body.agent_id {
        let id = id.parse().map_err(|_| missing::agent(id))?;
        app.store
            .agent(&id)
            .await?
            .ok_or_else(|| missing::agent(id))?;
        let archive = app.store.archive_of_agent(&id).await?;
        archives.extend(archive.map(|archive| archive.id));
    }
    Ok(Some(archives))
}
