//! Create, update and delete.

use axum::{Json, extract::State};
use bulkhead_domain::{EmbeddingConfig, Folder, id::FolderId};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::view::FolderView;
use crate::{
    agents::choice,
    app::App,
    contract::{Body, Refusal, body::Schema, document::Refusals, id},
    http::{
        AppState,
        blocks::update::{replace, set},
        missing,
        query::Path,
        scope,
    },
};

/// The body of a new folder.
#[derive(Deserialize, ToSchema)]
#[schema(as = FolderCreate)]
pub(crate) struct SourceCreate {
    name: String,
    description: Option<String>,
    instructions: Option<String>,
    #[schema(value_type = Option<Object>)]
    metadata: Option<Value>,
    /// the handle of a model
    embedding: Option<String>,
    /// tokens of the pieces in which files are searched
    embedding_chunk_size: Option<i64>,
    #[schema(value_type = Option<Object>)]
    embedding_config: Option<EmbeddingConfig>,
}

impl Schema for SourceCreate {
    const NAME: &str = "SourceCreate";
}

/// The body of an update. A field that is null is as one that is left out.
#[derive(Deserialize, ToSchema)]
#[schema(as = FolderUpdate)]
pub(crate) struct SourceUpdate {
    name: Option<String>,
    description: Option<String>,
    instructions: Option<String>,
    #[schema(value_type = Option<Object>)]
    metadata: Option<Value>,
    #[schema(value_type = Option<Object>)]
    embedding_config: Option<EmbeddingConfig>,
}

impl Schema for SourceUpdate {
    const NAME: &str = "SourceUpdate";
}

/// Makes a folder.
#[utoipa::path(
    post,
    path = "/v1/folders/",
    operation_id = "create_folder",
    tag = "folders",
    request_body = SourceCreate,
    responses((status = OK, body = FolderView, description = "the folder"), Refusals)
)]
pub(crate) async fn create(
    State(app): State<AppState>,
    Body(body): Body<SourceCreate>,
) -> Result<Json<FolderView>, Refusal> {
    new(&app, body).await.map(|folder| Json(folder.into()))
}

/// The folder of a body, stored.
pub(super) async fn new(app: &App, body: SourceCreate) -> Result<Folder, Refusal> {
    check_name(&body.name)?;
    let embedding = choice::embedding(app, body.embedding_config, body.embedding).await?;
    let mut embedding = embedding.ok_or_else(|| {
        Refusal::bad_request(
            "INVALID_ARGUMENT: Must specify either embedding or embedding_config in request",
        )
    })?;
    if let Some(size) = body.embedding_chunk_size {
        embedding.embedding_chunk_size = Some(size);
    }
    let folder = Folder {
        description: body.description,
        instructions: body.instructions,
        metadata: body.metadata,
        created_by_id: Some(scope::actor()),
        last_updated_by_id: Some(scope::actor()),
        ..Folder::new(body.name, embedding)
    };
    let created = app.store.create_folder(&folder).await;
    created.map_err(missing::stored)?;
    Ok(folder)
}

/// Changes the fields that are given.
#[utoipa::path(
    patch,
    path = "/v1/folders/{folder_id}",
    operation_id = "modify_folder",
    tag = "folders",
    params(("folder_id" = String, Path, description = "the folder's id")),
    request_body = SourceUpdate,
    responses((status = OK, body = FolderView, description = "the folder"), Refusals)
)]
pub(crate) async fn update(
    State(app): State<AppState>,
    Path(folder_id): Path<String>,
    Body(body): Body<SourceUpdate>,
) -> Result<Json<FolderView>, Refusal> {
    change(&app, &folder_id, body)
        .await
        .map(|folder| Json(folder.into()))
}

/// The folder with what a body says.
pub(super) async fn change(
    app: &App,
    folder_id: &str,
    body: SourceUpdate,
) -> Result<Folder, Refusal> {
    let id: FolderId = id::parse("folder_id", folder_id)?;
    if let Some(name) = &body.name {
        check_name(name)?;
    }
    let edit = |folder: &mut Folder| {
        set(&mut folder.name, body.name);
        replace(&mut folder.description, body.description);
        replace(&mut folder.instructions, body.instructions);
        replace(&mut folder.metadata, body.metadata);
        set(&mut folder.embedding_config, body.embedding_config);
        folder.last_updated_by_id = Some(scope::actor());
    };
    let changed = app.store.update_folder(&id, edit).await;
    changed.map_err(missing::stored)
}

/// Deletes a folder with its files, also from the agents that have it.
#[utoipa::path(
    delete,
    path = "/v1/folders/{folder_id}",
    operation_id = "delete_folder",
    tag = "folders",
    params(("folder_id" = String, Path, description = "the folder's id")),
    responses((status = OK, body = Option<Object>, description = "null"), Refusals)
)]
pub(crate) async fn delete(
    State(app): State<AppState>,
    Path(folder_id): Path<String>,
) -> Result<Json<Value>, Refusal> {
    let id: FolderId = id::parse("folder_id", &folder_id)?;
    if app.store.delete_folder(&id).await? {
        Ok(Json(Value::Null))
    } else {
        Err(super::not_found(id))
    }
}

/// Agents name files by the folder's name, in one line.
pub(crate) fn check_name(name: &str) -> Result<(), Refusal> {
    if name.trim().is_empty() || name.chars().any(char::is_control) {
        return Err(Refusal::bad_request(
            "INVALID_ARGUMENT: a folder's name is one line and not empty",
        ));
    }
    Ok(())
}
