//! Types of agents: what instances are made from. [`form`]: their bodies.

mod form;

use axum::{
    Json,
    extract::{Request, State},
    response::{IntoResponse as _, Response},
};
use bulkhead_access::Action;
use bulkhead_domain::platform::AgentType;
use bulkhead_store::{AgentTypeFilter, StoreError};
use http::StatusCode;
use serde::Deserialize;

use self::form::{AgentTypeCreate, AgentTypeUpdate, AgentTypeView};
use super::page::{Page, page};
use crate::{
    http::{
        AppState,
        error::{self, ErrorBody, Rejection},
        json::body,
        query::{Params, Path},
    },
    platform::Caller,
};

/// Which types.
#[derive(Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct AgentTypesQuery {
    /// from which instances can be made, or can't
    is_active: Option<bool>,
    /// with this somewhere in the name
    search: Option<String>,
    /// from 1; 1 where left out
    #[param(minimum = 1)]
    page: Option<u32>,
    /// entries of a page, 1 to 100; 20 where left out
    #[param(minimum = 1, maximum = 100)]
    page_size: Option<u32>,
}

/// Makes a type.
#[utoipa::path(
    post,
    path = "/api/v1/agent-types",
    operation_id = "create_agent_type",
    tag = "agent types",
    request_body = AgentTypeCreate,
    responses(
        (status = CREATED, body = AgentTypeView, description = "the type"),
        (status = CONFLICT, body = ErrorBody, description = "the slug is taken"),
    )
)]
pub(crate) async fn create(
    State(app): State<AppState>,
    caller: Caller,
    request: Request,
) -> Result<Response, Rejection> {
    caller.may(Action::CreateAgentType)?;
    let new: AgentTypeCreate = body(request).await?;
    let agent_type = new.made()?;
    let created = app.store.create_agent_type(&agent_type).await;
    created.map_err(taken)?;
    let view = AgentTypeView::from(agent_type);
    Ok((StatusCode::CREATED, Json(view)).into_response())
}

/// All types.
#[utoipa::path(
    get,
    path = "/api/v1/agent-types",
    operation_id = "list_agent_types",
    tag = "agent types",
    params(AgentTypesQuery),
    responses((status = OK, body = Page<AgentTypeView>, description = "a page of types"))
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    caller: Caller,
    query: Result<Params<AgentTypesQuery>, Rejection>,
) -> Result<Json<Page<AgentTypeView>>, Rejection> {
    caller.may(Action::ReadAgentType)?;
    let Params(query) = query?;
    let page = page(query.page, query.page_size)?;
    let filter = AgentTypeFilter {
        is_active: query.is_active,
        search: query.search,
        page,
    };
    let (types, total) = app.store.list_agent_types(&filter).await?;
    let types = types.into_iter().map(AgentTypeView::from).collect();
    Ok(Json(Page::new(types, page, total)))
}

/// The type with a slug.
#[utoipa::path(
    get,
    path = "/api/v1/agent-types/slug/{slug}",
    operation_id = "get_agent_type_by_slug",
    tag = "agent types",
    params(("slug" = String, Path, description = "the type's slug")),
    responses(
        (status = OK, body = AgentTypeView, description = "the type"),
        (status = NOT_FOUND, body = ErrorBody),
    )
)]
pub(crate) async fn get_by_slug(
    State(app): State<AppState>,
    caller: Caller,
    Path(slug): Path<String>,
) -> Result<Json<AgentTypeView>, Rejection> {
    caller.may(Action::ReadAgentType)?;
    let found = app.store.agent_type_by_slug(&slug).await?;
    Ok(Json(found.ok_or_else(|| missing(&slug))?.into()))
}

/// One type.
#[utoipa::path(
    get,
    path = "/api/v1/agent-types/{agent_type_id}",
    operation_id = "get_agent_type",
    tag = "agent types",
    params(("agent_type_id" = String, Path, description = "the type's id")),
    responses(
        (status = OK, body = AgentTypeView, description = "the type"),
        (status = NOT_FOUND, body = ErrorBody),
    )
)]
pub(crate) async fn get(
    State(app): State<AppState>,
    caller: Caller,
    Path(agent_type_id): Path<String>,
) -> Result<Json<AgentTypeView>, Rejection> {
    caller.may(Action::ReadAgentType)?;
    let id = agent_type_id.parse().map_err(|_| missing(&agent_type_id))?;
    let found = app.store.agent_type(id).await?;
    Ok(Json(found.ok_or_else(|| missing(&agent_type_id))?.into()))
}

/// Changes a type. Instances that were made stay what they are.
#[utoipa::path(
    patch,
    path = "/api/v1/agent-types/{agent_type_id}",
    operation_id = "update_agent_type",
    tag = "agent types",
    params(("agent_type_id" = String, Path, description = "the type's id")),
    request_body = AgentTypeUpdate,
    responses(
        (status = OK, body = AgentTypeView, description = "the type"),
        (status = NOT_FOUND, body = ErrorBody),
        (status = CONFLICT, body = ErrorBody, description = "the slug is taken"),
    )
)]
pub(crate) async fn update(
    State(app): State<AppState>,
    caller: Caller,
    Path(agent_type_id): Path<String>,
    request: Request,
) -> Result<Json<AgentTypeView>, Rejection> {
    caller.may(Action::UpdateAgentType)?;
    let change: AgentTypeUpdate = body(request).await?;
    let id = agent_type_id.parse().map_err(|_| missing(&agent_type_id))?;
    let edit = |of: &mut AgentType| change.apply(of).map_err(Failed::Refused);
    match app.store.update_agent_type(id, edit).await {
        Ok(changed) => Ok(Json(changed.into())),
        Err(Failed::Refused(rejection)) => Err(rejection),
        Err(Failed::Store(StoreError::NotFound { .. })) => Err(missing(&agent_type_id)),
        Err(Failed::Store(error)) => Err(taken(error)),
    }
}

/// Why a change was not made.
enum Failed {
    Refused(Rejection),
    Store(StoreError),
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

fn taken(error: StoreError) -> Rejection {
    match error {
        StoreError::NameTaken { name, .. } => {
            let text = format!("there is an agent type with the slug {name} already");
            Rejection::with(&error::SLUG_TAKEN, text)
        }
        error => error.into(),
    }
}

fn missing(which: &str) -> Rejection {
    Rejection::with(&error::NOT_FOUND, format!("there is no agent type {which}"))
}
