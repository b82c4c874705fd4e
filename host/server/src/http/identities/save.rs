//! Create, upsert, update and delete.

use axum::{Json, extract::State};
use bulkhead_domain::{
    Identity, IdentityProperty, IdentityType, Timestamp,
    id::{AgentId, BlockId, IdentityId},
};
use bulkhead_store::{IdentityFilter, IdentityRelations, StoreError};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::view::{IdentityView, Property};
use crate::{
    app::App,
    contract::{Body, Refusal, body::Schema, document::Refusals, id},
    http::{AppState, blocks::update::set, missing, query::Path},
};

/// The body of create and upsert.
#[derive(Deserialize, ToSchema)]
pub(crate) struct IdentityCreate {
    identifier_key: String,
    name: String,
    /// org, user or other
    #[schema(value_type = String)]
    identity_type: IdentityType,
    project_id: Option<String>,
    #[schema(value_type = Option<Vec<String>>)]
    agent_ids: Option<Vec<AgentId>>,
    #[schema(value_type = Option<Vec<String>>)]
    block_ids: Option<Vec<BlockId>>,
    #[schema(value_type = Option<Vec<Property>>)]
    properties: Option<Vec<IdentityProperty>>,
}

impl Schema for IdentityCreate {
    const NAME: &str = "IdentityCreate";
}

impl From<IdentityCreate> for Identity {
    fn from(body: IdentityCreate) -> Self {
        let now = Timestamp::now();
        Self {
            id: IdentityId::random(),
            identifier_key: body.identifier_key,
            name: body.name,
            identity_type: body.identity_type,
            project_id: body.project_id,
            properties: body.properties.unwrap_or_default(),
            agent_ids: body.agent_ids.unwrap_or_default(),
            block_ids: body.block_ids.unwrap_or_default(),
            created_by_id: None,
            created_at: now,
            updated_at: now,
        }
    }
}

/// The body of an update. A field that is null is as one that is left out.
#[derive(Deserialize, ToSchema)]
pub(crate) struct IdentityUpdate {
    identifier_key: Option<String>,
    name: Option<String>,
    /// org, user or other
    #[schema(value_type = Option<String>)]
    identity_type: Option<IdentityType>,
    #[schema(value_type = Option<Vec<String>>)]
    agent_ids: Option<Vec<AgentId>>,
    #[schema(value_type = Option<Vec<String>>)]
    block_ids: Option<Vec<BlockId>>,
    #[schema(value_type = Option<Vec<Property>>)]
    properties: Option<Vec<IdentityProperty>>,
}

impl Schema for IdentityUpdate {
    const NAME: &str = "IdentityUpdate";
}

/// The body that adds properties.
#[derive(Deserialize)]
pub(crate) struct Properties(Vec<IdentityProperty>);

impl Schema for Properties {
    const NAME: &str = "IdentityProperties";
}

/// Makes an identity.
#[utoipa::path(
    post,
    path = "/v1/identities/",
    operation_id = "create_identity",
    tag = "identities",
    request_body = IdentityCreate,
    responses((status = OK, body = IdentityView, description = "the identity"), Refusals)
)]
pub(crate) async fn create(
    State(app): State<AppState>,
    Body(body): Body<IdentityCreate>,
) -> Result<Json<IdentityView>, Refusal> {
    let identity = Identity::from(body);
    let created = app.store.create_identity(&identity).await;
    created.map_err(missing::stored)?;
    Ok(Json(identity.into()))
}

/// Makes an identity, or changes the one of its project that has its key.
#[utoipa::path(
    put,
    path = "/v1/identities/",
    operation_id = "upsert_identity",
    tag = "identities",
    request_body = IdentityCreate,
    responses((status = OK, body = IdentityView, description = "the identity"), Refusals)
)]
pub(crate) async fn upsert(
    State(app): State<AppState>,
    Body(body): Body<IdentityCreate>,
) -> Result<Json<IdentityView>, Refusal> {
    let former = former(&app, &body).await?;
    let relations = IdentityRelations {
        agent_ids: body.agent_ids.clone(),
        block_ids: body.block_ids.clone(),
    };
    let saved = match former {
        // What the body does not name stays.
        Some(former) => {
            let edit = |identity: &mut Identity| {
                identity.name = body.name;
                identity.identity_type = body.identity_type;
                set(&mut identity.properties, body.properties);
                Ok::<_, StoreError>(())
            };
            app.store.update_identity(&former, edit, &relations).await
        }
        None => {
            let saved = app.store.upsert_identity(&body.into(), &relations).await;
            saved.map(|saved| saved.record)
        }
    };
    Ok(Json(saved.map_err(missing::stored)?.into()))
}

/// The identity of the body's project that has its key.
async fn former(app: &App, body: &IdentityCreate) -> Result<Option<IdentityId>, Refusal> {
    let filter = IdentityFilter {
        identifier_key: Some(body.identifier_key.clone()),
        project_id: body.project_id.clone(),
        ..IdentityFilter::default()
    };
    let found = app.store.identities(&filter).await;
    let mut found = found.map_err(missing::stored)?.into_iter();
    let found = found.find(|identity| identity.project_id == body.project_id);
    Ok(found.map(|identity| identity.id))
}

/// Changes the fields that are given; lists are replaced.
#[utoipa::path(
    patch,
    path = "/v1/identities/{identity_id}",
    operation_id = "update_identity",
    tag = "identities",
    params(("identity_id" = String, Path, description = "the identity's id")),
    request_body = IdentityUpdate,
    responses((status = OK, body = IdentityView, description = "the identity"), Refusals)
)]
pub(crate) async fn update(
    State(app): State<AppState>,
    Path(identity_id): Path<String>,
    Body(body): Body<IdentityUpdate>,
) -> Result<Json<IdentityView>, Refusal> {
    let identity_id = id::parse("identity_id", &identity_id)?;
    let relations = IdentityRelations {
        agent_ids: body.agent_ids,
        block_ids: body.block_ids,
    };
    let edit = |identity: &mut Identity| {
        set(&mut identity.identifier_key, body.identifier_key);
        set(&mut identity.name, body.name);
        set(&mut identity.identity_type, body.identity_type);
        set(&mut identity.properties, body.properties);
        Ok::<_, StoreError>(())
    };
    let changed = app.store.update_identity(&identity_id, edit, &relations);
    Ok(Json(changed.await.map_err(missing::stored)?.into()))
}

/// Adds properties, in place of those with the same keys.
#[utoipa::path(
    put,
    path = "/v1/identities/{identity_id}/properties",
    operation_id = "upsert_identity_properties",
    tag = "identities",
    params(("identity_id" = String, Path, description = "the identity's id")),
    request_body = Vec<Property>,
    responses((status = OK, body = IdentityView, description = "the identity"), Refusals)
)]
pub(crate) async fn properties(
    State(app): State<AppState>,
    Path(identity_id): Path<String>,
    Body(Properties(properties)): Body<Properties>,
) -> Result<Json<IdentityView>, Refusal> {
    let identity_id = id::parse("identity_id", &identity_id)?;
    let changed = app
        .store
        .upsert_identity_properties(&identity_id, &properties);
    Ok(Json(changed.await.map_err(missing::stored)?.into()))
}

/// Deletes an identity; what belongs to it stays.
#[utoipa::path(
    delete,
    path = "/v1/identities/{identity_id}",
    operation_id = "delete_identity",
    tag = "identities",
    params(("identity_id" = String, Path, description = "the identity's id")),
    responses((status = OK, body = Option<Object>, description = "null"), Refusals)
)]
pub(crate) async fn delete(
    State(app): State<AppState>,
    Path(identity_id): Path<String>,
) -> Result<Json<Value>, Refusal> {
    let identity_id = id::parse("identity_id", &identity_id)?;
    if app.store.delete_identity(&identity_id).await? {
        Ok(Json(Value::Null))
    } else {
        Err(missing::object("Identity", identity_id))
    }
}
