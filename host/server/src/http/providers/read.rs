//! One provider, and many.

use axum::{Json, extract::State};
use bulkhead_domain::id::ProviderId;
use bulkhead_store::{ProviderFilter, ProviderRecord};

use super::view::ProviderView;
use crate::{
    app::App,
    contract::{
        Parameters, Refusal,
        document::Refusals,
        id,
        query::{ByCreation, FromQuery, Order, Page, Query},
    },
    http::{AppState, missing, query::Path},
};

/// Providers of one answer where the client names no number.
const LIMIT_DEFAULT: u32 = 50;

/// Which providers.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// with this name
    name: Option<String>,
    /// of this type
    provider_type: Option<String>,
}

/// Which providers, and which part of their list.
pub(crate) struct ListQuery {
    which: Which,
    page: Page,
}

impl FromQuery for ListQuery {
    fn from_query(query: &mut Query) -> Self {
        Self {
            which: Which {
                name: query.text("name"),
                provider_type: query.text("provider_type"),
            },
            page: query.page_by_creation(LIMIT_DEFAULT, Order::Descending),
        }
    }
}

/// Providers, the newest first unless told otherwise.
#[utoipa::path(
    get,
    path = "/v1/providers/",
    operation_id = "list_providers",
    tag = "providers",
    params(Which, ByCreation, Page),
    responses((status = OK, body = Vec<ProviderView>, description = "the providers"), Refusals)
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    Parameters(ListQuery { which, page }): Parameters<ListQuery>,
) -> Result<Json<Vec<ProviderView>>, Refusal> {
    let filter = ProviderFilter {
        name: which.name,
        provider_type: which.provider_type,
        paging: page.into(),
    };
    let providers = app
        .store
        .providers(&filter)
        .await
        .map_err(missing::stored)?;
    Ok(Json(
        providers.into_iter().map(ProviderView::from).collect(),
    ))
}

/// One provider.
#[utoipa::path(
    get,
    path = "/v1/providers/{provider_id}",
    operation_id = "retrieve_provider",
    tag = "providers",
    params(("provider_id" = String, Path, description = "the provider's id")),
    responses((status = OK, body = ProviderView, description = "the provider"), Refusals)
)]
pub(crate) async fn get(
    State(app): State<AppState>,
    Path(provider_id): Path<String>,
) -> Result<Json<ProviderView>, Refusal> {
    find(&app, &provider_id)
        .await
        .map(ProviderView::from)
        .map(Json)
}

/// The provider with this id of the path.
pub(super) async fn find(app: &App, provider_id: &str) -> Result<ProviderRecord, Refusal> {
    let id: ProviderId = id::parse("provider_id", provider_id)?;
    let provider = app.store.provider(&id).await?;
    provider.ok_or_else(|| missing::object("Provider", id))
}
