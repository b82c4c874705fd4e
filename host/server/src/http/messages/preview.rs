//! What a provider would get for messages, to look at. Nothing is sent and nothing stored.

use axum::{
    Json,
    extract::{Request, State},
};
use bulkhead_agent::{AgentError, Listening, RunType, ThreadKey};
use serde_json::Value;

use super::{
    body::{Route, SendBody},
    input,
};
use crate::{
    app::App,
    contract::{Parameters, Refusal, body, document::RunRefusals},
    http::{
        AppState,
        agents::find,
        conversations::{save::Of, which},
        query::Path,
    },
};

/// The body that the provider of an agent's model would get first for these messages.
#[utoipa::path(
    post,
    path = "/v1/agents/{agent_id}/messages/preview-raw-payload",
    operation_id = "preview_model_request",
    tag = "messages",
    params(("agent_id" = String, Path, description = "the agent's id")),
    request_body = Object,
    responses((status = OK, body = Object, description = "in the provider's own form"), RunRefusals)
)]
pub(crate) async fn of_agent(
    State(app): State<AppState>,
    Path(agent_id): Path<String>,
    request: Request,
) -> Result<Json<Value>, Refusal> {
    let agent_id = find::id(&agent_id)?;
    let body = SendBody::read(Route::Agent, body::value(request).await?)?;
    let thread = ThreadKey::default_of(agent_id);
    payload(&app, &body, thread).await
}

/// As for an agent, for a conversation.
#[utoipa::path(
    post,
    path = "/v1/conversations/{conversation_id}/messages/preview-raw-payload",
    operation_id = "preview_conversation_model_request",
    tag = "conversations",
    params(("conversation_id" = String, Path, description = "the conversation's id, an agent's, or default"), Of),
    request_body = Object,
    responses((status = OK, body = Object, description = "in the provider's own form"), RunRefusals)
)]
pub(crate) async fn of_conversation(
    State(app): State<AppState>,
    Path(conversation_id): Path<String>,
    Parameters(of): Parameters<Of>,
    request: Request,
) -> Result<Json<Value>, Refusal> {
    let body = SendBody::read(Route::Conversation, body::value(request).await?)?;
    let agent_id = body.agent_id.as_deref().or(of.agent_id.as_deref());
    let thread = which::thread(&app, &conversation_id, agent_id).await?;
    payload(&app, &body, thread).await
}

async fn payload(app: &App, body: &SendBody, thread: ThreadKey) -> Result<Json<Value>, Refusal> {
    let (agent_id, conversation_id) = (thread.agent_id, thread.conversation_id);
    let request = input::request(app, body, agent_id, conversation_id, RunType::Message);
    let mut request = request.await?;
    request.listening = Listening {
        tokens: body.stream_tokens,
        ends_with_listener: false,
    };
    let preview = app.engine.preview(request).await?;
    let payload = app.models.payload(&preview.request, preview.streams);
    payload
        .map(Json)
        .map_err(|error| AgentError::Llm(error).into())
}
