//! The end of an agent.

use axum::{Json, extract::State};
use bulkhead_domain::id::{AgentId, BlockId};
use bulkhead_store::{ConversationFilter, PAGE_MAX, Paging, ThreadFilter};
use serde::Serialize;
use utoipa::ToSchema;

use super::{find, instance::expect_not_kept};
use crate::{
    app::App,
    contract::{Refusal, document::Refusals},
    http::{AppState, messages::control::closed, missing, query::Path, unbroken_contract},
};

/// What was done, for people.
#[derive(Serialize, ToSchema)]
pub(crate) struct Done {
    pub(crate) message: String,
}

/// Deletes an agent with its messages and runs, which are cancelled first, and the agent that was made
/// to look after its memory; blocks and tools stay.
#[utoipa::path(
    delete,
    path = "/v1/agents/{agent_id}",
    operation_id = "delete_agent",
    tag = "agents",
    params(("agent_id" = String, Path, description = "the agent's id")),
    responses((status = OK, body = Done, description = "it is deleted"), Refusals)
)]
pub(crate) async fn delete(
    State(app): State<AppState>,
    Path(agent_id): Path<String>,
) -> Result<Json<Done>, Refusal> {
    let id = find::id(&agent_id)?;
    expect_not_kept(&app, id).await?;
    let deleted = unbroken_contract(async move {
        let mut held = vec![closed(&app, id, ThreadFilter::Any).await?];
        let mut isolated = isolated_blocks(&app, id).await?;
        for sleeptime in app.store.sleeptime_agents_of(&id).await? {
            held.push(closed(&app, sleeptime, ThreadFilter::Any).await?);
            isolated.extend(isolated_blocks(&app, sleeptime).await?);
        }
        let deleted = app.store.delete_agent(&id).await?;
        for block in isolated {
            app.store.delete_block(&block).await?;
        }
        Ok(deleted)
    });
    if !deleted.await? {
        return Err(missing::agent(id));
    }
    let message = format!("Agent id={id} successfully deleted");
    Ok(Json(Done { message }))
}

/// The blocks that conversations of an agent have for themselves. Nobody else has them.
async fn isolated_blocks(app: &App, agent_id: AgentId) -> Result<Vec<BlockId>, Refusal> {
    let mut filter = ConversationFilter {
        agent_id: Some(agent_id),
        paging: Paging {
            limit: Some(PAGE_MAX),
            ..Paging::default()
        },
        ..ConversationFilter::default()
    };
    let mut blocks = Vec::new();
    loop {
        let page = app.store.conversations(&filter).await?;
        let Some(last) = page.last() else {
            return Ok(blocks);
        };
        filter.paging.after = Some(last.id.to_string());
        blocks.extend(page.into_iter().flat_map(|own| own.isolated_block_ids));
    }
}
