//! The agent that a path names, and what a change of it is answered with.

use axum::Json;
use bulkhead_domain::{Agent, id::AgentId};
use serde_json::{Value, json};

use super::{client::Client, relations::Relations, view::AgentView};
use crate::{
    app::App,
    contract::{self, Refusal},
    http::missing,
};

/// The agent with this id of the path.
pub(crate) async fn agent(app: &App, agent_id: &str) -> Result<Agent, Refusal> {
    let id = id(agent_id)?;
    let agent = app.store.agent(&id).await?;
    agent.ok_or_else(|| missing::agent(id))
}

/// The agent's id of the path.
pub(crate) fn id(agent_id: &str) -> Result<AgentId, Refusal> {
    contract::id::parse("agent_id", agent_id)
}

/// The answer to a change that older clients expect an agent from, and others nothing.
pub(crate) async fn changed(
    app: &App,
    client: Client,
    id: AgentId,
) -> Result<Json<Value>, Refusal> {
    if !client.is_legacy {
        return Ok(Json(Value::Null));
    }
    let agent = app.store.agent(&id).await?;
    let agent = agent.ok_or_else(|| missing::agent(id))?;
    let view = AgentView::of(app, agent, Relations::ALL).await?;
    Ok(Json(json!(view)))
}
