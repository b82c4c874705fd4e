//! What an agent's model sees now, and the memory that it is made of.

use axum::{Json, extract::State};
use bulkhead_agent::ContextOverview;
use bulkhead_domain::id::{ConversationId, ConversationKind};

use super::{
    find,
    relations::Relations,
    view::{AgentView, Memory},
};
use crate::{
    contract::{
        Parameters, Refusal,
        document::Refusals,
        query::{FromQuery, Query},
    },
    http::{AppState, query::Path},
};

/// The name of the thread that every agent has.
const DEFAULT_THREAD: &str = "default";

/// Which thread.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// a conversation of the agent; `default`, or nothing, for its own thread
    #[param(value_type = Option<String>)]
    conversation_id: Option<ConversationId>,
}

impl FromQuery for Which {
    fn from_query(query: &mut Query) -> Self {
        let is_default = query.text("conversation_id").as_deref() == Some(DEFAULT_THREAD);
        let conversation_id = match is_default {
            true => None,
            false => query.id::<ConversationKind>("conversation_id"),
        };
        Self { conversation_id }
    }
}

/// What an agent's model sees now, with estimates of its tokens.
#[utoipa::path(
    get,
    path = "/v1/agents/{agent_id}/context",
    operation_id = "retrieve_agent_context_window",
    tag = "agents",
    params(("agent_id" = String, Path, description = "the agent's id"), Which),
    responses((status = OK, body = Object, description = "the context"), Refusals)
)]
pub(crate) async fn context(
    State(app): State<AppState>,
    Path(agent_id): Path<String>,
    Parameters(which): Parameters<Which>,
) -> Result<Json<ContextOverview>, Refusal> {
    let id = find::id(&agent_id)?;
    let overview = app.engine.context(id, which.conversation_id).await?;
    Ok(Json(overview))
}

/// An agent's memory blocks, and its files.
#[utoipa::path(
    get,
    path = "/v1/agents/{agent_id}/core-memory",
    operation_id = "retrieve_agent_memory",
    tag = "agents",
    params(("agent_id" = String, Path, description = "the agent's id")),
    responses((status = OK, body = Memory, description = "the memory"), Refusals)
)]
pub(crate) async fn memory(
    State(app): State<AppState>,
    Path(agent_id): Path<String>,
) -> Result<Json<Memory>, Refusal> {
    let agent = find::agent(&app, &agent_id).await?;
    let view = AgentView::of(&app, agent, Relations::BLOCKS).await?;
    Ok(Json(view.memory))
}
