//! The blocks of an agent.

use axum::{Json, extract::State};
use bulkhead_domain::{Block, id::BlockId};
use bulkhead_store::BlockFilter;

use super::{find, relations::Relations, view::AgentView};
use crate::{
    app::App,
    contract::{
        Body, Parameters, Refusal,
        document::Refusals,
        id,
        query::{ByCreation, FromQuery, Order, Page, Query},
    },
    http::{
        AppState,
        blocks::{
            update::{BlockUpdate, change},
            view::BlockView,
        },
        missing,
        query::Path,
        unbroken_contract,
    },
};

/// Blocks of one answer where the client names no number.
const LIMIT_DEFAULT: u32 = 100;

/// Which part of the list.
pub(crate) struct PageQuery(Page);

impl FromQuery for PageQuery {
    fn from_query(query: &mut Query) -> Self {
        Self(query.page_by_creation(LIMIT_DEFAULT, Order::Descending))
    }
}

/// The blocks of an agent, the newest first unless told otherwise.
#[utoipa::path(
    get,
    path = "/v1/agents/{agent_id}/core-memory/blocks",
    operation_id = "list_core_memory_blocks",
    tag = "agents",
    params(("agent_id" = String, Path, description = "the agent's id"), ByCreation, Page),
    responses((status = OK, body = Vec<BlockView>, description = "the blocks"), Refusals)
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    Path(agent_id): Path<String>,
    Parameters(PageQuery(page)): Parameters<PageQuery>,
) -> Result<Json<Vec<BlockView>>, Refusal> {
    let agent = find::agent(&app, &agent_id).await?;
    let filter = BlockFilter {
        agent_id: Some(agent.id),
        show_hidden: true,
        paging: page.into(),
        ..BlockFilter::default()
    };
    let blocks = app.store.blocks(&filter).await;
    let blocks = blocks.map_err(missing::stored)?;
    Ok(Json(blocks.into_iter().map(BlockView::from).collect()))
}

/// The block of an agent with this label.
#[utoipa::path(
    get,
    path = "/v1/agents/{agent_id}/core-memory/blocks/{block_label}",
    operation_id = "retrieve_core_memory_block",
    tag = "agents",
    params(
        ("agent_id" = String, Path, description = "the agent's id"),
        ("block_label" = String, Path, description = "the block's label"),
    ),
    responses((status = OK, body = BlockView, description = "the block"), Refusals)
)]
pub(crate) async fn get(
    State(app): State<AppState>,
    Path((agent_id, label)): Path<(String, String)>,
) -> Result<Json<BlockView>, Refusal> {
    Ok(Json(block(&app, &agent_id, &label).await?.into()))
}

/// Changes the fields that are given of the block with this label, and rewrites the system message of
/// every agent that has it.
#[utoipa::path(
    patch,
    path = "/v1/agents/{agent_id}/core-memory/blocks/{block_label}",
    operation_id = "modify_core_memory_block",
    tag = "agents",
    params(
        ("agent_id" = String, Path, description = "the agent's id"),
        ("block_label" = String, Path, description = "the block's label"),
    ),
    request_body = BlockUpdate,
    responses((status = OK, body = BlockView, description = "the block"), Refusals)
)]
pub(crate) async fn update(
    State(app): State<AppState>,
    Path((agent_id, label)): Path<(String, String)>,
    Body(body): Body<BlockUpdate>,
) -> Result<Json<BlockView>, Refusal> {
    let block = block(&app, &agent_id, &label).await?;
    let changed = unbroken_contract(async move { change(&app, &block.id, body).await });
    Ok(Json(changed.await?.into()))
}

/// Gives an agent a block. Its system message has it from when it is next made anew.
#[utoipa::path(
    patch,
    path = "/v1/agents/{agent_id}/core-memory/blocks/attach/{block_id}",
    operation_id = "attach_core_memory_block",
    tag = "agents",
    params(
        ("agent_id" = String, Path, description = "the agent's id"),
        ("block_id" = String, Path, description = "the block's id"),
    ),
    responses((status = OK, body = AgentView, description = "the agent"), Refusals)
)]
pub(crate) async fn attach(
    State(app): State<AppState>,
    Path((agent_id, block_id)): Path<(String, String)>,
) -> Result<Json<AgentView>, Refusal> {
    let agent = find::id(&agent_id)?;
    let block: BlockId = id::parse("block_id", &block_id)?;
    let attached = app.store.attach_block(&agent, &block).await;
    attached.map_err(missing::stored)?;
    with_blocks(&app, &agent_id).await
}

/// Takes a block from an agent; the block stays.
#[utoipa::path(
    patch,
    path = "/v1/agents/{agent_id}/core-memory/blocks/detach/{block_id}",
    operation_id = "detach_core_memory_block",
    tag = "agents",
    params(
        ("agent_id" = String, Path, description = "the agent's id"),
        ("block_id" = String, Path, description = "the block's id"),
    ),
    responses((status = OK, body = AgentView, description = "the agent"), Refusals)
)]
pub(crate) async fn detach(
    State(app): State<AppState>,
    Path((agent_id, block_id)): Path<(String, String)>,
) -> Result<Json<AgentView>, Refusal> {
    let agent = find::id(&agent_id)?;
    let block: BlockId = id::parse("block_id", &block_id)?;
    let detached = app.store.detach_block(&agent, &block).await;
    if !detached.map_err(missing::stored)? {
        return Err(Refusal::not_found(format!(
            "No block with id '{block}' found for agent '{agent}'"
        )));
    }
    with_blocks(&app, &agent_id).await
}

async fn block(app: &App, agent_id: &str, label: &str) -> Result<Block, Refusal> {
    let agent = find::agent(app, agent_id).await?;
    let block = app.store.block_of_agent(&agent.id, label).await;
    let block = block.map_err(missing::stored)?;
    block.ok_or_else(|| missing::label(&agent.id, label))
}

/// The agent after a change of its blocks; all clients expect it.
async fn with_blocks(app: &App, agent_id: &str) -> Result<Json<AgentView>, Refusal> {
    let agent = find::agent(app, agent_id).await?;
    AgentView::of(app, agent, Relations::ALL).await.map(Json)
}
