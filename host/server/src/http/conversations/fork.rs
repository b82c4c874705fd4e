//! A conversation that goes on from where another thread is now.

use axum::{Json, extract::State};
use bulkhead_domain::{Agent, Block, Conversation, Message, Role, id::MessageId};

use super::{begin::begin, save::Of, view::ConversationView, which};
use crate::{
    app::App,
    contract::{Parameters, Refusal, document::Refusals},
    http::{AppState, missing, query::Path, scope, unbroken_contract},
};

/// Messages of one answer at most: what was said, and what waits.
const ANSWER_MESSAGES: usize = 2;

/// Makes a conversation that goes on from where another thread is now. A request for approval that is
/// open there is no part of it: it is answered once.
#[utoipa::path(
    post,
    path = "/v1/conversations/{conversation_id}/fork",
    operation_id = "fork_conversation",
    tag = "conversations",
    params(("conversation_id" = String, Path, description = "the conversation's id, an agent's, or default"), Of),
    responses((status = OK, body = ConversationView, description = "the new conversation"), Refusals)
)]
pub(crate) async fn fork(
    State(app): State<AppState>,
    Path(conversation_id): Path<String>,
    Parameters(of): Parameters<Of>,
) -> Result<Json<ConversationView>, Refusal> {
    let thread = which::thread(&app, &conversation_id, of.agent_id.as_deref()).await?;
    let agent = app.store.agent(&thread.agent_id).await?;
    let agent = agent.ok_or_else(|| missing::agent(thread.agent_id))?;
    let source = match thread.conversation_id {
        None => {
            let mut own = Conversation::new(agent.id);
            own.in_context_message_ids.clone_from(&agent.message_ids);
            own
        }
        Some(_) => which::conversation(&app, &conversation_id).await?,
    };
    let made = unbroken_contract(async move {
        let context = gone_on_from(&app, &agent, &source).await?;
        let blocks = isolated(&app, &source).await?;
        let mut fork = Conversation::new(agent.id);
        fork.created_by_id = Some(scope::actor());
        fork.last_updated_by_id = Some(scope::actor());
        fork.summary = source.summary;
        fork.model = source.model;
        fork.model_settings = source.model_settings;
        fork.last_message_at = source.last_message_at;
        begin(&app, &agent, fork, &blocks, &context).await
    });
    made.await.map(ConversationView::from).map(Json)
}

/// What a thread's model sees, but the system message and the answer that waits for an approval.
async fn gone_on_from(
    app: &App,
    agent: &Agent,
    source: &Conversation,
) -> Result<Vec<MessageId>, Refusal> {
    let ids = &source.in_context_message_ids;
    let from = ids
        .len()
        .saturating_sub(ANSWER_MESSAGES)
        .max(1)
        .min(ids.len());
    let mut looked_at = ids.get(..1).unwrap_or_default().to_vec();
    looked_at.extend_from_slice(&ids[from..]);
    let found = app.store.messages_by_ids(&agent.id, &looked_at).await;
    let found = found.map_err(missing::stored)?;
    let begins = found.first().filter(|first| first.role == Role::System);
    let begins = usize::from(begins.is_some());
    let last = found.last().filter(|last| last.is_approval_request());
    let waits = last.map_or(0, |request| {
        let same_answer = |message: &&Message| {
            let same_step = message.step_id.is_some() && message.step_id == request.step_id;
            message.role == Role::Assistant && same_step
        };
        1 + found.iter().filter(same_answer).count()
    });
    Ok(ids[begins..ids.len().saturating_sub(waits).max(begins)].to_vec())
}

/// The blocks that a conversation has for itself, as they are now.
async fn isolated(app: &App, source: &Conversation) -> Result<Vec<Block>, Refusal> {
    let mut blocks = Vec::with_capacity(source.isolated_block_ids.len());
    for id in &source.isolated_block_ids {
        blocks.extend(app.store.block(id).await?);
    }
    Ok(blocks)
}
