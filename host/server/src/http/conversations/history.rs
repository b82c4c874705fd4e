//! What is stored of a conversation.
//!
//! A conversation that was forked begins with messages of the thread that it was forked from. As long
//! as its model sees them, they are shown as its own; they are older than everything else of it.

use axum::{Json, extract::State};
use bulkhead_agent::ThreadKey;
use bulkhead_domain::{Conversation, Message};
use bulkhead_store::{MessageFilter, ThreadFilter};
use serde_json::Value;

use super::{save::Of, which};
use crate::{
    app::App,
    contract::{
        Parameters, Refusal,
        document::Refusals,
        query::{ByCreation, FromQuery, Order, Page, Query},
    },
    http::{
        AppState,
        messages::{
            list::{InName, Kinds, LIMIT_DEFAULT, of_agent, types},
            view::View,
        },
        missing,
        query::Path,
    },
};

/// Messages at the beginning of a context that are a conversation's own in any case: its system
/// message, and a summary.
const OWN_FIRST: usize = 2;

/// Which messages of a conversation, and how.
pub(crate) struct ListQuery {
    of: Of,
    group_id: Option<String>,
    view: View,
    page: Page,
}

impl FromQuery for ListQuery {
    fn from_query(query: &mut Query) -> Self {
        query.boolean("include_err");
        Self {
            of: Of::from_query(query),
            group_id: query.text("group_id"),
            view: View {
                types: types(query),
                ..View::default()
            },
            page: query.page_by_creation(LIMIT_DEFAULT, Order::Descending),
        }
    }
}

/// Messages of a conversation, the newest first unless told otherwise.
#[utoipa::path(
    get,
    path = "/v1/conversations/{conversation_id}/messages",
    operation_id = "list_conversation_messages",
    tag = "conversations",
    params(("conversation_id" = String, Path, description = "the conversation's id, an agent's, or default"), Of, InName, Kinds, ByCreation, Page),
    responses((status = OK, body = Vec<Object>, description = "messages"), Refusals)
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    Path(conversation_id): Path<String>,
    Parameters(query): Parameters<ListQuery>,
) -> Result<Json<Vec<Value>>, Refusal> {
    let thread = which::thread(&app, &conversation_id, query.of.agent_id.as_deref()).await?;
    let messages = page(&app, thread, query.group_id, &query.page).await?;
    if messages.is_empty() && app.store.agent(&thread.agent_id).await?.is_none() {
        return Err(missing::agent(thread.agent_id));
    }
    let mut shown = query.view.all(&messages);
    if !query.page.is_ascending() {
        shown.reverse();
    }
    Ok(Json(shown))
}

/// A part of what is stored of a thread, the oldest first.
async fn page(
    app: &App,
    thread: ThreadKey,
    group_id: Option<String>,
    page: &Page,
) -> Result<Vec<Message>, Refusal> {
    let conversation = match thread.conversation_id {
        Some(id) => app.store.conversation(&id).await?,
        None => None,
    };
    let mut older = match &conversation {
        Some(conversation) => taken_over(app, conversation).await?,
        None => Vec::new(),
    };
    let place = |cursor: Option<&str>| {
        let id = cursor?.parse().ok()?;
        older.iter().position(|message| message.id == id)
    };
    let (after, before) = (place(page.after.as_deref()), place(page.before.as_deref()));
    let own = Page {
        after: page.after.clone().filter(|_| after.is_none()),
        before: page.before.clone().filter(|_| before.is_none()),
        ..*page
    };
    older.truncate(before.unwrap_or(older.len()));
    match after {
        Some(at) => drop(older.drain(..older.len().min(at + 1))),
        // After one of its own there is nothing older.
        None if page.after.is_some() => older.clear(),
        None => {}
    }
    if group_id.is_some() {
        older.retain(|message| message.group_id == group_id);
    }
    let newer = before.is_none();
    let thread = MessageFilter {
        agent_id: Some(thread.agent_id),
        thread: ThreadFilter::of(thread.conversation_id),
        group_id,
        ..MessageFilter::default()
    };
    if page.is_ascending() {
        join_oldest(app, &thread, older, newer, own).await
    } else {
        join_newest(app, &thread, older, newer, own).await
    }
}

/// The oldest of `older`, and then of a thread's own where `newer` says so.
async fn join_oldest(
    app: &App,
    thread: &MessageFilter,
    mut older: Vec<Message>,
    newer: bool,
    mut own: Page,
) -> Result<Vec<Message>, Refusal> {
    older.truncate(length(own.limit));
    own.limit -= u32::try_from(older.len()).unwrap_or(own.limit);
    if newer && (own.limit > 0 || older.is_empty()) {
        older.extend(of_agent(app, thread.clone(), &own).await?);
    }
    Ok(older)
}

/// The newest of a thread's own where `newer` says so, and then of `older`.
async fn join_newest(
    app: &App,
    thread: &MessageFilter,
    mut older: Vec<Message>,
    newer: bool,
    own: Page,
) -> Result<Vec<Message>, Refusal> {
    let newest = match newer {
        true => of_agent(app, thread.clone(), &own).await?,
        false => Vec::new(),
    };
    let room = length(own.limit).saturating_sub(newest.len());
    if room == 0 || older.is_empty() || has_before(app, thread, newest.first()).await? {
        return Ok(newest);
    }
    drop(older.drain(..older.len().saturating_sub(room)));
    older.extend(newest);
    Ok(older)
}

fn length(limit: u32) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}

/// Whether a thread has messages of its own before this one: a page may end before its limit.
async fn has_before(
    app: &App,
    thread: &MessageFilter,
    message: Option<&Message>,
) -> Result<bool, Refusal> {
    let Some(message) = message else {
        return Ok(false);
    };
    let filter = MessageFilter {
        before: Some(message.id),
        limit: Some(1),
        ..thread.clone()
    };
    let found = app.store.messages(&filter).await;
    Ok(!found.map_err(missing::stored)?.is_empty())
}

/// The messages of other threads that a conversation goes on from.
async fn taken_over(app: &App, conversation: &Conversation) -> Result<Vec<Message>, Refusal> {
    let ids = &conversation.in_context_message_ids;
    let load = async |ids| {
        let messages = app.store.messages_by_ids(&conversation.agent_id, ids).await;
        let mut messages = messages.map_err(missing::stored)?;
        messages.retain(|message| message.conversation_id != Some(conversation.id));
        Ok::<_, Refusal>(messages)
    };
    // They stand together after the first ones, so that most conversations need no second look.
    let first = &ids[..ids.len().min(OWN_FIRST + 1)];
    match load(first).await?.is_empty() {
        true => Ok(Vec::new()),
        false => load(ids).await,
    }
}
