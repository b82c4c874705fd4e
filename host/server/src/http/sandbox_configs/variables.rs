//! Variables of a configuration: saved, listed, changed, deleted.

use axum::{Json, extract::State};
use bulkhead_store::{NewSandboxVariable, SandboxVariable, StoreError};
use http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{configs, query::ListQuery, view::VariableView};
use crate::{
    contract::{Body, Parameters, Refusal, body::Schema, document::Refusals, id},
    http::{AppState, query::Path, unbroken_contract},
};

/// The body of a create.
#[derive(Deserialize, ToSchema)]
pub(crate) struct SandboxEnvironmentVariableCreate {
    key: String,
    value: String,
    description: Option<String>,
}

impl Schema for SandboxEnvironmentVariableCreate {
    const NAME: &str = "SandboxEnvironmentVariableCreate";
}

/// The body of an update. A field that is null is as one that is left out.
#[derive(Deserialize, ToSchema)]
pub(crate) struct SandboxEnvironmentVariableUpdate {
    key: Option<String>,
    value: Option<String>,
    description: Option<String>,
}

impl Schema for SandboxEnvironmentVariableUpdate {
    const NAME: &str = "SandboxEnvironmentVariableUpdate";
}

/// Saves a variable, in place of the one of its key.
#[utoipa::path(
    post,
    path = "/v1/sandbox-config/{sandbox_config_id}/environment-variable",
    operation_id = "create_sandbox_environment_variable",
    tag = "sandbox-config",
    params(("sandbox_config_id" = String, Path, description = "the configuration's id")),
    request_body = SandboxEnvironmentVariableCreate,
    responses(
        (status = OK, body = VariableView, description = "the variable"),
        Refusals,
    )
)]
pub(crate) async fn save(
    State(app): State<AppState>,
    Path(config_id): Path<String>,
    Body(body): Body<SandboxEnvironmentVariableCreate>,
) -> Result<Json<VariableView>, Refusal> {
    configs::check_id(&config_id)?;
    let new = NewSandboxVariable {
        key: body.key,
        value: body.value.into(),
        description: body.description,
        user_id: Some(id::DEFAULT_USER.to_owned()),
    };
    let saved = unbroken_contract(async move {
        let saved = app.store.upsert_sandbox_variable(&config_id, new).await;
        let saved = saved.map_err(|error| match error {
            StoreError::NotFound { .. } => configs::not_found(&config_id),
            error => error.into(),
        })?;
        app.registry.forget_plans();
        Ok(saved)
    });
    Ok(Json(saved.await?.record.into()))
}

/// The variables of a configuration, the oldest first.
#[utoipa::path(
    get,
    path = "/v1/sandbox-config/{sandbox_config_id}/environment-variable",
    operation_id = "list_sandbox_environment_variables",
    tag = "sandbox-config",
    params(("sandbox_config_id" = String, Path, description = "the configuration's id"), ListQuery),
    responses(
        (status = OK, body = Vec<VariableView>, description = "the variables, with their values"),
        Refusals,
    )
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    Path(config_id): Path<String>,
    Parameters(query): Parameters<ListQuery>,
) -> Result<Json<Vec<VariableView>>, Refusal> {
    configs::check_id(&config_id)?;
    let found = app
        .store
        .sandbox_variables(&config_id, query.after.as_deref(), Some(query.limit))
        .await
        .map_err(|error| match error {
            // The configuration, or the variable before the page.
            StoreError::NotFound { id, .. } if id == config_id => configs::not_found(&id),
            error => refusal(error),
        })?;
    Ok(Json(found.into_iter().map(VariableView::from).collect()))
}

/// Changes the fields that are given.
#[utoipa::path(
    patch,
    path = "/v1/sandbox-config/environment-variable/{env_var_id}",
    operation_id = "update_sandbox_environment_variable",
    tag = "sandbox-config",
    params(("env_var_id" = String, Path, description = "the variable's id")),
    request_body = SandboxEnvironmentVariableUpdate,
    responses(
        (status = OK, body = VariableView, description = "the variable"),
        Refusals,
    )
)]
pub(crate) async fn update(
    State(app): State<AppState>,
    Path(variable_id): Path<String>,
    Body(body): Body<SandboxEnvironmentVariableUpdate>,
) -> Result<Json<VariableView>, Refusal> {
    let change = move |variable: &mut SandboxVariable| {
        if let Some(key) = body.key {
            variable.key = key;
        }
        if let Some(value) = body.value {
            variable.value = value.into();
        }
        if let Some(description) = body.description {
            variable.description = Some(description);
        }
        variable.last_updated_by_id = Some(id::DEFAULT_USER.to_owned());
        Ok::<_, StoreError>(())
    };
    let changed = unbroken_contract(async move {
        let changed = app.store.update_sandbox_variable(&variable_id, change);
        let changed = changed.await.map_err(refusal)?;
        app.registry.forget_plans();
        Ok(changed)
    });
    Ok(Json(changed.await?.into()))
}

/// Deletes a variable.
#[utoipa::path(
    delete,
    path = "/v1/sandbox-config/environment-variable/{env_var_id}",
    operation_id = "delete_sandbox_environment_variable",
    tag = "sandbox-config",
    params(("env_var_id" = String, Path, description = "the variable's id")),
    responses(
        (status = NO_CONTENT, description = "it is deleted"),
        Refusals,
    )
)]
pub(crate) async fn delete(
    State(app): State<AppState>,
    Path(variable_id): Path<String>,
) -> Result<StatusCode, Refusal> {
    let deleted = unbroken_contract(async move {
        if !app.store.delete_sandbox_variable(&variable_id).await? {
            return Err(not_found(&variable_id));
        }
        app.registry.forget_plans();
        Ok(StatusCode::NO_CONTENT)
    });
    deleted.await
}

fn not_found(variable_id: &str) -> Refusal {
    super::not_found("SandboxEnvironmentVariable", variable_id)
}

fn refusal(error: StoreError) -> Refusal {
    match error {
        StoreError::NotFound { id, .. } => not_found(&id),
        StoreError::NameTaken { name, .. } => Refusal::conflict(format!(
            "SandboxEnvironmentVariable with key {name} already exists in this configuration"
        )),
        error => error.into(),
    }
}
