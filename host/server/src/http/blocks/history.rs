//! The values that a block had: an extension of the contract.

use axum::{Json, extract::State};
use bulkhead_domain::{BlockChange, Timestamp};
use bulkhead_store::block::HISTORY_MAX;
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    contract::{
        Parameters, Refusal,
        document::Refusals,
        id,
        query::{FromQuery, Query},
    },
    http::{AppState, missing, query::Path},
};

/// One value of a block.
#[derive(Serialize, ToSchema)]
#[schema(as = BlockChange)]
pub(crate) struct ChangeView {
    /// 1 for the value that it was made with
    version: i64,
    value: String,
    /// who wrote it: an agent, a user, or nobody that is known
    actor: String,
    /// when
    #[schema(value_type = String)]
    at: Timestamp,
}

impl From<BlockChange> for ChangeView {
    fn from(change: BlockChange) -> Self {
        Self {
            version: change.version,
            value: change.value,
            actor: change.actor,
            at: change.at,
        }
    }
}

/// How many of them.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Newest {
    /// how many values at most; more than 100 are not kept
    #[param(required = false)]
    limit: u32,
}

impl FromQuery for Newest {
    fn from_query(query: &mut Query) -> Self {
        Self {
            limit: query.limit_within(HISTORY_MAX, 1..=i64::from(HISTORY_MAX)),
        }
    }
}

/// The values that a block had and has, the newest first; the last 100 are kept. An extension of the
/// contract.
#[utoipa::path(
    get,
    path = "/v1/blocks/{block_id}/history",
    operation_id = "list_block_history",
    tag = "blocks",
    params(("block_id" = String, Path, description = "the block's id"), Newest),
    responses((status = OK, body = Vec<ChangeView>, description = "the values"), Refusals)
)]
pub(crate) async fn history(
    State(app): State<AppState>,
    Path(block_id): Path<String>,
    Parameters(newest): Parameters<Newest>,
) -> Result<Json<Vec<ChangeView>>, Refusal> {
    let block_id = id::parse("block_id", &block_id)?;
    let changes = app.store.block_history(&block_id, Some(newest.limit));
    let changes = changes.await.map_err(missing::stored)?;
    // Every block has a value.
    if changes.is_empty() {
        return Err(missing::block(block_id));
    }
    Ok(Json(changes.into_iter().map(ChangeView::from).collect()))
}
