//! Stored messages of an agent, of all agents, and one by itself.

use axum::{Json, extract::State};
use bulkhead_domain::{Message, id::MessageId};
use bulkhead_store::{MessageFilter, StoreError, ThreadFilter};
use serde_json::Value;

use super::view::{TYPES, View};
use crate::{
    app::App,
    contract::{
        Parameters, Refusal,
        document::Refusals,
        id,
        query::{ByCreation, FromQuery, Order, Page, Query},
    },
    http::{AppState, agents::find, missing, query::Path, scope},
};

/// Stored messages of one answer where the client names no number.
pub(crate) const LIMIT_DEFAULT: u32 = 100;
/// The word for an agent's own thread.
pub(crate) const DEFAULT: &str = "default";

/// Where messages were sent.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(
    dead_code,
    reason = "it stands for a parameter in the document of the API"
)]
pub(crate) struct InThread {
    /// messages of this conversation; `default` for the agent's own thread, all where left out
    conversation_id: Option<String>,
}

/// In whose name messages were sent.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(
    dead_code,
    reason = "it stands for parameters in the document of the API"
)]
pub(crate) struct InName {
    /// messages of this group
    group_id: Option<String>,
    /// taken and without effect: of a step that failed no messages are stored
    include_err: Option<bool>,
}

/// How messages are shown.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(
    dead_code,
    reason = "it stands for parameters in the document of the API"
)]
pub(crate) struct Spoken {
    /// whether what older types say by a tool is shown as said; true where left out
    use_assistant_message: Option<bool>,
    /// that tool; send_message where left out
    assistant_message_tool_name: Option<String>,
    /// its argument that is said; message where left out
    assistant_message_tool_kwarg: Option<String>,
}

/// Which kinds of messages are shown.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(
    dead_code,
    reason = "it stands for a parameter in the document of the API"
)]
pub(crate) struct Kinds {
    /// only these kinds of messages
    include_return_message_types: Option<Vec<String>>,
}

impl Spoken {
    /// Reads these parameters, and those of [`Kinds`].
    pub(crate) fn view(query: &mut Query) -> View {
        let default = View::default();
        View {
            use_assistant_message: query.boolean("use_assistant_message").unwrap_or(true),
            tool_name: query
                .text("assistant_message_tool_name")
                .unwrap_or(default.tool_name),
            tool_kwarg: query
                .text("assistant_message_tool_kwarg")
                .unwrap_or(default.tool_kwarg),
            types: types(query),
            summaries: false,
        }
    }
}

/// Which messages, and how.
pub(crate) struct ListQuery {
    conversation_id: Option<String>,
    group_id: Option<String>,
    view: View,
    pub(crate) page: Page,
}

impl FromQuery for ListQuery {
    fn from_query(query: &mut Query) -> Self {
        query.boolean("include_err");
        Self {
            conversation_id: query.text("conversation_id"),
            group_id: query.text("group_id"),
            view: Spoken::view(query),
            page: query.page_by_creation(LIMIT_DEFAULT, Order::Descending),
        }
    }
}

/// The kinds of messages that a query asks for.
pub(crate) fn types(query: &mut Query) -> Option<Vec<String>> {
    let types = query.variants("include_return_message_types", TYPES)?;
    Some(types.into_iter().map(str::to_owned).collect())
}

impl ListQuery {
    /// The thread; none where no thread can be meant.
    fn thread(&self) -> Option<ThreadFilter> {
        match self.conversation_id.as_deref() {
            None => Some(ThreadFilter::Any),
            Some(DEFAULT) => Some(ThreadFilter::Default),
            Some(id) => id.parse().ok().map(ThreadFilter::Conversation),
        }
    }
}

/// Messages of an agent. The newest, or with order=asc the oldest; in either case the oldest first.
#[utoipa::path(
    get,
    path = "/v1/agents/{agent_id}/messages",
    operation_id = "list_messages",
    tag = "messages",
    params(
        ("agent_id" = String, Path, description = "the agent's id"),
        InThread, InName, Spoken, Kinds, ByCreation, Page,
    ),
    responses((status = OK, body = Vec<Object>, description = "messages"), Refusals)
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    Path(agent_id): Path<String>,
    Parameters(query): Parameters<ListQuery>,
) -> Result<Json<Vec<Value>>, Refusal> {
    let agent_id = find::id(&agent_id)?;
    let Some(thread) = query.thread() else {
        return Ok(Json(Vec::new()));
    };
    let filter = MessageFilter {
        agent_id: Some(agent_id),
        thread,
        group_id: query.group_id,
        ..MessageFilter::default()
    };
    let messages = of_agent(&app, filter, &query.page).await?;
    if messages.is_empty() && app.store.agent(&agent_id).await?.is_none() {
        return Err(missing::agent(agent_id));
    }
    Ok(Json(query.view.all(&messages)))
}

/// A part of the messages of an agent that this filter takes, the oldest first.
pub(crate) async fn of_agent(
    app: &App,
    filter: MessageFilter,
    page: &Page,
) -> Result<Vec<Message>, Refusal> {
    let agent_id = filter.agent_id.map(|id| id.to_string());
    let agent_id = agent_id.unwrap_or_default();
    let unknown = |id: &str| {
        Refusal::not_found(format!(
            "No message found with id '{id}' for agent '{agent_id}'."
        ))
    };
    let filter = paged(filter, page, unknown)?;
    app.store
        .messages(&filter)
        .await
        .map_err(|error| match error {
            StoreError::NotFound {
                what: "message",
                id,
            } => unknown(&id),
            error => missing::stored(error),
        })
}

/// The filter with the page that a client asks for. `unknown`: what is said of a cursor that is no id.
pub(crate) fn paged(
    filter: MessageFilter,
    page: &Page,
    unknown: impl Fn(&str) -> Refusal,
) -> Result<MessageFilter, Refusal> {
    Ok(MessageFilter {
        after: cursor(page.after.as_deref(), &unknown)?,
        before: cursor(page.before.as_deref(), &unknown)?,
        newest: !page.is_ascending(),
        limit: Some(page.limit),
        ..filter
    })
}

/// A message by which a page begins or ends.
pub(crate) fn cursor(
    id: Option<&str>,
    unknown: impl Fn(&str) -> Refusal,
) -> Result<Option<MessageId>, Refusal> {
    id.map(|id| id.parse().map_err(|_| unknown(id))).transpose()
}

/// Messages of all agents, as [`list`].
#[utoipa::path(
    get,
    path = "/v1/messages/",
    operation_id = "list_all_messages",
    tag = "messages",
    params(
        InThread, InName, Spoken, Kinds, ByCreation, Page,
    ),
    responses((status = OK, body = Vec<Object>, description = "messages"), Refusals)
)]
pub(crate) async fn list_all(
    State(app): State<AppState>,
    Parameters(query): Parameters<ListQuery>,
) -> Result<Json<Vec<Value>>, Refusal> {
    let Some(thread) = query.thread() else {
        return Ok(Json(Vec::new()));
    };
    let filter = MessageFilter {
        thread,
        group_id: query.group_id,
        created_by: scope::only(),
        ..MessageFilter::default()
    };
    let filter = paged(filter, &query.page, unknown)?;
    let messages = app.store.messages(&filter).await.map_err(missing::stored)?;
    Ok(Json(query.view.all(&messages)))
}

pub(crate) fn unknown(id: &str) -> Refusal {
    Refusal::not_found(format!("Message with id {id} not found."))
}

/// One stored message, as the messages that it becomes.
#[utoipa::path(
    get,
    path = "/v1/messages/{message_id}",
    operation_id = "retrieve_message",
    tag = "messages",
    params(("message_id" = String, Path, description = "the message's id")),
    responses((status = OK, body = Vec<Object>, description = "the message"), Refusals)
)]
pub(crate) async fn get(
    State(app): State<AppState>,
    Path(message_id): Path<String>,
) -> Result<Json<Vec<Value>>, Refusal> {
    let message_id: MessageId = id::parse("message_id", &message_id)?;
    let message = app.store.message(&message_id).await?;
    let message = message.ok_or_else(|| unknown(&message_id.to_string()))?;
    Ok(Json(View::default().one(&message)))
}
