//! Variables of a configuration: saved, listed, changed, deleted.

use axum::{
    Json,
    extract::{RawQuery, State},
};
use bulkhead_store::{NewSandboxVariable, SandboxVariable, StoreError};
use http::StatusCode;
use serde::Deserialize;

use super::{configs, query, view::VariableView};
use crate::{
    contract::{Body, Refusal, body::Schema, id},
    http::{AppState, query::Path},
};

/// The body of a create.
#[derive(Deserialize)]
pub(super) struct SandboxEnvironmentVariableCreate {
    key: String,
    value: String,
    description: Option<String>,
}

impl Schema for SandboxEnvironmentVariableCreate {
    const NAME: &str = "SandboxEnvironmentVariableCreate";
}

/// The body of an update. A field that is null is as one that is left out.
#[derive(Deserialize)]
pub(super) struct SandboxEnvironmentVariableUpdate {
    key: Option<String>,
    value: Option<String>,
    description: Option<String>,
}

impl Schema for SandboxEnvironmentVariableUpdate {
    const NAME: &str = "SandboxEnvironmentVariableUpdate";
}

/// Saves a variable, in place of the one of its key.
pub(super) async fn save(
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
    let saved = app.store.upsert_sandbox_variable(&config_id, new).await;
    let saved = saved.map_err(|error| match error {
        StoreError::NotFound { .. } => configs::not_found(&config_id),
        error => error.into(),
    })?;
    Ok(Json(saved.record.into()))
}

pub(super) async fn list(
    State(app): State<AppState>,
    Path(config_id): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Json<Vec<VariableView>>, Refusal> {
    configs::check_id(&config_id)?;
    let query = query::read(query.as_deref(), false)?;
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
pub(super) async fn update(
    State(app): State<AppState>,
    Path(variable_id): Path<String>,
    Body(body): Body<SandboxEnvironmentVariableUpdate>,
) -> Result<Json<VariableView>, Refusal> {
    let change = |variable: &mut SandboxVariable| {
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
    let changed = app
        .store
        .update_sandbox_variable(&variable_id, change)
        .await;
    Ok(Json(changed.map_err(refusal)?.into()))
}

pub(super) async fn delete(
    State(app): State<AppState>,
    Path(variable_id): Path<String>,
) -> Result<StatusCode, Refusal> {
    if app.store.delete_sandbox_variable(&variable_id).await? {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(not_found(&variable_id))
    }
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
