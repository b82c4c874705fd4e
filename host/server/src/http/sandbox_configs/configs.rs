//! Configurations: saved, listed, changed, deleted.

use axum::{
    Json,
    extract::{Request, State},
};
use bulkhead_store::{
    NewSandboxConfig, SandboxConfig, SandboxConfigFilter, SandboxType, StoreError,
};
use http::StatusCode;

use super::{
    local::{self, LocalSandboxConfig, SandboxConfigCreate, SandboxConfigUpdate},
    query::{ConfigQuery, ListQuery},
    view::ConfigView,
};
use crate::{
    contract::{Body, Parameters, Refusal, document::Refusals, id},
    http::{AppState, query::Path, unbroken_contract},
};

/// Saves the configuration of the one sandbox, in place of the one that it has.
#[utoipa::path(
    post,
    path = "/v1/sandbox-config/",
    operation_id = "create_sandbox_config",
    tag = "sandbox-config",
    request_body = SandboxConfigCreate,
    responses(
        (status = OK, body = ConfigView, description = "the configuration"),
        Refusals,
    )
)]
pub(crate) async fn save(
    State(app): State<AppState>,
    request: Request,
) -> Result<Json<ConfigView>, Refusal> {
    let config = local::required(request).await?;
    let saved = app.store.upsert_sandbox_config(new(config)).await?;
    Ok(Json(saved.record.into()))
}

/// As [`save`], for a body that is the configuration itself.
#[utoipa::path(
    post,
    path = "/v1/sandbox-config/local",
    operation_id = "create_local_sandbox_config",
    tag = "sandbox-config",
    request_body = LocalSandboxConfig,
    responses(
        (status = OK, body = ConfigView, description = "the configuration"),
        Refusals,
    )
)]
pub(crate) async fn save_local(
    State(app): State<AppState>,
    Body(config): Body<LocalSandboxConfig>,
) -> Result<Json<ConfigView>, Refusal> {
    let saved = app.store.upsert_sandbox_config(new(config)).await?;
    Ok(Json(saved.record.into()))
}

/// The configuration as it is, or a new one.
#[utoipa::path(
    post,
    path = "/v1/sandbox-config/local/default",
    operation_id = "create_default_local_sandbox_config",
    tag = "sandbox-config",
    responses(
        (status = OK, body = ConfigView, description = "the configuration"),
        Refusals,
    )
)]
pub(crate) async fn default_local(
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

/// There is no virtual environment that could be made again.
#[utoipa::path(
    post,
    path = "/v1/sandbox-config/local/recreate-venv",
    operation_id = "force_recreate_local_sandbox_venv",
    tag = "sandbox-config",
    responses(
        (status = OK, body = ConfigView, description = "the configuration as it is"),
        Refusals,
    )
)]
pub(crate) async fn recreate_venv(state: State<AppState>) -> Result<Json<ConfigView>, Refusal> {
    default_local(state).await
}

/// Refuses a configuration of another kind of sandbox.
#[utoipa::path(
    post,
    path = "/v1/sandbox-config/e2b/default",
    operation_id = "create_default_e2b_sandbox_config",
    tag = "sandbox-config",
    responses(Refusals,)
)]
pub(crate) async fn default_e2b() -> Refusal {
    local::other_kind()
}

/// All configurations, the oldest first.
#[utoipa::path(
    get,
    path = "/v1/sandbox-config/",
    operation_id = "list_sandbox_configs",
    tag = "sandbox-config",
    params(ConfigQuery, ListQuery),
    responses(
        (status = OK, body = Vec<ConfigView>, description = "the configurations"),
        Refusals,
    )
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    Parameters(query): Parameters<ConfigQuery>,
) -> Result<Json<Vec<ConfigView>>, Refusal> {
    let filter = SandboxConfigFilter::from(query);
    let found = app.store.sandbox_configs(&filter).await.map_err(refusal)?;
    Ok(Json(found.into_iter().map(ConfigView::from).collect()))
}

/// Replaces what is configured, where the body says so.
#[utoipa::path(
    patch,
    path = "/v1/sandbox-config/{sandbox_config_id}",
    operation_id = "update_sandbox_config",
    tag = "sandbox-config",
    params(("sandbox_config_id" = String, Path, description = "the configuration's id")),
    request_body = SandboxConfigUpdate,
    responses(
        (status = OK, body = ConfigView, description = "the configuration"),
        Refusals,
    )
)]
pub(crate) async fn update(
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
#[utoipa::path(
    delete,
    path = "/v1/sandbox-config/{sandbox_config_id}",
    operation_id = "delete_sandbox_config",
    tag = "sandbox-config",
    params(("sandbox_config_id" = String, Path, description = "the configuration's id")),
    responses(
        (status = NO_CONTENT, description = "it is deleted"),
        Refusals,
    )
)]
pub(crate) async fn delete(
    State(app): State<AppState>,
    Path(config_id): Path<String>,
) -> Result<StatusCode, Refusal> {
    check_id(&config_id)?;
    let deleted = unbroken_contract(async move {
        if !app.store.delete_sandbox_config(&config_id).await? {
            return Err(not_found(&config_id));
        }
        // Its variables went with it.
        app.registry.forget_plans();
        Ok(StatusCode::NO_CONTENT)
    });
    deleted.await
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
