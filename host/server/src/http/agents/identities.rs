//! To whom an agent belongs.

use axum::{Json, extract::State};
use bulkhead_domain::id::{AgentId, IdentityId};
use serde_json::Value;

use super::find;
use crate::{
    contract::{Refusal, document::Refusals, id},
    http::{AppState, missing, query::Path},
};

/// Says that an agent belongs to an identity.
#[utoipa::path(
    patch,
    path = "/v1/agents/{agent_id}/identities/attach/{identity_id}",
    operation_id = "attach_identity_to_agent",
    tag = "agents",
    params(
        ("agent_id" = String, Path, description = "the agent's id"),
        ("identity_id" = String, Path, description = "the identity's id"),
    ),
    responses((status = OK, body = Option<Object>, description = "null"), Refusals)
)]
pub(crate) async fn attach(
    State(app): State<AppState>,
    Path(ids): Path<(String, String)>,
) -> Result<Json<Value>, Refusal> {
    let (agent, identity) = parse(&ids)?;
    let attached = app.store.attach_identity_to_agent(&identity, &agent).await;
    attached.map_err(missing::stored)?;
    Ok(Json(Value::Null))
}

/// Says that an agent does not belong to an identity.
#[utoipa::path(
    patch,
    path = "/v1/agents/{agent_id}/identities/detach/{identity_id}",
    operation_id = "detach_identity_from_agent",
    tag = "agents",
    params(
        ("agent_id" = String, Path, description = "the agent's id"),
        ("identity_id" = String, Path, description = "the identity's id"),
    ),
    responses((status = OK, body = Option<Object>, description = "null"), Refusals)
)]
pub(crate) async fn detach(
    State(app): State<AppState>,
    Path(ids): Path<(String, String)>,
) -> Result<Json<Value>, Refusal> {
    let (agent, identity) = parse(&ids)?;
    let detached = app
        .store
        .detach_identity_from_agent(&identity, &agent)
        .await;
    detached.map_err(missing::stored)?;
    Ok(Json(Value::Null))
}

fn parse((agent, identity): &(String, String)) -> Result<(AgentId, IdentityId), Refusal> {
    Ok((find::id(agent)?, id::parse("identity_id", identity)?))
}
