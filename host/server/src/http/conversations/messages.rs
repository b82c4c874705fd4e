//! Messages to a conversation, and what is stored of it.

use axum::{
    Json,
    extract::{Request, State},
    response::Response,
};
use bulkhead_agent::ThreadKey;
use http::StatusCode;
use serde_json::{Value, json};

use super::{save::Of, which};
use crate::{
    app::App,
    contract::{
        Parameters, Refusal, body,
        document::Refusals,
        query::{FromQuery, Order, Page, Query},
    },
    http::{
        AppState,
        messages::{
            body::{Route, SendBody},
            list::{LIMIT_DEFAULT, of_conversation, types},
            send,
            view::View,
        },
        missing,
        query::Path,
    },
};

/// Sends messages to a conversation and answers with server-sent events, or with streaming false as
/// a whole. One request at a time: another one is refused meanwhile.
#[utoipa::path(
    post,
    path = "/v1/conversations/{conversation_id}/messages",
    operation_id = "send_conversation_message",
    tag = "conversations",
    params(("conversation_id" = String, Path, description = "the conversation's id, an agent's, or default")),
    request_body = Object,
    responses(
        (status = OK, content((String = "text/event-stream"), (Object = "application/json")), description = "messages as they come; with streaming false, all of them"),
        Refusals,
    )
)]
pub(crate) async fn send(
    State(app): State<AppState>,
    Path(conversation_id): Path<String>,
    request: Request,
) -> Result<Response, Refusal> {
    let body = SendBody::read(Route::Conversation, body::value(request).await?)?;
    let thread = which::thread(&app, &conversation_id, body.agent_id.as_deref()).await?;
    refuse_busy(&app, thread)?;
    if body.is_streaming() {
        return send::streamed(&app, &body, thread).await;
    }
    body.check_unstreamed()?;
    send::whole(&app, &body, thread).await
}

/// Refuses a second request while one goes on.
fn refuse_busy(app: &App, thread: ThreadKey) -> Result<(), Refusal> {
    let Some(run_id) = app.engine.busy(thread) else {
        return Ok(());
    };
    let detail = format!(
        "CONFLICT: Cannot send a new message: Another request (run_id={run_id}) is currently being \
         processed for this conversation. Please wait for it to complete."
    );
    let body = json!({ "detail": detail, "run_id": run_id });
    Err(Refusal::with(StatusCode::CONFLICT, body))
}

/// Which messages of a conversation, and how.
pub(crate) struct ListQuery {
    of: Of,
    group_id: Option<String>,
    view: View,
    page: Page,
}

impl FromQuery for ListQuery {
    fn from_query(query: &mut Query) -> Self {
        // There is one order, and naming it changes nothing.
        query.literal("order_by", &[("created_at", ())]);
        query.boolean("include_err");
        Self {
            of: Of::from_query(query),
            group_id: query.text("group_id"),
            view: View {
                types: types(query),
                ..View::default()
            },
            page: query.page(LIMIT_DEFAULT, Order::Descending),
        }
    }
}

/// Messages of a conversation, the newest first unless told otherwise.
#[utoipa::path(
    get,
    path = "/v1/conversations/{conversation_id}/messages",
    operation_id = "list_conversation_messages",
    tag = "conversations",
    params(("conversation_id" = String, Path, description = "the conversation's id, an agent's, or default"), Of, Page),
    responses((status = OK, body = Vec<Object>, description = "messages"), Refusals)
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    Path(conversation_id): Path<String>,
    Parameters(query): Parameters<ListQuery>,
) -> Result<Json<Vec<Value>>, Refusal> {
    let thread = which::thread(&app, &conversation_id, query.of.agent_id.as_deref()).await?;
    let (agent_id, conversation_id) = (thread.agent_id, thread.conversation_id);
    let messages = of_conversation(&app, agent_id, conversation_id, &query.page).await?;
    if messages.is_empty() && app.store.agent(&agent_id).await?.is_none() {
        return Err(missing::agent(agent_id));
    }
    let group = query.group_id.as_deref();
    let messages = messages
        .iter()
        .filter(|message| group.is_none() || message.group_id.as_deref() == group);
    Ok(Json(query.view.all(messages)))
}
