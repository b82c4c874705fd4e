//! One block, many, how many, and the agents that have one.

use axum::{Json, extract::State};
use bulkhead_store::BlockFilter;

use super::{
    query::{ListQuery, Search, Which},
    view::BlockView,
};
use crate::{
    contract::{
        Parameters, Refusal,
        document::Refusals,
        id,
        query::{ByCreation, Page},
    },
    http::{
        AppState,
        agents::{
            client::Client,
            query::{Include, RelatedQuery},
            view::AgentView,
        },
        missing,
        query::Path,
        scope,
    },
};

/// One block.
#[utoipa::path(
    get,
    path = "/v1/blocks/{block_id}",
    operation_id = "retrieve_block",
    tag = "blocks",
    params(("block_id" = String, Path, description = "the block's id")),
    responses((status = OK, body = BlockView, description = "the block"), Refusals)
)]
pub(crate) async fn get(
    State(app): State<AppState>,
    Path(block_id): Path<String>,
) -> Result<Json<BlockView>, Refusal> {
    let block_id = id::parse("block_id", &block_id)?;
    let block = app.store.block(&block_id).await?;
    let block = block.ok_or_else(|| missing::block(block_id))?;
    Ok(Json(block.into()))
}

/// Blocks, the oldest first unless told otherwise.
#[utoipa::path(
    get,
    path = "/v1/blocks/",
    operation_id = "list_blocks",
    tag = "blocks",
    params(Which, Search, ByCreation, Page),
    responses((status = OK, body = Vec<BlockView>, description = "the blocks"), Refusals)
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    Parameters(query): Parameters<ListQuery>,
) -> Result<Json<Vec<BlockView>>, Refusal> {
    let blocks = app.store.blocks(&BlockFilter::from(query)).await;
    let blocks = blocks.map_err(missing::stored)?;
    Ok(Json(blocks.into_iter().map(BlockView::from).collect()))
}

/// How many blocks there are.
#[utoipa::path(
    get,
    path = "/v1/blocks/count",
    operation_id = "count_blocks",
    tag = "blocks",
    params(Which),
    responses((status = OK, body = u64, content_type = "application/json", description = "how many"), Refusals)
)]
pub(crate) async fn count(
    State(app): State<AppState>,
    Parameters(which): Parameters<Which>,
) -> Result<Json<u64>, Refusal> {
    let count = app.store.count_blocks(&BlockFilter::from(which)).await;
    Ok(Json(count.map_err(missing::stored)?))
}

/// The agents that have a block.
#[utoipa::path(
    get,
    path = "/v1/blocks/{block_id}/agents",
    operation_id = "list_agents_for_block",
    tag = "blocks",
    params(("block_id" = String, Path, description = "the block's id"), Include, ByCreation, Page),
    responses((status = OK, body = Vec<AgentView>, description = "the agents"), Refusals)
)]
pub(crate) async fn agents(
    State(app): State<AppState>,
    client: Client,
    Path(block_id): Path<String>,
    Parameters(query): Parameters<RelatedQuery>,
) -> Result<Json<Vec<AgentView>>, Refusal> {
    let block_id = id::parse("block_id", &block_id)?;
    let relations = query.relations(client);
    let page = query.page.into();
    let agents = app
        .store
        .agents_of_block(&block_id, scope::only(), &page)
        .await;
    let agents = agents.map_err(missing::stored)?;
    AgentView::of_all(&app, agents, relations).await.map(Json)
}
