//! To whom a block belongs.

use axum::{Json, extract::State};
use bulkhead_domain::id::{BlockId, IdentityId};

use super::view::BlockView;
use crate::{
    app::App,
    contract::{Refusal, document::Refusals, id},
    http::{AppState, missing, query::Path},
};

/// Says that a block belongs to an identity.
#[utoipa::path(
    patch,
    path = "/v1/blocks/{block_id}/identities/attach/{identity_id}",
    operation_id = "attach_identity_to_block",
    tag = "blocks",
    params(
        ("block_id" = String, Path, description = "the block's id"),
        ("identity_id" = String, Path, description = "the identity's id"),
    ),
    responses((status = OK, body = BlockView, description = "the block"), Refusals)
)]
pub(crate) async fn attach(
    State(app): State<AppState>,
    Path(ids): Path<(String, String)>,
) -> Result<Json<BlockView>, Refusal> {
    let (block, identity) = parse(&ids)?;
    let attached = app.store.attach_identity_to_block(&identity, &block).await;
    attached.map_err(missing::stored)?;
    view(&app, block).await
}

/// Says that a block does not belong to an identity.
#[utoipa::path(
    patch,
    path = "/v1/blocks/{block_id}/identities/detach/{identity_id}",
    operation_id = "detach_identity_from_block",
    tag = "blocks",
    params(
        ("block_id" = String, Path, description = "the block's id"),
        ("identity_id" = String, Path, description = "the identity's id"),
    ),
    responses((status = OK, body = BlockView, description = "the block"), Refusals)
)]
pub(crate) async fn detach(
    State(app): State<AppState>,
    Path(ids): Path<(String, String)>,
) -> Result<Json<BlockView>, Refusal> {
    let (block, identity) = parse(&ids)?;
    let detached = app
        .store
        .detach_identity_from_block(&identity, &block)
        .await;
    detached.map_err(missing::stored)?;
    view(&app, block).await
}

fn parse((block, identity): &(String, String)) -> Result<(BlockId, IdentityId), Refusal> {
    Ok((
        id::parse("block_id", block)?,
        id::parse("identity_id", identity)?,
    ))
}

async fn view(app: &App, id: BlockId) -> Result<Json<BlockView>, Refusal> {
    let block = app.store.block(&id).await?;
    let block = block.ok_or_else(|| missing::block(id))?;
    Ok(Json(block.into()))
}
