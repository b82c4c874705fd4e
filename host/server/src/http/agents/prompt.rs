//! An agent's system message, made anew; and its history, dropped.

use axum::{Json, extract::State};
use bulkhead_agent::RecompileOptions;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{find, instance::expect_not_kept, relations::Relations, view::AgentView};
use crate::{
    contract::{
        Body, Parameters, Refusal,
        body::Schema,
        document::Refusals,
        query::{FromQuery, Query},
    },
    http::{AppState, query::Path, unbroken_contract},
};

/// How the system message is made.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct How {
    /// also say that it was made now
    update_timestamp: Option<bool>,
    /// only say what it would be
    dry_run: Option<bool>,
}

impl FromQuery for How {
    fn from_query(query: &mut Query) -> Self {
        Self {
            update_timestamp: query.boolean("update_timestamp"),
            dry_run: query.boolean("dry_run"),
        }
    }
}

/// Makes an agent's system message anew from its instructions and memory, and gives it.
#[utoipa::path(
    post,
    path = "/v1/agents/{agent_id}/recompile",
    operation_id = "recompile_agent",
    tag = "agents",
    params(("agent_id" = String, Path, description = "the agent's id"), How),
    responses((status = OK, body = String, content_type = "application/json", description = "the system message"), Refusals)
)]
pub(crate) async fn recompile(
    State(app): State<AppState>,
    Path(agent_id): Path<String>,
    Parameters(how): Parameters<How>,
) -> Result<Json<String>, Refusal> {
    let id = find::id(&agent_id)?;
    let options = RecompileOptions {
        dry_run: how.dry_run.unwrap_or(false),
        update_timestamp: how.update_timestamp.unwrap_or(false),
    };
    let text = unbroken_contract(async move {
        let text = app.engine.recompile(id, None, options).await?;
        Ok(text)
    });
    text.await.map(Json)
}

/// As [`recompile`], by its older name.
#[utoipa::path(
    post,
    path = "/v1/agents/{agent_id}/system-prompt/recompile",
    operation_id = "recompile_agent_system_prompt",
    tag = "agents",
    params(("agent_id" = String, Path, description = "the agent's id"), How),
    responses((status = OK, body = String, content_type = "application/json", description = "the system message"), Refusals)
)]
pub(crate) async fn recompile_older(
    app: State<AppState>,
    agent_id: Path<String>,
    how: Parameters<How>,
) -> Result<Json<String>, Refusal> {
    recompile(app, agent_id, how).await
}

/// The body of a reset.
#[derive(Deserialize, ToSchema)]
pub(crate) struct ResetMessagesRequest {
    /// begin as a new agent of the type does
    add_default_initial_messages: Option<bool>,
}

impl Schema for ResetMessagesRequest {
    const NAME: &str = "ResetMessagesRequest";
}

/// Drops all messages of an agent but its system message, which is made anew.
#[utoipa::path(
    patch,
    path = "/v1/agents/{agent_id}/reset-messages",
    operation_id = "reset_messages",
    tag = "agents",
    params(("agent_id" = String, Path, description = "the agent's id")),
    request_body = ResetMessagesRequest,
    responses((status = OK, body = AgentView, description = "the agent"), Refusals)
)]
pub(crate) async fn reset(
    State(app): State<AppState>,
    Path(agent_id): Path<String>,
    Body(body): Body<ResetMessagesRequest>,
) -> Result<Json<AgentView>, Refusal> {
    let id = find::id(&agent_id)?;
    expect_not_kept(&app, id).await?;
    let begin = body.add_default_initial_messages.unwrap_or(false);
    let view = unbroken_contract(async move {
        app.engine.reset(id, begin).await?;
        let agent = find::agent(&app, &agent_id).await?;
        AgentView::of(&app, agent, Relations::ALL).await
    });
    view.await.map(Json)
}
