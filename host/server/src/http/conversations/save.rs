//! Conversations are made, changed, copied and deleted.

use axum::{Json, extract::State};
use bulkhead_agent::start::system_message;
use bulkhead_domain::{
    Agent, Block, Conversation, Message, Timestamp,
    id::{BlockId, MessageId},
};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::{view::ConversationView, which};
use crate::{
    app::App,
    contract::{
        Body, Parameters, Refusal,
        body::Schema,
        document::Refusals,
        id::DEFAULT_USER,
        query::{FromQuery, Query},
    },
    http::{AppState, agents::find, missing, query::Path, unbroken_contract},
};

/// Whose conversation.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Whose {
    /// the agent's id
    agent_id: String,
}

impl FromQuery for Whose {
    fn from_query(query: &mut Query) -> Self {
        Self {
            agent_id: query.required_text("agent_id"),
        }
    }
}

/// A conversation to make.
#[derive(Default, Deserialize, ToSchema)]
pub(crate) struct CreateConversation {
    /// what it is about
    summary: Option<String>,
    /// labels of blocks of which it gets copies of its own
    isolated_block_labels: Option<Vec<String>>,
    /// a model in the place of the agent's
    model: Option<String>,
    /// settings of that model
    #[schema(value_type = Option<Object>)]
    model_settings: Option<Value>,
}

impl Schema for CreateConversation {
    const NAME: &str = "CreateConversation";
}

/// Makes a conversation of an agent, with a system message of its own.
#[utoipa::path(
    post,
    path = "/v1/conversations/",
    operation_id = "create_conversation",
    tag = "conversations",
    params(Whose),
    request_body = CreateConversation,
    responses((status = OK, body = ConversationView, description = "the conversation"), Refusals)
)]
pub(crate) async fn create(
    State(app): State<AppState>,
    Parameters(whose): Parameters<Whose>,
    Body(body): Body<CreateConversation>,
) -> Result<Json<ConversationView>, Refusal> {
    let agent = find::agent(&app, &whose.agent_id).await?;
    if let Some(handle) = &body.model {
        app.models.find(handle).await?;
    }
    let made = unbroken_contract(async move {
        let mut conversation = Conversation::new(agent.id);
        conversation.created_by_id = Some(DEFAULT_USER.to_owned());
        conversation.summary = body.summary;
        conversation.model = body.model;
        conversation.model_settings = body.model_settings;
        let labels = body.isolated_block_labels.unwrap_or_default();
        begin(&app, &agent, conversation, &labels, &[]).await
    });
    made.await.map(ConversationView::from).map(Json)
}

/// Stores a conversation that begins with its system message and these messages of other threads.
async fn begin(
    app: &App,
    agent: &Agent,
    mut conversation: Conversation,
    isolated: &[String],
    context: &[MessageId],
) -> Result<Conversation, Refusal> {
    let mut blocks = blocks(app, agent).await?;
    let mut copies = Vec::with_capacity(isolated.len());
    for label in isolated {
        let block = blocks.iter_mut().find(|block| block.label == *label);
        let block = block.ok_or_else(|| missing::label(&agent.id, label))?;
        *block = copy(block);
        copies.push(block.clone());
    }
    conversation
        .isolated_block_ids
        .extend(copies.iter().map(|block| block.id));
    let now = Timestamp::now();
    let system = system_message(agent, &blocks, Some(conversation.id), now);
    conversation.in_context_message_ids = vec![system.id];
    conversation.in_context_message_ids.extend_from_slice(context);
    if !copies.is_empty() {
        app.store.create_blocks(&copies).await.map_err(missing::stored)?;
    }
    let stored = app.store.create_conversation(&conversation, &[system]).await;
    stored.map_err(missing::stored)?;
    Ok(conversation)
}

async fn blocks(app: &App, agent: &Agent) -> Result<Vec<Block>, Refusal> {
    let blocks = app.store.blocks_of(&[agent.id]).await?;
    Ok(blocks.into_values().flatten().collect())
}

fn copy(block: &Block) -> Block {
    let now = Timestamp::now();
    Block {
        id: BlockId::random(),
        version: 1,
        created_at: now,
        updated_at: now,
        ..block.clone()
    }
}

/// A change of a conversation. What is left out stays.
#[derive(Deserialize, ToSchema)]
pub(crate) struct UpdateConversation {
    summary: Option<String>,
    model: Option<String>,
    #[schema(value_type = Option<Object>)]
    model_settings: Option<Value>,
    #[schema(value_type = Option<String>)]
    last_message_at: Option<Timestamp>,
}

impl Schema for UpdateConversation {
    const NAME: &str = "UpdateConversation";
}

/// Changes a conversation.
#[utoipa::path(
    patch,
    path = "/v1/conversations/{conversation_id}",
    operation_id = "update_conversation",
    tag = "conversations",
    params(("conversation_id" = String, Path, description = "the conversation's id")),
    request_body = UpdateConversation,
    responses((status = OK, body = ConversationView, description = "the conversation"), Refusals)
)]
pub(crate) async fn update(
    State(app): State<AppState>,
    Path(conversation_id): Path<String>,
    Body(body): Body<UpdateConversation>,
) -> Result<Json<ConversationView>, Refusal> {
    let id = which::conversation(&app, &conversation_id).await?.id;
    if let Some(handle) = &body.model {
        app.models.find(handle).await?;
    }
    let changed = unbroken_contract(async move {
        let changed = app.store.update_conversation(&id, |conversation| {
            conversation.summary = body.summary.or(conversation.summary.take());
            conversation.model = body.model.or(conversation.model.take());
            conversation.model_settings =
                body.model_settings.or(conversation.model_settings.take());
            conversation.last_message_at = body.last_message_at.or(conversation.last_message_at);
            conversation.last_updated_by_id = Some(DEFAULT_USER.to_owned());
        });
        changed.await.map_err(missing::stored)
    });
    changed.await.map(ConversationView::from).map(Json)
}

/// Deletes a conversation; its messages stay with the agent.
#[utoipa::path(
    delete,
    path = "/v1/conversations/{conversation_id}",
    operation_id = "delete_conversation",
    tag = "conversations",
    params(("conversation_id" = String, Path, description = "the conversation's id")),
    responses((status = OK, body = Option<Object>, description = "null"), Refusals)
)]
pub(crate) async fn delete(
    State(app): State<AppState>,
    Path(conversation_id): Path<String>,
) -> Result<Json<Value>, Refusal> {
    let id = which::conversation(&app, &conversation_id).await?.id;
    let deleted = unbroken_contract(async move { Ok(app.store.delete_conversation(&id).await?) });
    match deleted.await? {
        true => Ok(Json(Value::Null)),
        false => Err(missing::object("Conversation", id)),
    }
}

/// Of which agent, where the path does not say.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Of {
    /// the agent's id, where the path has the word default
    pub(super) agent_id: Option<String>,
}

impl FromQuery for Of {
    fn from_query(query: &mut Query) -> Self {
        Self {
            agent_id: query.text("agent_id"),
        }
    }
}

/// Makes a conversation that goes on from where another thread is now.
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
        let context = without_system(&app, &agent, &source).await?;
        let labels = isolated_labels(&app, &source).await?;
        let mut copy = Conversation::new(agent.id);
        copy.created_by_id = Some(DEFAULT_USER.to_owned());
        copy.summary = source.summary;
        copy.model = source.model;
        copy.model_settings = source.model_settings;
        copy.last_message_at = source.last_message_at;
        begin(&app, &agent, copy, &labels, &context).await
    });
    made.await.map(ConversationView::from).map(Json)
}

/// What a thread's model sees, but the system message.
async fn without_system(
    app: &App,
    agent: &Agent,
    source: &Conversation,
) -> Result<Vec<MessageId>, Refusal> {
    let ids = &source.in_context_message_ids;
    let Some(first) = ids.first() else {
        return Ok(Vec::new());
    };
    let first = app.store.messages_by_ids(&agent.id, &[*first]).await?;
    let is_system = |message: &Message| message.role == bulkhead_domain::Role::System;
    let begins = usize::from(first.first().is_some_and(is_system));
    Ok(ids[begins..].to_vec())
}

async fn isolated_labels(app: &App, source: &Conversation) -> Result<Vec<String>, Refusal> {
    let mut labels = Vec::new();
    for id in &source.isolated_block_ids {
        labels.extend(app.store.block(id).await?.map(|block| block.label));
    }
    Ok(labels)
}
