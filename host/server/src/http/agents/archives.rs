//! The archive of an agent.

use axum::{Json, extract::State};
use bulkhead_domain::id::ArchiveId;
use bulkhead_store::StoreError;
use serde_json::Value;

use super::find;
use crate::{
    contract::{Refusal, document::Refusals, id},
    http::{AppState, archives, missing, query::Path},
};

/// Gives an agent an archive. It has one at most.
#[utoipa::path(
    patch,
    path = "/v1/agents/{agent_id}/archives/attach/{archive_id}",
    operation_id = "attach_archive_to_agent",
    tag = "agents",
    params(
        ("agent_id" = String, Path, description = "the agent's id"),
        ("archive_id" = String, Path, description = "the archive's id"),
    ),
    responses((status = OK, body = Option<Object>, description = "null"), Refusals)
)]
pub(crate) async fn attach(
    State(app): State<AppState>,
    Path((agent_id, archive_id)): Path<(String, String)>,
) -> Result<Json<Value>, Refusal> {
    let agent = find::id(&agent_id)?;
    let archive: ArchiveId = id::parse("archive_id", &archive_id)?;
    let attached = app.store.attach_archive(&agent, &archive).await;
    attached.map_err(|error| match error {
        error @ StoreError::AlreadyHas { .. } => missing::duplicate("ArchivesAgents", error),
        error => missing::stored(error),
    })?;
    Ok(Json(Value::Null))
}

/// Takes an archive from an agent; the archive stays.
#[utoipa::path(
    patch,
    path = "/v1/agents/{agent_id}/archives/detach/{archive_id}",
    operation_id = "detach_archive_from_agent",
    tag = "agents",
    params(
        ("agent_id" = String, Path, description = "the agent's id"),
        ("archive_id" = String, Path, description = "the archive's id"),
    ),
    responses((status = OK, body = Option<Object>, description = "null"), Refusals)
)]
pub(crate) async fn detach(
    State(app): State<AppState>,
    Path((agent_id, archive_id)): Path<(String, String)>,
) -> Result<Json<Value>, Refusal> {
    let agent = find::agent(&app, &agent_id).await?;
    let archive: ArchiveId = id::parse("archive_id", &archive_id)?;
    let found = app.store.archive(&archive).await?;
    found.ok_or_else(|| archives::not_found(archive))?;
    app.store.detach_archive(&agent.id, &archive).await?;
    Ok(Json(Value::Null))
}
