//! One conversation, and many.

use axum::{Json, extract::State};
use bulkhead_domain::id::AgentId;
use bulkhead_store::{ConversationFilter, ConversationOrder};

use super::{view::ConversationView, which};
use crate::{
    contract::{
        Parameters, Refusal,
        document::Refusals,
        query::{FromQuery, Order, Page, Query},
    },
    http::{AppState, agents::find, missing, query::Path, scope},
};

/// Conversations of one answer where the client names no number.
const LIMIT_DEFAULT: u32 = 50;

const ORDERS: &[(&str, ConversationOrder)] = &[
    ("created_at", ConversationOrder::CreatedAt),
    // A run ends with its last message.
    ("last_run_completion", ConversationOrder::LastMessageAt),
    ("last_message_at", ConversationOrder::LastMessageAt),
];

/// Which conversations.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// of this agent
    agent_id: Option<String>,
    /// with this in the summary
    summary_search: Option<String>,
}

/// How a list of conversations is ordered.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(
    dead_code,
    reason = "it stands for a parameter in the document of the API"
)]
pub(crate) struct Ordering {
    /// created_at, last_run_completion or last_message_at; created_at where left out
    order_by: Option<String>,
}

/// Which conversations, and which part of their list.
pub(crate) struct ListQuery {
    which: Which,
    order_by: ConversationOrder,
    page: Page,
}

impl FromQuery for ListQuery {
    fn from_query(query: &mut Query) -> Self {
        Self {
            which: Which {
                agent_id: query.text("agent_id"),
                summary_search: query.text("summary_search"),
            },
            order_by: query.literal("order_by", ORDERS).unwrap_or_default(),
            page: query.page(LIMIT_DEFAULT, Order::Descending),
        }
    }
}

/// Conversations, the newest first unless told otherwise.
#[utoipa::path(
    get,
    path = "/v1/conversations/",
    operation_id = "list_conversations",
    tag = "conversations",
    params(Which, Ordering, Page),
    responses((status = OK, body = Vec<ConversationView>, description = "the conversations"), Refusals)
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    Parameters(query): Parameters<ListQuery>,
) -> Result<Json<Vec<ConversationView>>, Refusal> {
    let agent_id = match query.which.agent_id.map(|id| id.parse::<AgentId>()) {
        None => None,
        Some(Ok(id)) => Some(id),
        // What is no id is that of no agent.
        Some(Err(_)) => return Ok(Json(Vec::new())),
    };
    let filter = ConversationFilter {
        agent_id,
        created_by: scope::only(),
        summary_search: query.which.summary_search,
        order_by: query.order_by,
        paging: query.page.into(),
    };
    let found = app
        .store
        .conversations(&filter)
        .await
        .map_err(missing::stored)?;
    Ok(Json(
        found.into_iter().map(ConversationView::from).collect(),
    ))
}

/// One conversation; with an agent's id, the agent's own thread.
#[utoipa::path(
    get,
    path = "/v1/conversations/{conversation_id}",
    operation_id = "retrieve_conversation",
    tag = "conversations",
    params(("conversation_id" = String, Path, description = "the conversation's id, or an agent's")),
    responses((status = OK, body = ConversationView, description = "the conversation"), Refusals)
)]
pub(crate) async fn get(
    State(app): State<AppState>,
    Path(conversation_id): Path<String>,
) -> Result<Json<ConversationView>, Refusal> {
    if conversation_id.parse::<AgentId>().is_ok() {
        let agent = find::agent(&app, &conversation_id).await?;
        return Ok(Json(ConversationView::of_agent(agent)));
    }
    let conversation = which::conversation(&app, &conversation_id).await?;
    Ok(Json(conversation.into()))
}
