//! The passages of an agent: those of its archive.

use axum::{Json, extract::State};
use bulkhead_domain::{
    Archive, Timestamp,
    id::{AgentId, PassageId},
};
use bulkhead_store::{Paging, PassageFilter, PassageSearch};
use serde::Serialize;
use utoipa::ToSchema;

use super::{delete::Done, find};
use crate::{
    contract::{
        Body, Parameters, Refusal,
        document::Refusals,
        query::{FromQuery, Query},
    },
    http::{
        AppState,
        archives::{
            passages::{CreateArchivalMemory, not_found},
            search::TagMode,
            view::PassageView,
        },
        missing,
        query::Path,
        scope,
    },
};

/// Passages of one answer where the client names no number.
const LIMIT_DEFAULT: u32 = 100;
/// Passages that a search gives where the client names no number.
const TOP_K_DEFAULT: u32 = 10;

/// Which passages, and which part of their list.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// with this in the text
    search: Option<String>,
    /// what follows the passage with this id, in the order of the list
    after: Option<String>,
    /// what comes before the passage with this id, in the order of the list
    before: Option<String>,
    /// how many; 1000 at most
    #[param(required = false)]
    limit: u32,
    /// the oldest first, which is the default
    ascending: Option<bool>,
}

impl FromQuery for ListQuery {
    fn from_query(query: &mut Query) -> Self {
        Self {
            search: query.text("search"),
            after: query.text("after"),
            before: query.text("before"),
            limit: query.limit(LIMIT_DEFAULT),
            ascending: query.boolean("ascending"),
        }
    }
}

/// The passages of an agent, the oldest first unless told otherwise.
#[utoipa::path(
    get,
    path = "/v1/agents/{agent_id}/archival-memory",
    operation_id = "list_passages",
    tag = "agents",
    params(("agent_id" = String, Path, description = "the agent's id"), ListQuery),
    responses((status = OK, body = Vec<PassageView>, description = "the passages"), Refusals)
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    Path(agent_id): Path<String>,
    Parameters(query): Parameters<ListQuery>,
) -> Result<Json<Vec<PassageView>>, Refusal> {
    let agent = find::agent(&app, &agent_id).await?;
    let filter = PassageFilter {
        agent_id: Some(agent.id),
        search: query.search,
        paging: Paging {
            after: query.after,
            before: query.before,
            ascending: query.ascending.unwrap_or(true),
            limit: Some(query.limit),
        },
        ..PassageFilter::default()
    };
    let passages = app.store.passages(&filter).await;
    let passages = passages.map_err(missing::stored)?;
    Ok(Json(passages.into_iter().map(PassageView::from).collect()))
}

/// Puts a passage into the agent's archive, which is made where it has none.
#[utoipa::path(
    post,
    path = "/v1/agents/{agent_id}/archival-memory",
    operation_id = "create_passage",
    tag = "agents",
    params(("agent_id" = String, Path, description = "the agent's id")),
    request_body = CreateArchivalMemory,
    responses((status = OK, body = Vec<PassageView>, description = "the passage"), Refusals)
)]
pub(crate) async fn create(
    State(app): State<AppState>,
    Path(agent_id): Path<String>,
    Body(body): Body<CreateArchivalMemory>,
) -> Result<Json<Vec<PassageView>>, Refusal> {
    let agent = find::agent(&app, &agent_id).await?;
    let new = Archive {
        description: Some("Default archive created automatically".to_owned()),
        embedding_config: agent.embedding_config,
        created_by_id: Some(scope::actor()),
        last_updated_by_id: Some(scope::actor()),
        ..Archive::new(format!("{}'s Archive", agent.name))
    };
    let archive = app.store.default_archive(&agent.id, &new).await;
    let archive = archive.map_err(missing::stored)?;
    let passage = body.into_passage(archive.id);
    let inserted = app
        .store
        .insert_passages(std::slice::from_ref(&passage))
        .await;
    inserted.map_err(missing::stored)?;
    Ok(Json(vec![passage.into()]))
}

/// Deletes a passage of the agent's archive.
#[utoipa::path(
    delete,
    path = "/v1/agents/{agent_id}/archival-memory/{memory_id}",
    operation_id = "delete_passage",
    tag = "agents",
    params(
        ("agent_id" = String, Path, description = "the agent's id"),
        ("memory_id" = String, Path, description = "the passage's id"),
    ),
    responses((status = OK, body = Done, description = "it is deleted"), Refusals)
)]
pub(crate) async fn delete(
    State(app): State<AppState>,
    Path((agent_id, memory_id)): Path<(String, String)>,
) -> Result<Json<Done>, Refusal> {
    let agent = find::agent(&app, &agent_id).await?;
    let Ok(passage) = memory_id.parse::<PassageId>() else {
        // The contract does not check its form.
        return Err(missing::object("ArchivalPassage", memory_id));
    };
    let archive = app.store.archive_of_agent(&agent.id).await?;
    let deleted = match archive {
        Some(archive) => app.store.delete_passage(&archive.id, &passage).await?,
        None => false,
    };
    if !deleted {
        return Err(not_found(passage));
    }
    let message = format!("Memory id={passage} successfully deleted");
    Ok(Json(Done { message }))
}

/// What to look for.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SearchQuery {
    /// words of which one at least is in the text
    query: String,
    /// with these tags
    tags: Option<Vec<String>>,
    /// any (the default) or all
    #[param(value_type = Option<String>)]
    tag_match_mode: Option<TagMode>,
    /// how many; 10 unless told otherwise
    top_k: Option<i64>,
    /// made at this time or later
    #[param(value_type = Option<String>)]
    start_datetime: Option<Timestamp>,
    /// made before this time
    #[param(value_type = Option<String>)]
    end_datetime: Option<Timestamp>,
}

impl FromQuery for SearchQuery {
    fn from_query(query: &mut Query) -> Self {
        let modes = [("any", TagMode::Any), ("all", TagMode::All)];
        Self {
            query: query.required_text("query"),
            tags: query.texts("tags"),
            tag_match_mode: query.literal("tag_match_mode", &modes),
            top_k: query.integer("top_k", i64::MIN..=i64::MAX),
            start_datetime: query.date("start_datetime"),
            end_datetime: query.date("end_datetime"),
        }
    }
}

/// What a search found.
#[derive(Serialize, ToSchema)]
pub(crate) struct FoundMemories {
    results: Vec<FoundMemory>,
    count: usize,
}

/// A passage that was found.
#[derive(Serialize, ToSchema)]
pub(crate) struct FoundMemory {
    id: String,
    timestamp: String,
    content: String,
    tags: Vec<String>,
}

/// Passages of the agent in which words of the query are, those with the most first.
#[utoipa::path(
    get,
    path = "/v1/agents/{agent_id}/archival-memory/search",
    operation_id = "search_archival_memory",
    tag = "agents",
    params(("agent_id" = String, Path, description = "the agent's id"), SearchQuery),
    responses((status = OK, body = FoundMemories, description = "what was found"), Refusals)
)]
pub(crate) async fn search(
    State(app): State<AppState>,
    Path(agent_id): Path<String>,
    Parameters(query): Parameters<SearchQuery>,
) -> Result<Json<FoundMemories>, Refusal> {
    let agent: AgentId = find::agent(&app, &agent_id).await?.id;
    let archive = app.store.archive_of_agent(&agent).await?;
    let search = PassageSearch {
        archive_ids: Some(archive.iter().map(|archive| archive.id).collect()),
        created_by: None,
        query: Some(query.query).filter(|query| !query.trim().is_empty()),
        tags: query.tags.unwrap_or_default(),
        match_all_tags: query.tag_match_mode == Some(TagMode::All),
        since: query.start_datetime,
        until: query.end_datetime,
        limit: Some(top_k(query.top_k)),
    };
    let found = app.store.search_passages(&search).await;
    let results = found.map_err(missing::stored)?.into_iter();
    let results: Vec<_> = results
        .map(|(passage, _)| FoundMemory {
            id: passage.id.to_string(),
            timestamp: with_offset(passage.created_at),
            content: passage.text,
            tags: passage.tags,
        })
        .collect();
    Ok(Json(FoundMemories {
        count: results.len(),
        results,
    }))
}

fn top_k(asked: Option<i64>) -> u32 {
    let asked = asked.filter(|number| *number > 0);
    asked.map_or(TOP_K_DEFAULT, |number| {
        u32::try_from(number).unwrap_or(u32::MAX)
    })
}

/// A point in time with its offset from UTC in figures, as clients know it here.
fn with_offset(at: Timestamp) -> String {
    at.to_string().replace('Z', "+00:00")
}
