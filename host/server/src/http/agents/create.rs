//! A new agent.

use axum::{Json, extract::State};

use super::{relations::Relations, view::AgentView};
use crate::{
    agents::{body::CreateAgent, create},
    contract::{Body, Refusal, document::Refusals},
    http::{AppState, unbroken_contract},
};

/// Makes an agent.
#[utoipa::path(
    post,
    path = "/v1/agents/",
    operation_id = "create_agent",
    tag = "agents",
    request_body = CreateAgent,
    responses((status = OK, body = AgentView, description = "the agent"), Refusals)
)]
pub(crate) async fn create(
    State(app): State<AppState>,
    Body(body): Body<CreateAgent>,
) -> Result<Json<AgentView>, Refusal> {
    let view = unbroken_contract(async move {
        let new = create::create(&app, body).await?;
        // What nothing was asked of has nothing, and is not read.
        let mut relations = Relations::TOOLS;
        let with_folders = !new.folder_ids.is_empty();
        let with_blocks = !new.new_blocks.is_empty() || !new.block_ids.is_empty();
        for (is_there, relation) in [
            // The files of its folders are a part of its memory.
            (with_blocks || with_folders, Relations::BLOCKS),
            (with_folders, Relations::FOLDERS),
            (!new.tags.is_empty(), Relations::TAGS),
            (!new.secrets.is_empty(), Relations::SECRETS),
            (!new.identity_ids.is_empty(), Relations::IDENTITIES),
            (new.sleeptime.is_some(), Relations::GROUP),
        ] {
            if is_there {
                relations = relations.and(relation);
            }
        }
        AgentView::of(&app, new.agent, relations).await
    });
    view.await.map(Json)
}
