//! The messages that clients sent to agents in the name of a group.

use axum::{Json, extract::State};
use bulkhead_store::MessageFilter;
use serde_json::Value;

use super::read::find;
use crate::{
    contract::{
        Parameters, Refusal,
        document::Refusals,
        query::{ByCreation, FromQuery, Order, Page, Query},
    },
    http::{
        AppState,
        messages::{
            list::{Kinds, Spoken, paged, unknown},
            view::View,
        },
        missing,
        query::Path,
        scope,
    },
};

/// Messages of one answer where the client names no number.
const LIMIT_DEFAULT: u32 = 10;

/// Which part of the messages of a group, and how.
pub(crate) struct ListQuery {
    view: View,
    page: Page,
}

impl FromQuery for ListQuery {
    fn from_query(query: &mut Query) -> Self {
        Self {
            view: Spoken::view(query),
            page: query.page_by_creation(LIMIT_DEFAULT, Order::Descending),
        }
    }
}

/// Messages of a group: of the agent that leads it, where one does, of all agents otherwise. The newest,
/// or with order=asc the oldest; in either case the oldest first.
#[utoipa::path(
    get,
    path = "/v1/groups/{group_id}/messages",
    operation_id = "list_group_messages",
    tag = "groups",
    params(("group_id" = String, Path, description = "the group's id"), Spoken, Kinds, ByCreation, Page),
    responses((status = OK, body = Vec<Object>, description = "messages"), Refusals)
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    Path(group_id): Path<String>,
    Parameters(query): Parameters<ListQuery>,
) -> Result<Json<Vec<Value>>, Refusal> {
    let group = find(&app, &group_id).await?;
    let filter = MessageFilter {
        agent_id: group.manager.agent_id(),
        group_id: Some(group.id.to_string()),
        created_by: scope::only(),
        ..MessageFilter::default()
    };
    let filter = paged(filter, &query.page, unknown)?;
    let messages = app.store.messages(&filter).await.map_err(missing::stored)?;
    Ok(Json(query.view.all(&messages)))
}
