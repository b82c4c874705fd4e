//! Create, update and delete.

use axum::{Json, extract::State};
use bulkhead_domain::{Archive, EmbeddingConfig};
use http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use super::view::ArchiveView;
use crate::{
    agents::choice,
    contract::{Body, Refusal, body::Schema, document::Refusals, id},
    http::{
        AppState,
        blocks::update::{replace, set},
        missing,
        query::Path,
        scope,
    },
};

/// The body of a new archive.
#[derive(Deserialize, ToSchema)]
pub(crate) struct ArchiveCreateRequest {
    name: String,
    description: Option<String>,
    /// the handle of a model
    embedding: Option<String>,
    #[schema(value_type = Option<Object>)]
    embedding_config: Option<EmbeddingConfig>,
}

impl Schema for ArchiveCreateRequest {
    const NAME: &str = "ArchiveCreateRequest";
}

/// The body of an update. A field that is null is as one that is left out.
#[derive(Deserialize, ToSchema)]
pub(crate) struct ArchiveUpdateRequest {
    name: Option<String>,
    description: Option<String>,
}

impl Schema for ArchiveUpdateRequest {
    const NAME: &str = "ArchiveUpdateRequest";
}

/// Makes an archive that no agent has yet.
#[utoipa::path(
    post,
    path = "/v1/archives/",
    operation_id = "create_archive",
    tag = "archives",
    request_body = ArchiveCreateRequest,
    responses((status = OK, body = ArchiveView, description = "the archive"), Refusals)
)]
pub(crate) async fn create(
    State(app): State<AppState>,
    Body(body): Body<ArchiveCreateRequest>,
) -> Result<Json<ArchiveView>, Refusal> {
    let embedding = choice::embedding(&app, body.embedding_config, body.embedding).await?;
    let archive = Archive {
        description: body.description,
        embedding_config: embedding,
        created_by_id: Some(scope::actor()),
        last_updated_by_id: Some(scope::actor()),
        ..Archive::new(body.name)
    };
    let created = app.store.create_archive(&archive).await;
    created.map_err(missing::stored)?;
    Ok(Json(archive.into()))
}

/// Changes the fields that are given.
#[utoipa::path(
    patch,
    path = "/v1/archives/{archive_id}",
    operation_id = "modify_archive",
    tag = "archives",
    params(("archive_id" = String, Path, description = "the archive's id")),
    request_body = ArchiveUpdateRequest,
    responses((status = OK, body = ArchiveView, description = "the archive"), Refusals)
)]
pub(crate) async fn update(
    State(app): State<AppState>,
    Path(archive_id): Path<String>,
    Body(body): Body<ArchiveUpdateRequest>,
) -> Result<Json<ArchiveView>, Refusal> {
    let archive_id = id::parse("archive_id", &archive_id)?;
    let edit = |archive: &mut Archive| {
        set(&mut archive.name, body.name);
        replace(&mut archive.description, body.description);
        archive.last_updated_by_id = Some(scope::actor());
    };
    let changed = app.store.update_archive(&archive_id, edit).await;
    Ok(Json(changed.map_err(missing::stored)?.into()))
}

/// Deletes an archive with its passages.
#[utoipa::path(
    delete,
    path = "/v1/archives/{archive_id}",
    operation_id = "delete_archive",
    tag = "archives",
    params(("archive_id" = String, Path, description = "the archive's id")),
    responses((status = NO_CONTENT, description = "it is deleted"), Refusals)
)]
pub(crate) async fn delete(
    State(app): State<AppState>,
    Path(archive_id): Path<String>,
) -> Result<StatusCode, Refusal> {
    let archive_id = id::parse("archive_id", &archive_id)?;
    if app.store.delete_archive(&archive_id).await? {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(super::not_found(archive_id))
    }
}
