//! Agents of a file.

use std::time::Duration;

use axum::{
    Json,
    extract::{Request, State},
};
use serde::Serialize;
use tokio::sync::Semaphore;
use utoipa::ToSchema;

use super::{AT_ONCE, form, slot};
use crate::{
    agents::file::{BYTES_MAX, import},
    contract::{Refusal, document::Refusals},
    http::{AppState, error, json, unbroken_contract},
};

/// Bytes of an upload: a file of the largest size, and the fields around it.
const UPLOAD_MAX: usize = BYTES_MAX + (1 << 20);
/// A file of the largest size over a line of 0.5 MB/s.
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(150);
/// How long an upload may make no progress.
const UPLOAD_IDLE: Duration = Duration::from_secs(10);

static IMPORTING: Semaphore = Semaphore::const_new(AT_ONCE);

/// The form of an import.
#[derive(ToSchema)]
#[allow(dead_code, reason = "it stands for a form in the document of the API")]
pub(crate) struct ImportForm {
    /// the document, 64 MiB at most
    #[schema(value_type = String, format = Binary)]
    file: Vec<u8>,
    /// the name of every agent; otherwise its own with `_copy`
    name: Option<String>,
    /// the model's handle, in place of the file's
    model: Option<String>,
    /// the embedding model's handle, in place of the file's
    embedding: Option<String>,
    /// a JSON object of texts: values for the secrets that the file names
    secrets: Option<String>,
    /// whether tools from source that are there get the file's source; true unless told otherwise
    override_existing_tools: Option<bool>,
    /// whether names of the file get `_copy`; true unless told otherwise
    append_copy_suffix: Option<bool>,
    /// leave the messages behind
    strip_messages: Option<bool>,
    /// the project of the agents
    project_id: Option<String>,
    /// the older name of `name`
    override_name: Option<String>,
    /// the older name of `model`
    override_model_handle: Option<String>,
    /// the older name of `embedding`
    override_embedding_handle: Option<String>,
    /// the older name of `secrets`
    env_vars_json: Option<String>,
}

/// The agents that were made, in the order of the file.
#[derive(Serialize, ToSchema)]
pub(crate) struct ImportedAgentsResponse {
    agent_ids: Vec<String>,
}

/// Makes the agents of a file with all that belongs to them, or nothing.
#[utoipa::path(
    post,
    path = "/v1/agents/import",
    operation_id = "import_agent",
    tag = "agents",
    params((
        "x-override-embedding-model" = Option<String>, Header,
        description = "the oldest name of `embedding`"
    )),
    request_body(content = ImportForm, content_type = "multipart/form-data"),
    responses((status = OK, body = ImportedAgentsResponse, description = "the agents"), Refusals)
)]
pub(crate) async fn import(
    State(app): State<AppState>,
    request: Request,
) -> Result<Json<ImportedAgentsResponse>, Refusal> {
    json::require_media_type(request.headers(), &["multipart/form-data"])?;
    let headers = request.headers().clone();
    let reading = json::Reading {
        limit: UPLOAD_MAX,
        timeout: UPLOAD_TIMEOUT,
        idle: UPLOAD_IDLE,
        too_large: &error::BODY_TOO_LARGE,
        slots: None,
    };
    // From its first byte on, so that no more of them are in memory than have a place.
    let place = slot(&IMPORTING).await?;
    let body = json::read_body(request, &reading).await?;
    let (file, options) = form::read(&headers, body).await?;
    let imported = unbroken_contract(async move {
        // It goes on where the client leaves, and keeps its place until then.
        let _place = place;
        import::import(&app, file, options).await
    });
    let agents = imported.await?.into_iter();
    Ok(Json(ImportedAgentsResponse {
        agent_ids: agents.map(|id| id.to_string()).collect(),
    }))
}
