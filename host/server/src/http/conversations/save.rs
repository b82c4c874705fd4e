//! Conversations are made, changed and deleted.

use axum::{Json, extract::State};
use bulkhead_domain::{Agent, Block, Conversation, Timestamp};
use bulkhead_store::ThreadFilter;
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::{
    begin::{begin, check_model, forget_blocks},
    view::ConversationView,
    which,
};
use crate::{
    app::App,
    contract::{
        Body, OptionalBody, Parameters, Refusal,
        body::Schema,
        document::Refusals,
        query::{FromQuery, Query},
    },
    http::{
        AppState,
        agents::{find, instance::expect_not_kept},
        messages::control::closed,
        missing,
        query::Path,
        scope, unbroken_contract,
    },
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
    request_body = Option<CreateConversation>,
    responses((status = OK, body = ConversationView, description = "the conversation"), Refusals)
)]
pub(crate) async fn create(
    State(app): State<AppState>,
    Parameters(whose): Parameters<Whose>,
    OptionalBody(body): OptionalBody<CreateConversation>,
) -> Result<Json<ConversationView>, Refusal> {
    let body = body.unwrap_or_default();
    let agent = find::agent(&app, &whose.agent_id).await?;
    let settings = body.model_settings.as_ref();
    check_model(&app, &agent, body.model.as_deref(), settings).await?;
    let made = unbroken_contract(async move {
        let mut conversation = Conversation::new(agent.id);
        conversation.created_by_id = Some(scope::actor());
        conversation.last_updated_by_id = Some(scope::actor());
        conversation.summary = body.summary;
        conversation.model = body.model;
        conversation.model_settings = body.model_settings;
        let labels = body.isolated_block_labels.unwrap_or_default();
        let blocks = labelled(&app, &agent, &labels).await?;
        begin(&app, &agent, conversation, &blocks, &[]).await
    });
    made.await.map(ConversationView::from).map(Json)
}

/// The blocks of an agent with these labels, each once.
async fn labelled(app: &App, agent: &Agent, labels: &[String]) -> Result<Vec<Block>, Refusal> {
    let blocks = app.store.blocks_of(&[agent.id]).await?;
    let blocks: Vec<Block> = blocks.into_values().flatten().collect();
    let unknown = |label: &&String| !blocks.iter().any(|block| block.label == **label);
    if let Some(label) = labels.iter().find(unknown) {
        return Err(missing::label(&agent.id, label));
    }
    let mut blocks = blocks;
    blocks.retain(|block| labels.contains(&block.label));
    Ok(blocks)
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
    let former = which::conversation(&app, &conversation_id).await?;
    let (id, agent_id) = (former.id, former.agent_id);
    let agent = app.store.agent(&agent_id).await?;
    let agent = agent.ok_or_else(|| missing::agent(agent_id))?;
    let model = body.model.as_deref().or(former.model.as_deref());
    let settings = body.model_settings.as_ref();
    check_model(&app, &agent, model, settings).await?;
    let changed = unbroken_contract(async move {
        let changed = app.store.update_conversation(&id, |conversation| {
            conversation.summary = body.summary.or(conversation.summary.take());
            conversation.model = body.model.or(conversation.model.take());
            conversation.model_settings =
                body.model_settings.or(conversation.model_settings.take());
            conversation.last_message_at = body.last_message_at.or(conversation.last_message_at);
            conversation.last_updated_by_id = Some(scope::actor());
        });
        changed.await.map_err(missing::stored)
    });
    changed.await.map(ConversationView::from).map(Json)
}

/// Deletes a conversation with the blocks that it has for itself; its run is cancelled first, and its
/// messages stay with the agent.
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
    let conversation = which::conversation(&app, &conversation_id).await?;
    let id = conversation.id;
    expect_not_kept(&app, conversation.agent_id).await?;
    let deleted = unbroken_contract(async move {
        let threads = ThreadFilter::Conversation(id);
        let _closed = closed(&app, conversation.agent_id, threads).await?;
        let deleted = app.store.delete_conversation(&id).await?;
        forget_blocks(&app, &conversation).await?;
        Ok(deleted)
    });
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
    pub(crate) agent_id: Option<String>,
}

impl FromQuery for Of {
    fn from_query(query: &mut Query) -> Self {
        Self {
            agent_id: query.text("agent_id"),
        }
    }
}
