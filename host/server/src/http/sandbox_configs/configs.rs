//! Configurations: saved, listed, changed, deleted.

use axum::{
    Json,
    extract::{RawQuery, Request, State},
};
use bulkhead_store::{
    NewSandboxConfig, SandboxConfig, SandboxConfigFilter, SandboxType, StoreError,
};
use http::StatusCode;

use super::{
    local::{self, LocalSandboxConfig},
    query,
    view::ConfigView,
};
use crate::{
    contract::{Body, Refusal, id},
    http::{AppState, query::Path},
};

/// Saves the configuration of the one sandbox, in place of the one that it has.
pub(super) async fn save(
    State(app): State<AppState>,
    request: Request,
) -> Result<Json<ConfigView>, Refusal> {
    let config = local::required(request).await?;
    let saved = app.store.upsert_sandbox_config(new(config)).await?;
    Ok(Json(saved.record.into()))
}

/// As [`save`], for a body that is the configuration itself.
pub(super) async fn save_local(
    State(app): State<AppState>,
    Body(config): Body<LocalSandboxConfig>,
) -> Result<Json<ConfigView>, Refusal> {
    let saved = app.store.upsert_sandbox_config(new(config)).await?;
    Ok(Json(saved.record.into()))
}

/// The configuration as it is, or a new one.
pub(super) async fn default_local(
    State(app): State<AppState>,
) -> Result<Json<ConfigView>, Refusal> {
    if let Some(found) = app.store.sandbox_config_by_type(SandboxType::Local).await? {
        return Ok(Json(found.into()));
    }
    let new = new(LocalSandboxConfig::default());
    let config = match app.store.create_sandbox_config(new).await {
        Ok(created) => created,
        // Another request made it meanwhile.
        Err(error @ StoreError::NameTaken { .. }) => app
            .store
            .sandbox_config_by_type(SandboxType::Local)
            .await?
            .ok_or(error)?,
        Err(error) => return Err(error.into()),
    };
    Ok(Json(config.into()))
}

/// Refuses a configuration of another kind of sandbox.
pub(super) async fn no_other() -> Refusal {
    local::other_kind()
}

pub(super) async fn list(
    State(app): State<AppState>,
    RawQuery(query): RawQuery,
) -> Result<Json<Vec<ConfigView>>, Refusal> {
    let query = query::read(query.as_deref(), true)?;
    let filter = SandboxConfigFilter {
        sandbox_type: query.sandbox_type,
        limit: Some(query.limit),
        after: query.after,
    };
    let found = app.store.sandbox_configs(&filter).await.map_err(refusal)?;
    Ok(Json(found.into_iter().map(ConfigView::from).collect()))
}

/// Replaces what is configured, where the body says so.
pub(super) async fn update(
    State(app): State<AppState>,
    Path(config_id): Path<String>,
    request: Request,
) -> Result<Json<ConfigView>, Refusal> {
    check_id(&config_id)?;
    let changed = match local::optional(request).await? {
        Some(config) => {
            let change = |stored: &mut SandboxConfig| {
                stored.config = config.into_json();
                stored.last_updated_by_id = Some(id::DEFAULT_USER.to_owned());
                Ok::<_, StoreError>(())
            };
            let changed = app.store.update_sandbox_config(&config_id, change);
            changed.await.map_err(refusal)?
        }
        None => {
            let found = app.store.sandbox_config(&config_id).await?;
            found.ok_or_else(|| not_found(&config_id))?
        }
    };
    Ok(Json(changed.into()))
}

/// Deletes a configuration with its variables.
pub(super) async fn delete(
    State(app): State<AppState>,
    Path(config_id): Path<String>,
) -> Result<StatusCode, Refusal> {
    check_id(&config_id)?;
    if app.store.delete_sandbox_config(&config_id).await? {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(not_found(&config_id))
    }
}

/// Refuses what is no id of a configuration.
pub(super) fn check_id(config_id: &str) -> Result<(), Refusal> {
    id::check("sandbox", "sandbox_config_id", config_id)
}

pub(super) fn not_found(config_id: &str) -> Refusal {
    super::not_found("SandboxConfig", config_id)
}

fn refusal(error: StoreError) -> Refusal {
    match error {
        StoreError::NotFound { id, .. } => not_found(&id),
        error => error.into(),
    }
}

fn new(config: LocalSandboxConfig) -> NewSandboxConfig {
    NewSandboxConfig {
        sandbox_type: SandboxType::Local,
        config: config.into_json(),
        user_id: Some(id::DEFAULT_USER.to_owned()),
    }
}
