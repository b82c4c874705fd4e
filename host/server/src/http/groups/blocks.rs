//! The blocks that the agents of a group share.

use axum::{Json, extract::State};
use bulkhead_domain::id::{BlockId, GroupId};

use crate::{
    contract::{Refusal, document::Refusals, id},
    http::{AppState, missing, query::Path},
};

/// Gives a block to a group and to all of its agents. Their system messages have it from when they are
/// next made anew.
#[utoipa::path(
    patch,
    path = "/v1/groups/{group_id}/blocks/attach/{block_id}",
    operation_id = "attach_block_to_group",
    tag = "groups",
    params(
        ("group_id" = String, Path, description = "the group's id"),
        ("block_id" = String, Path, description = "the block's id"),
    ),
    responses((status = OK, body = Option<Object>, description = "null"), Refusals)
)]
pub(crate) async fn attach(
    State(app): State<AppState>,
    Path(path): Path<(String, String)>,
) -> Result<Json<()>, Refusal> {
    let (group, block) = ids(&path)?;
    let attached = app.store.attach_group_block(&group, &block).await;
    attached.map(Json).map_err(missing::stored)
}

/// Takes a block that a group shares from it and from all of its agents; the block stays.
#[utoipa::path(
    patch,
    path = "/v1/groups/{group_id}/blocks/detach/{block_id}",
    operation_id = "detach_block_from_group",
    tag = "groups",
    params(
        ("group_id" = String, Path, description = "the group's id"),
        ("block_id" = String, Path, description = "the block's id"),
    ),
    responses((status = OK, body = Option<Object>, description = "null"), Refusals)
)]
pub(crate) async fn detach(
    State(app): State<AppState>,
    Path(path): Path<(String, String)>,
) -> Result<Json<()>, Refusal> {
    let (group, block) = ids(&path)?;
    let detached = app.store.detach_group_block(&group, &block).await;
    detached.map(Json).map_err(missing::stored)
}

fn ids((group, block): &(String, String)) -> Result<(GroupId, BlockId), Refusal> {
    Ok((id::parse("group_id", group)?, id::parse("block_id", block)?))
}
