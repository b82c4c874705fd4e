//! Providers are made, changed and deleted.

use axum::{
    Json,
    extract::{Request, State},
};
use bulkhead_domain::Timestamp;
use bulkhead_llm::catalog::Provider;
use bulkhead_store::{NewProvider, ProviderChange};
use serde::Deserialize;
use utoipa::ToSchema;
use zeroize::Zeroizing;

use super::{keyed, read::find, view::ProviderView};
use crate::{
    contract::{Refusal, body::Schema, document::Refusals},
    http::{AppState, components::Message, missing, query::Path, unbroken_contract},
};

/// A provider to store.
#[derive(Deserialize, ToSchema)]
pub(crate) struct ProviderCreate {
    /// the first half of its models' handles
    name: String,
    /// openai, anthropic, google_ai …
    provider_type: String,
    #[serde(skip)]
    #[allow(dead_code, reason = "it stands for a key in the document of the API")]
    api_key: String,
    #[serde(skip)]
    #[allow(dead_code, reason = "as above")]
    access_key: Option<String>,
    region: Option<String>,
    /// where it is, where that is not where its type has it
    base_url: Option<String>,
    api_version: Option<String>,
}

impl Schema for ProviderCreate {
    const NAME: &str = "ProviderCreate";
}

/// Stores a provider. Its models can be asked from now on.
#[utoipa::path(
    post,
    path = "/v1/providers/",
    operation_id = "create_provider",
    tag = "providers",
    request_body = ProviderCreate,
    responses((status = OK, body = ProviderView, description = "the provider"), Refusals)
)]
pub(crate) async fn create(
    State(app): State<AppState>,
    request: Request,
) -> Result<Json<ProviderView>, Refusal> {
    let (body, keys) = keyed::read::<ProviderCreate>(request).await?;
    check_name(&body.name)?;
    possible(&body.provider_type, &keys.api_key, body.base_url.as_deref())?;
    let saved = unbroken_contract(async move {
        let new = NewProvider {
            name: body.name,
            provider_type: body.provider_type,
            base_url: body.base_url,
            region: body.region,
            api_version: body.api_version,
            keys,
        };
        let saved = app
            .store
            .create_provider(new)
            .await
            .map_err(missing::stored)?;
        app.models.forget(&saved.name);
        Ok(saved)
    });
    saved.await.map(ProviderView::from).map(Json)
}

/// A change of a provider.
#[derive(Deserialize, ToSchema)]
pub(crate) struct ProviderUpdate {
    #[serde(skip)]
    #[allow(dead_code, reason = "it stands for a key in the document of the API")]
    api_key: String,
    #[serde(skip)]
    #[allow(dead_code, reason = "as above")]
    access_key: Option<String>,
    region: Option<String>,
    base_url: Option<String>,
    api_version: Option<String>,
}

impl Schema for ProviderUpdate {
    const NAME: &str = "ProviderUpdate";
}

/// Changes a provider's key, and where it is.
#[utoipa::path(
    patch,
    path = "/v1/providers/{provider_id}",
    operation_id = "modify_provider",
    tag = "providers",
    params(("provider_id" = String, Path, description = "the provider's id")),
    request_body = ProviderUpdate,
    responses((status = OK, body = ProviderView, description = "the provider"), Refusals)
)]
pub(crate) async fn update(
    State(app): State<AppState>,
    Path(provider_id): Path<String>,
    request: Request,
) -> Result<Json<ProviderView>, Refusal> {
    let (body, keys) = keyed::read::<ProviderUpdate>(request).await?;
    let provider = find(&app, &provider_id).await?;
    let address = body.base_url.as_deref().or(provider.base_url.as_deref());
    possible(&provider.provider_type, &keys.api_key, address)?;
    let change = ProviderChange {
        api_key: Some(keys.api_key),
        access_key: keys.access_key,
        base_url: body.base_url,
        region: body.region,
        api_version: body.api_version,
        last_synced: None,
    };
    let saved = unbroken_contract(async move {
        let saved = app.store.update_provider(&provider.id, change).await;
        let saved = saved.map_err(missing::stored)?;
        app.models.forget(&saved.name);
        Ok(saved)
    });
    saved.await.map(ProviderView::from).map(Json)
}

/// Deletes a provider. Agents that use its models fail from now on.
#[utoipa::path(
    delete,
    path = "/v1/providers/{provider_id}",
    operation_id = "delete_provider",
    tag = "providers",
    params(("provider_id" = String, Path, description = "the provider's id")),
    responses((status = OK, body = Message, description = "that it was deleted"), Refusals)
)]
pub(crate) async fn delete(
    State(app): State<AppState>,
    Path(provider_id): Path<String>,
) -> Result<Json<Message>, Refusal> {
    let provider = find(&app, &provider_id).await?;
    let id = provider.id;
    let deleted = unbroken_contract(async move {
        let deleted = app.store.delete_provider(&provider.id).await?;
        app.models.forget(&provider.name);
        Ok(deleted)
    });
    if !deleted.await? {
        return Err(missing::object("Provider", id));
    }
    let message = format!("Provider id={id} successfully deleted");
    Ok(Json(Message { message }))
}

/// Asks a provider for its list of models anew.
#[utoipa::path(
    patch,
    path = "/v1/providers/{provider_id}/refresh",
    operation_id = "refresh_provider_models",
    tag = "providers",
    params(("provider_id" = String, Path, description = "the provider's id")),
    responses((status = OK, body = ProviderView, description = "the provider"), Refusals)
)]
pub(crate) async fn refresh(
    State(app): State<AppState>,
    Path(provider_id): Path<String>,
) -> Result<Json<ProviderView>, Refusal> {
    let provider = find(&app, &provider_id).await?;
    app.models.forget(&provider.name);
    let byok = app.models.byok().await?;
    let asked = byok.iter().find(|known| known.name == provider.name);
    let mut change = ProviderChange::default();
    if let Some(asked) = asked
        && app.models.catalog().models(asked).await.complete
    {
        change.last_synced = Some(Timestamp::now());
    }
    let saved = unbroken_contract(async move {
        let saved = app.store.update_provider(&provider.id, change).await;
        saved.map_err(missing::stored)
    });
    saved.await.map(ProviderView::from).map(Json)
}

/// Refuses a name that can't be the first half of a handle.
fn check_name(name: &str) -> Result<(), Refusal> {
    const LENGTH_MAX: usize = 128;
    if name == bulkhead_llm::scripted::PROVIDER_NAME {
        return Err(Refusal::conflict(format!(
            "CONFLICT: the name {name} is that of this server's own models"
        )));
    }
    let fits = |c: char| !c.is_control() && !c.is_whitespace() && c != '/';
    if !name.is_empty() && name.chars().count() <= LENGTH_MAX && name.chars().all(fits) {
        return Ok(());
    }
    Err(Refusal::bad_request(format!(
        "INVALID_ARGUMENT: a provider's name has 1 to {LENGTH_MAX} characters, and neither spaces nor \
         slashes"
    )))
}

/// Refuses a provider that could never be asked.
pub(super) fn possible(
    provider_type: &str,
    api_key: &Zeroizing<String>,
    base_url: Option<&str>,
) -> Result<Provider, Refusal> {
    let provider = Provider::byok("", "", provider_type, api_key.clone(), base_url);
    provider.map_err(|error| Refusal::bad_request(format!("INVALID_ARGUMENT: {error}")))
}
