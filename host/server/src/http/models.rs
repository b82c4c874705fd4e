//! `/v1/models`: the models that agents can ask.

use axum::{Json, extract::State};
use bulkhead_llm::catalog::{Category, view};
use serde_json::Value;
use utoipa_axum::router::UtoipaMethodRouter;

use super::{AppState, routes::routes};
use crate::contract::{
    Parameters, Refusal,
    document::Refusals,
    query::{FromQuery, Query},
};

/// The routes.
pub(crate) fn routes() -> Vec<UtoipaMethodRouter<AppState>> {
    vec![routes!(list), routes!(embeddings)]
}

/// Which models.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// of providers of these categories: base (the server's environment) or byok
    #[param(value_type = Option<Vec<String>>)]
    provider_category: Option<Vec<Category>>,
    /// of the provider with this name
    provider_name: Option<String>,
    /// of providers of this type
    provider_type: Option<String>,
}

impl FromQuery for Which {
    fn from_query(query: &mut Query) -> Self {
        let categories = [("base", Category::Base), ("byok", Category::Byok)];
        Self {
            provider_category: query.variants("provider_category", &categories),
            provider_name: query.text("provider_name"),
            provider_type: query.text("provider_type"),
        }
    }
}

/// The models that agents can ask.
#[utoipa::path(
    get,
    path = "/v1/models/",
    operation_id = "list_models",
    tag = "models",
    params(Which),
    responses((status = OK, body = Vec<Object>, description = "the models"), Refusals)
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    Parameters(which): Parameters<Which>,
) -> Result<Json<Vec<Value>>, Refusal> {
    let byok = app.models.byok().await?;
    let listings = app.models.catalog().all(&byok).await;
    let models = listings.iter().flat_map(|listing| &listing.models);
    let models = models.filter(|model| {
        which
            .provider_category
            .as_ref()
            .is_none_or(|categories| categories.contains(&model.category))
            && which
                .provider_name
                .as_ref()
                .is_none_or(|name| *name == model.provider_name)
            && which
                .provider_type
                .as_ref()
                .is_none_or(|kind| *kind == model.provider_type)
    });
    Ok(Json(models.map(view::model).collect()))
}

/// The models that make vectors of texts.
#[utoipa::path(
    get,
    path = "/v1/models/embedding",
    operation_id = "list_embedding_models",
    tag = "models",
    responses((status = OK, body = Vec<Object>, description = "the models"), Refusals)
)]
pub(crate) async fn embeddings(State(app): State<AppState>) -> Result<Json<Vec<Value>>, Refusal> {
    let byok = app.models.byok().await?;
    let listings = app.models.catalog().all(&byok).await;
    let models = listings.iter().flat_map(|listing| &listing.embeddings);
    Ok(Json(models.map(view::embedding_model).collect()))
}
