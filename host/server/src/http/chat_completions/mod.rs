//! `/v1/chat/completions`: an agent as clients of OpenAI's API see a model. The agent has a history
//! and tools of its own, so that of a request the last message of the user counts.
//!
//! - `input`: that message, in the words of agents. `stream`: what the agent says, in pieces.

mod input;
mod stream;

use axum::{extract::State, response::Response};
use bulkhead_agent::{Listening, RunType};
use bulkhead_domain::id::AgentId;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa_axum::router::UtoipaMethodRouter;

use super::{
    AppState,
    agents::find,
    messages::{
        body::{Route, SendBody},
        input as sent,
    },
    routes::routes,
};
use crate::contract::{Body, Refusal, body::Schema, document::RunRefusals};

/// The routes.
pub(crate) fn routes() -> Vec<UtoipaMethodRouter<AppState>> {
    vec![routes!(create)]
}

/// A request as clients of OpenAI's API send it. Its other fields change nothing: how its model is
/// asked belongs to the agent.
#[derive(Deserialize, ToSchema)]
pub(crate) struct ChatCompletionRequest {
    /// the agent's id
    model: String,
    /// of which the last one of the user counts
    #[schema(value_type = Vec<Object>)]
    messages: Vec<Value>,
    /// must be true
    stream: Option<bool>,
}

impl Schema for ChatCompletionRequest {
    const NAME: &str = "ChatCompletion";
}

/// Sends a message to an agent and answers with what it says, in the form of OpenAI's chunks.
#[utoipa::path(
    post,
    path = "/v1/chat/completions",
    operation_id = "create_chat_completion",
    tag = "chat",
    request_body = ChatCompletionRequest,
    responses(
        (status = OK, body = String, content_type = "text/event-stream", description = "chat.completion.chunk objects"),
        RunRefusals,
    )
)]
pub(crate) async fn create(
    State(app): State<AppState>,
    Body(body): Body<ChatCompletionRequest>,
) -> Result<Response, Refusal> {
    let agent_id: AgentId = body.model.parse().map_err(|_| no_agent(&body.model))?;
    if body.stream != Some(true) {
        return Err(Refusal::bad_request(
            "INVALID_ARGUMENT: Non-streaming chat completions not yet implemented. Please set \
             stream=true.",
        ));
    }
    let message = input::last_of_user(&body.messages)?;
    let agent = find::agent(&app, &body.model).await?;
    let body = SendBody::read(Route::Agent, json!({ "messages": [message] }))?;
    let request = sent::request(&app, &body, agent_id, None, RunType::ChatCompletions);
    let mut request = request.await?;
    request.listening = Listening {
        tokens: true,
        ends_with_listener: true,
    };
    let begun = app.engine.begin(request).await?;
    Ok(stream::respond(&app.engine, begun, agent.llm_config.model))
}

fn no_agent(model: &str) -> Refusal {
    Refusal::bad_request(format!(
        "INVALID_ARGUMENT: For this endpoint, the 'model' field should contain an agent ID (format: \
         'agent-...'). Received: '{model}'"
    ))
}
