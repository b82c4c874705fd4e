//! Types of agents: what instances are made from.

use axum::{
    Json,
    extract::{Request, State},
    response::{IntoResponse as _, Response},
};
use bulkhead_access::Action;
use bulkhead_domain::{
    Timestamp,
    platform::{AgentType, AgentTypeId},
};
use bulkhead_store::{AgentTypeFilter, StoreError, agent_type::limits};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{
    fields::{Faults, given},
    page::{Page, page},
};
use crate::{
    http::{
        AppState,
        error::{self, ErrorBody, Rejection},
        json::body,
        query::{Params, Path},
    },
    platform::Caller,
};

/// A type of agents.
#[derive(Serialize, ToSchema)]
#[schema(as = PlatformAgentType)]
pub(crate) struct AgentTypeView {
    id: String,
    name: String,
    slug: String,
    description: Option<String>,
    expertise: Vec<String>,
    /// what its instances are told first
    personality_prompt: String,
    /// a handle, or a provider's name of a model
    primary_model: String,
    /// what is asked where that fails, in this order
    fallback_models: Vec<String>,
    #[schema(value_type = Object)]
    model_params: Map<String, Value>,
    /// names of MCP servers whose tools instances have
    mcp_servers: Vec<String>,
    /// whether instances can be made
    is_active: bool,
    created_at: String,
    updated_at: String,
}

impl From<AgentType> for AgentTypeView {
    fn from(of: AgentType) -> Self {
        Self {
            id: of.id.to_string(),
            name: of.name,
            slug: of.slug,
            description: of.description,
            expertise: of.expertise,
            personality_prompt: of.personality_prompt,
            primary_model: of.primary_model,
            fallback_models: of.fallback_models,
            model_params: of.model_params,
            mcp_servers: of.mcp_servers,
            is_active: of.is_active,
            created_at: of.created_at.to_string(),
            updated_at: of.updated_at.to_string(),
        }
    }
}

/// A new type.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PlatformAgentTypeCreate)]
pub(crate) struct AgentTypeCreate {
    name: String,
    /// small letters, digits and dashes
    slug: String,
    description: Option<String>,
    #[serde(default)]
    expertise: Vec<String>,
    personality_prompt: String,
    primary_model: String,
    #[serde(default)]
    fallback_models: Vec<String>,
    /// temperature, max_tokens, parallel_tool_calls …
    #[serde(default)]
    #[schema(value_type = Object)]
    model_params: Map<String, Value>,
    #[serde(default)]
    mcp_servers: Vec<String>,
    #[serde(default = "yes")]
    is_active: bool,
}

fn yes() -> bool {
    true
}

/// What changes of a type. What is left out stays.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PlatformAgentTypeUpdate)]
pub(crate) struct AgentTypeUpdate {
    name: Option<String>,
    slug: Option<String>,
    /// null takes it away
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>)]
    #[expect(clippy::option_option, reason = "null and nothing are two things here")]
    description: Option<Option<String>>,
    expertise: Option<Vec<String>>,
    personality_prompt: Option<String>,
    primary_model: Option<String>,
    fallback_models: Option<Vec<String>>,
    #[schema(value_type = Option<Object>)]
    model_params: Option<Map<String, Value>>,
    mcp_servers: Option<Vec<String>>,
    is_active: Option<bool>,
}

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
        (status = BAD_REQUEST, body = ErrorBody),
        (status = UNAUTHORIZED, body = ErrorBody),
        (status = FORBIDDEN, body = ErrorBody),
        (status = CONFLICT, body = ErrorBody, description = "the slug is taken"),
        (status = PAYLOAD_TOO_LARGE, body = ErrorBody),
        (status = UNSUPPORTED_MEDIA_TYPE, body = ErrorBody),
        (status = UNPROCESSABLE_ENTITY, body = ErrorBody),
        (status = SERVICE_UNAVAILABLE, body = ErrorBody),
    )
)]
pub(crate) async fn create(
    State(app): State<AppState>,
    caller: Caller,
    request: Request,
) -> Result<Response, Rejection> {
    caller.may(Action::CreateAgentType)?;
    let new: AgentTypeCreate = body(request).await?;
    let now = Timestamp::now();
    let agent_type = AgentType {
        id: AgentTypeId::random(),
        name: new.name,
        slug: new.slug,
        description: new.description,
        expertise: new.expertise,
        personality_prompt: new.personality_prompt,
        primary_model: new.primary_model,
        fallback_models: new.fallback_models,
        model_params: new.model_params,
        mcp_servers: new.mcp_servers,
        is_active: new.is_active,
        created_at: now,
        updated_at: now,
    };
    check(&agent_type)?;
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
    responses(
        (status = OK, body = Page<AgentTypeView>, description = "a page of types"),
        (status = UNAUTHORIZED, body = ErrorBody),
        (status = FORBIDDEN, body = ErrorBody),
        (status = UNPROCESSABLE_ENTITY, body = ErrorBody),
        (status = SERVICE_UNAVAILABLE, body = ErrorBody),
    )
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
        (status = UNAUTHORIZED, body = ErrorBody),
        (status = FORBIDDEN, body = ErrorBody),
        (status = NOT_FOUND, body = ErrorBody),
        (status = SERVICE_UNAVAILABLE, body = ErrorBody),
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
        (status = UNAUTHORIZED, body = ErrorBody),
        (status = FORBIDDEN, body = ErrorBody),
        (status = NOT_FOUND, body = ErrorBody),
        (status = SERVICE_UNAVAILABLE, body = ErrorBody),
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
        (status = BAD_REQUEST, body = ErrorBody),
        (status = UNAUTHORIZED, body = ErrorBody),
        (status = FORBIDDEN, body = ErrorBody),
        (status = NOT_FOUND, body = ErrorBody),
        (status = CONFLICT, body = ErrorBody, description = "the slug is taken"),
        (status = PAYLOAD_TOO_LARGE, body = ErrorBody),
        (status = UNSUPPORTED_MEDIA_TYPE, body = ErrorBody),
        (status = UNPROCESSABLE_ENTITY, body = ErrorBody),
        (status = SERVICE_UNAVAILABLE, body = ErrorBody),
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
    let edit = |of: &mut AgentType| {
        change.apply(of);
        check(of).map_err(Failed::Refused)
    };
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

impl AgentTypeUpdate {
    fn apply(self, of: &mut AgentType) {
        fn set<T>(field: &mut T, value: Option<T>) {
            if let Some(value) = value {
                *field = value;
            }
        }
        set(&mut of.name, self.name);
        set(&mut of.slug, self.slug);
        set(&mut of.description, self.description);
        set(&mut of.expertise, self.expertise);
        set(&mut of.personality_prompt, self.personality_prompt);
        set(&mut of.primary_model, self.primary_model);
        set(&mut of.fallback_models, self.fallback_models);
        set(&mut of.model_params, self.model_params);
        set(&mut of.mcp_servers, self.mcp_servers);
        set(&mut of.is_active, self.is_active);
    }
}

fn check(of: &AgentType) -> Result<(), Rejection> {
    let mut faults = Faults::default();
    faults.name("name", &of.name);
    faults.slug("slug", &of.slug);
    faults.description("description", of.description.as_deref());
    faults.words("expertise", &of.expertise, limits::EXPERTISE_MAX);
    faults.prompt("personality_prompt", &of.personality_prompt);
    faults.word("primary_model", &of.primary_model);
    let most = limits::FALLBACK_MODELS_MAX;
    faults.words("fallback_models", &of.fallback_models, most);
    faults.params("model_params", &of.model_params);
    faults.words("mcp_servers", &of.mcp_servers, limits::MCP_SERVERS_MAX);
    faults.check()
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
