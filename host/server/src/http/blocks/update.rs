//! Changes of a block through the API, and its end.

use axum::{Json, extract::State};
use bulkhead_domain::{Block, id::BlockId};
use bulkhead_store::StoreError;
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::view::BlockView;
use crate::{
    app::App,
    contract::{Body, Refusal, body::Schema, document::Refusals, id},
    http::{AppState, missing, query::Path, scope, unbroken_contract},
};

/// The body of an update. A field that is null is as one that is left out.
#[derive(Deserialize, ToSchema)]
pub(crate) struct BlockUpdate {
    label: Option<String>,
    value: Option<String>,
    limit: Option<i64>,
    description: Option<String>,
    read_only: Option<bool>,
    #[schema(value_type = Option<Object>)]
    metadata: Option<Value>,
    tags: Option<Vec<String>>,
    hidden: Option<bool>,
    project_id: Option<String>,
    template_name: Option<String>,
    is_template: Option<bool>,
    template_id: Option<String>,
    base_template_id: Option<String>,
    deployment_id: Option<String>,
    entity_id: Option<String>,
    preserve_on_migration: Option<bool>,
}

impl Schema for BlockUpdate {
    const NAME: &str = "BlockUpdate";
}

impl BlockUpdate {
    fn apply(self, block: &mut Block) {
        set(&mut block.label, self.label);
        set(&mut block.value, self.value);
        set(&mut block.limit, self.limit);
        set(&mut block.read_only, self.read_only);
        set(&mut block.tags, self.tags);
        set(&mut block.is_template, self.is_template);
        replace(&mut block.description, self.description);
        replace(&mut block.metadata, self.metadata);
        replace(&mut block.hidden, self.hidden);
        replace(&mut block.project_id, self.project_id);
        replace(&mut block.template_name, self.template_name);
        replace(&mut block.template_id, self.template_id);
        replace(&mut block.base_template_id, self.base_template_id);
        replace(&mut block.deployment_id, self.deployment_id);
        replace(&mut block.entity_id, self.entity_id);
        replace(&mut block.preserve_on_migration, self.preserve_on_migration);
    }
}

/// Writes a field where the body has one.
pub(crate) fn set<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}

/// As [`set`], for a field that may be empty. No body can empty it again.
pub(crate) fn replace<T>(field: &mut Option<T>, value: Option<T>) {
    if value.is_some() {
        *field = value;
    }
}

/// Changes the fields that are given, and rewrites the system message of every agent that has the
/// block.
#[utoipa::path(
    patch,
    path = "/v1/blocks/{block_id}",
    operation_id = "modify_block",
    tag = "blocks",
    params(("block_id" = String, Path, description = "the block's id")),
    request_body = BlockUpdate,
    responses((status = OK, body = BlockView, description = "the block"), Refusals)
)]
pub(crate) async fn update(
    State(app): State<AppState>,
    Path(block_id): Path<String>,
    Body(body): Body<BlockUpdate>,
) -> Result<Json<BlockView>, Refusal> {
    let block_id = id::parse("block_id", &block_id)?;
    let changed = unbroken_contract(async move { change(&app, &block_id, body).await });
    Ok(Json(changed.await?.into()))
}

/// Changes a block, and the system messages in which it stands.
pub(crate) async fn change(
    app: &App,
    block_id: &BlockId,
    body: BlockUpdate,
) -> Result<Block, Refusal> {
    let edit = |block: &mut Block| {
        body.apply(block);
        Ok::<_, StoreError>(())
    };
    let actor = scope::actor();
    let changed = app.store.update_block(block_id, edit, &actor);
    let changed = changed.await.map_err(missing::stored)?;
    app.engine.recompile_for_block(block_id).await?;
    Ok(changed)
}

/// Deletes a block; agents that have it have it no more.
#[utoipa::path(
    delete,
    path = "/v1/blocks/{block_id}",
    operation_id = "delete_block",
    tag = "blocks",
    params(("block_id" = String, Path, description = "the block's id")),
    responses((status = OK, body = Option<Object>, description = "null"), Refusals)
)]
pub(crate) async fn delete(
    State(app): State<AppState>,
    Path(block_id): Path<String>,
) -> Result<Json<Value>, Refusal> {
    let block_id = id::parse("block_id", &block_id)?;
    if app.store.delete_block(&block_id).await? {
        Ok(Json(Value::Null))
    } else {
        Err(missing::block(block_id))
    }
}
