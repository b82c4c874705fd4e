//! The end of an agent.

use axum::{Json, extract::State};
use serde::Serialize;
use utoipa::ToSchema;

use super::find;
use crate::{
    contract::{Refusal, document::Refusals},
    http::{AppState, missing, query::Path},
};

/// What was done, for people.
#[derive(Serialize, ToSchema)]
pub(crate) struct Done {
    pub(crate) message: String,
}

/// Deletes an agent with its messages and runs; its blocks and tools stay.
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
    if !app.store.delete_agent(&id).await? {
        return Err(missing::agent(id));
    }
    let message = format!("Agent id={id} successfully deleted");
    Ok(Json(Done { message }))
}
