//! What is in one archive.

use axum::{Json, extract::State};
use bulkhead_domain::{
    Passage, Timestamp,
    id::{ArchiveId, PassageId},
};
use http::StatusCode;
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::view::PassageView;
use crate::{
    app::App,
    contract::{Body, Refusal, body::Schema, document::Refusals, id},
    http::{AppState, missing, query::Path, scope},
};

/// The body of a new passage.
#[derive(Deserialize, ToSchema)]
pub(crate) struct PassageCreateRequest {
    text: String,
    tags: Option<Vec<String>>,
    #[schema(value_type = Option<Object>)]
    metadata: Option<Value>,
    /// when it was made, by its author's word
    #[schema(value_type = Option<String>)]
    created_at: Option<Timestamp>,
}

impl Schema for PassageCreateRequest {
    const NAME: &str = "PassageCreateRequest";
}

/// The body of a new passage of an agent.
#[derive(Deserialize, ToSchema)]
pub(crate) struct CreateArchivalMemory {
    text: String,
    tags: Option<Vec<String>>,
    /// when it was made, by its author's word
    #[schema(value_type = Option<String>)]
    created_at: Option<Timestamp>,
}

impl Schema for CreateArchivalMemory {
    const NAME: &str = "CreateArchivalMemory";
}

impl CreateArchivalMemory {
    /// The passage in the agent's archive.
    pub(crate) fn into_passage(self, archive_id: ArchiveId) -> Passage {
        let body = PassageCreateRequest {
            text: self.text,
            tags: self.tags,
            metadata: None,
            created_at: self.created_at,
        };
        body.into_passage(archive_id)
    }
}

/// The body of several new passages.
#[derive(Deserialize, ToSchema)]
pub(crate) struct PassageBatchCreateRequest {
    passages: Vec<PassageCreateRequest>,
}

impl Schema for PassageBatchCreateRequest {
    const NAME: &str = "PassageBatchCreateRequest";
}

impl PassageCreateRequest {
    /// The passage in an archive. No two of its tags are alike.
    fn into_passage(self, archive_id: ArchiveId) -> Passage {
        let mut passage = Passage::new(archive_id, self.text);
        for tag in self.tags.into_iter().flatten() {
            if !passage.tags.contains(&tag) {
                passage.tags.push(tag);
            }
        }
        passage.metadata = self.metadata;
        passage.created_at = self.created_at.unwrap_or(passage.created_at);
        passage.created_by_id = Some(scope::actor());
        passage.last_updated_by_id = Some(scope::actor());
        passage
    }
}

/// Puts a passage into an archive.
#[utoipa::path(
    post,
    path = "/v1/archives/{archive_id}/passages",
    operation_id = "create_passage_in_archive",
    tag = "archives",
    params(("archive_id" = String, Path, description = "the archive's id")),
    request_body = PassageCreateRequest,
    responses((status = OK, body = PassageView, description = "the passage"), Refusals)
)]
pub(crate) async fn create(
    State(app): State<AppState>,
    Path(archive_id): Path<String>,
    Body(body): Body<PassageCreateRequest>,
) -> Result<Json<PassageView>, Refusal> {
    let archive_id = known(&app, &archive_id).await?;
    let passage = body.into_passage(archive_id);
    let inserted = app
        .store
        .insert_passages(std::slice::from_ref(&passage))
        .await;
    inserted.map_err(missing::stored)?;
    Ok(Json(passage.into()))
}

/// Puts several passages into an archive, all or none.
#[utoipa::path(
    post,
    path = "/v1/archives/{archive_id}/passages/batch",
    operation_id = "create_passages_in_archive",
    tag = "archives",
    params(("archive_id" = String, Path, description = "the archive's id")),
    request_body = PassageBatchCreateRequest,
    responses((status = OK, body = Vec<PassageView>, description = "the passages"), Refusals)
)]
pub(crate) async fn create_many(
    State(app): State<AppState>,
    Path(archive_id): Path<String>,
    Body(body): Body<PassageBatchCreateRequest>,
) -> Result<Json<Vec<PassageView>>, Refusal> {
    let archive_id = known(&app, &archive_id).await?;
    let passages = body.passages.into_iter();
    let passages: Vec<Passage> = passages.map(|body| body.into_passage(archive_id)).collect();
    let inserted = app.store.insert_passages(&passages).await;
    inserted.map_err(missing::stored)?;
    Ok(Json(passages.into_iter().map(PassageView::from).collect()))
}

/// Deletes a passage of an archive.
#[utoipa::path(
    delete,
    path = "/v1/archives/{archive_id}/passages/{passage_id}",
    operation_id = "delete_passage_from_archive",
    tag = "archives",
    params(
        ("archive_id" = String, Path, description = "the archive's id"),
        ("passage_id" = String, Path, description = "the passage's id"),
    ),
    responses((status = NO_CONTENT, description = "it is deleted"), Refusals)
)]
pub(crate) async fn delete(
    State(app): State<AppState>,
    Path((archive_id, passage_id)): Path<(String, String)>,
) -> Result<StatusCode, Refusal> {
    let archive_id = known(&app, &archive_id).await?;
    let passage_id = id::parse("passage_id", &passage_id)?;
    if app.store.delete_passage(&archive_id, &passage_id).await? {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(not_found(passage_id))
    }
}

/// 404 for a passage.
pub(crate) fn not_found(id: PassageId) -> Refusal {
    missing::object("ArchivalPassage", id)
}

/// The id of an archive that is there.
async fn known(app: &App, archive_id: &str) -> Result<ArchiveId, Refusal> {
    let archive_id = id::parse("archive_id", archive_id)?;
    let found = app.store.archive(&archive_id).await?;
    found.ok_or_else(|| super::not_found(archive_id))?;
    Ok(archive_id)
}
