//! `/v1/tags`: the tags of all agents.

use axum::{Json, extract::State};
use bulkhead_store::TagFilter;
use utoipa_axum::router::UtoipaMethodRouter;

use super::{AppState, missing, routes::routes};
use crate::contract::{
    Parameters, Refusal,
    document::Refusals,
    query::{FromQuery, Order, Page, Query},
};
use crate::http::scope;

/// Tags of one answer where the client names no number.
const LIMIT_DEFAULT: u32 = 50;

/// Which tags.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// this one
    name: Option<String>,
    /// with this in them
    query_text: Option<String>,
}

/// Which tags, and which part of their list. Its cursors are tags.
pub(crate) struct TagQuery {
    which: Which,
    page: Page,
}

impl FromQuery for TagQuery {
    fn from_query(query: &mut Query) -> Self {
        // There is one order, and naming it changes nothing.
        query.literal("order_by", &[("name", ())]);
        Self {
            which: Which {
                name: query.text("name"),
                query_text: query.text("query_text"),
            },
            page: query.page(LIMIT_DEFAULT, Order::Ascending),
        }
    }
}

/// The routes.
pub(crate) fn routes() -> Vec<UtoipaMethodRouter<AppState>> {
    vec![routes!(list)]
}

/// The tags of all agents, each once, in alphabetical order.
#[utoipa::path(
    get,
    path = "/v1/tags/",
    operation_id = "list_tags",
    tag = "tags",
    params(
        Which,
        ("order_by" = Option<String>, Query, description = "name: naming the one order that there is changes nothing"),
        Page,
    ),
    responses((status = OK, body = Vec<String>, description = "the tags"), Refusals)
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    Parameters(TagQuery { which, page }): Parameters<TagQuery>,
) -> Result<Json<Vec<String>>, Refusal> {
    let filter = TagFilter {
        name: which.name,
        query_text: which.query_text,
        descending: !page.is_ascending(),
        after: page.after,
        before: page.before,
        limit: Some(page.limit),
        created_by: scope::only(),
    };
    let tags = app.store.agent_tags(&filter).await;
    tags.map(Json).map_err(missing::stored)
}
