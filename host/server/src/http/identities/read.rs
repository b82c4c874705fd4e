//! One identity, many, how many, and what belongs to one.

use axum::{Json, extract::State};
use bulkhead_domain::IdentityType;
use bulkhead_store::IdentityFilter;

use super::view::IdentityView;
use crate::{
    contract::{
        Parameters, Refusal,
        document::Refusals,
        id,
        query::{ByCreation, FromQuery, Order, Page, Query},
    },
    http::{
        AppState,
        agents::{
            client::Client,
            query::{Include, RelatedQuery},
            view::AgentView,
        },
        blocks::view::BlockView,
        missing,
        query::Path,
        scope,
    },
};

/// Entries of one answer where the client names no number.
const LIMIT_DEFAULT: u32 = 50;
/// The kinds of identities.
const TYPES: &[(&str, IdentityType)] = &[
    ("org", IdentityType::Org),
    ("user", IdentityType::User),
    ("other", IdentityType::Other),
];

/// Which identities.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// of this name
    name: Option<String>,
    /// of this project
    project_id: Option<String>,
    /// with this key
    identifier_key: Option<String>,
    /// org, user or other
    #[param(value_type = Option<String>)]
    identity_type: Option<IdentityType>,
}

/// Which identities, and which part of their list.
pub(crate) struct ListQuery {
    which: Which,
    page: Page,
}

impl FromQuery for ListQuery {
    fn from_query(query: &mut Query) -> Self {
        Self {
            which: Which {
                name: query.text("name"),
                project_id: query.text("project_id"),
                identifier_key: query.text("identifier_key"),
                identity_type: query.variant("identity_type", TYPES),
            },
            page: page(query),
        }
    }
}

/// Which part of a list.
pub(crate) struct PageQuery(Page);

impl FromQuery for PageQuery {
    fn from_query(query: &mut Query) -> Self {
        Self(page(query))
    }
}

fn page(query: &mut Query) -> Page {
    query.page_by_creation(LIMIT_DEFAULT, Order::Descending)
}

/// One identity.
#[utoipa::path(
    get,
    path = "/v1/identities/{identity_id}",
    operation_id = "retrieve_identity",
    tag = "identities",
    params(("identity_id" = String, Path, description = "the identity's id")),
    responses((status = OK, body = IdentityView, description = "the identity"), Refusals)
)]
pub(crate) async fn get(
    State(app): State<AppState>,
    Path(identity_id): Path<String>,
) -> Result<Json<IdentityView>, Refusal> {
    let identity_id = id::parse("identity_id", &identity_id)?;
    let identity = app.store.identity(&identity_id).await?;
    let identity = identity.ok_or_else(|| missing::object("Identity", identity_id))?;
    Ok(Json(identity.into()))
}

/// Identities, the newest first unless told otherwise.
#[utoipa::path(
    get,
    path = "/v1/identities/",
    operation_id = "list_identities",
    tag = "identities",
    params(Which, ByCreation, Page),
    responses((status = OK, body = Vec<IdentityView>, description = "the identities"), Refusals)
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    Parameters(ListQuery { which, page }): Parameters<ListQuery>,
) -> Result<Json<Vec<IdentityView>>, Refusal> {
    let filter = IdentityFilter {
        name: which.name,
        project_id: which.project_id,
        identifier_key: which.identifier_key,
        identity_type: which.identity_type,
        created_by: scope::only(),
        paging: page.into(),
    };
    let identities = app.store.identities(&filter).await;
    let identities = identities.map_err(missing::stored)?;
    Ok(Json(
        identities.into_iter().map(IdentityView::from).collect(),
    ))
}

/// How many identities there are.
#[utoipa::path(
    get,
    path = "/v1/identities/count",
    operation_id = "count_identities",
    tag = "identities",
    responses((status = OK, body = u64, content_type = "application/json", description = "how many"), Refusals)
)]
pub(crate) async fn count(State(app): State<AppState>) -> Result<Json<u64>, Refusal> {
    let count = app.store.count_identities(&IdentityFilter::default()).await;
    Ok(Json(count?))
}

/// The agents of an identity.
#[utoipa::path(
    get,
    path = "/v1/identities/{identity_id}/agents",
    operation_id = "list_agents_for_identity",
    tag = "identities",
    params(("identity_id" = String, Path, description = "the identity's id"), Include, ByCreation, Page),
    responses((status = OK, body = Vec<AgentView>, description = "the agents"), Refusals)
)]
pub(crate) async fn agents(
    State(app): State<AppState>,
    client: Client,
    Path(identity_id): Path<String>,
    Parameters(query): Parameters<RelatedQuery>,
) -> Result<Json<Vec<AgentView>>, Refusal> {
    let identity_id = id::parse("identity_id", &identity_id)?;
    let relations = query.relations(client);
    let page = query.page.into();
    let agents = app.store.agents_of_identity(&identity_id, &page).await;
    let agents = agents.map_err(missing::stored)?;
    AgentView::of_all(&app, agents, relations).await.map(Json)
}

/// The blocks of an identity.
#[utoipa::path(
    get,
    path = "/v1/identities/{identity_id}/blocks",
    operation_id = "list_blocks_for_identity",
    tag = "identities",
    params(("identity_id" = String, Path, description = "the identity's id"), ByCreation, Page),
    responses((status = OK, body = Vec<BlockView>, description = "the blocks"), Refusals)
)]
pub(crate) async fn blocks(
    State(app): State<AppState>,
    Path(identity_id): Path<String>,
    Parameters(PageQuery(page)): Parameters<PageQuery>,
) -> Result<Json<Vec<BlockView>>, Refusal> {
    let identity_id = id::parse("identity_id", &identity_id)?;
    let page = page.into();
    let blocks = app.store.blocks_of_identity(&identity_id, &page).await;
    let blocks = blocks.map_err(missing::stored)?;
    Ok(Json(blocks.into_iter().map(BlockView::from).collect()))
}
