//! Messages to an agent: answered as a whole, or as a stream.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Request, State},
    response::{IntoResponse as _, Response},
};
use bulkhead_agent::{
    AgentError, Engine, Entry, Listener, Listening, RunRequest, RunType, ThreadKey,
};
use bulkhead_domain::id::AgentId;
use serde_json::Value;

use super::{
    answer,
    body::{Route, SendBody},
    events::Events,
    input,
    stream::Streaming,
};
use crate::{
    app::App,
    contract::{Refusal, body, document::RunRefusals},
    http::{AppState, agents::find, query::Path, runs, unbroken_contract},
};

/// Sends messages to an agent and answers with what came of them.
#[utoipa::path(
    post,
    path = "/v1/agents/{agent_id}/messages",
    operation_id = "send_message",
    tag = "messages",
    params(("agent_id" = String, Path, description = "the agent's id")),
    request_body = Object,
    responses(
        (status = OK, content((Object = "application/json"), (String = "text/event-stream")), description = "messages, stop_reason and usage; with streaming, server-sent events"),
        RunRefusals,
    )
)]
pub(crate) async fn send(
    State(app): State<AppState>,
    Path(agent_id): Path<String>,
    request: Request,
) -> Result<Response, Refusal> {
    let agent_id = find::id(&agent_id)?;
    let body = SendBody::read(Route::Agent, body::value(request).await?)?;
    answered(&app, &body, agent_id).await
}

/// Sends what a body says to an agent, and answers as it wants.
pub(crate) async fn answered(
    app: &AppState,
    body: &SendBody,
    agent_id: AgentId,
) -> Result<Response, Refusal> {
    let to = Recipient::agent(agent_id);
    if body.streaming == Some(true) {
        return Ok(streamed(app, body, to).await?.into_response());
    }
    body.check_unstreamed()?;
    whole(app, body, to).await
}

/// Sends messages to an agent and answers with server-sent events.
#[utoipa::path(
    post,
    path = "/v1/agents/{agent_id}/messages/stream",
    operation_id = "create_agent_message_stream",
    tag = "messages",
    params(("agent_id" = String, Path, description = "the agent's id")),
    request_body = Object,
    responses(
        (status = OK, body = String, content_type = "text/event-stream", description = "messages as they come, or pieces of them with stream_tokens"),
        RunRefusals,
    )
)]
pub(crate) async fn send_streaming(
    State(app): State<AppState>,
    Path(agent_id): Path<String>,
    request: Request,
) -> Result<Response, Refusal> {
    let agent_id = find::id(&agent_id)?;
    let body = SendBody::read(Route::Agent, body::value(request).await?)?;
    let events = streamed(&app, &body, Recipient::agent(agent_id)).await?;
    Ok(events.into_response())
}

/// Waits for the run, and answers with all of it.
pub(crate) async fn whole(
    app: &AppState,
    body: &SendBody,
    to: Recipient,
) -> Result<Response, Refusal> {
    let request = to.request(app, body, RunType::Message).await?;
    let begun = match to.enter(&app.engine, request).await? {
        Entry::Begun(begun) => *begun,
        Entry::Known(run) => return Err(AgentError::Busy(run.id).into()),
    };
    let driven = app.engine.drive(begun, Listener::none()).await;
    let outcome = driven.map_err(|failure| Refusal::from(failure.error))?;
    let response: Value = answer::response(&outcome, &body.view());
    Ok(Json(response).into_response())
}

/// Begins a run and gives its events; those of the run that an equal request in the background began
/// before, where a conversation gets it again. What is wrong before it begins is a refusal as ever.
pub(crate) async fn streamed(
    app: &AppState,
    body: &SendBody,
    to: Recipient,
) -> Result<Events, Refusal> {
    let mut request = to.request(app, body, RunType::Streaming).await?;
    request.background = body.background;
    request.listening = Listening {
        tokens: body.stream_tokens,
        ends_with_listener: !body.background,
    };
    let how = Streaming {
        view: body.view(),
        include_pings: body.include_pings,
        background: body.background,
    };
    let app = Arc::clone(app);
    // A client that leaves now leaves a run that it may find again, or none.
    let events = unbroken_contract(async move {
        let include_pings = how.include_pings;
        match to.enter(&app.engine, request).await? {
            Entry::Begun(begun) => Ok(Events::of(&app, *begun, how)),
            Entry::Known(run) => runs::stream::kept(&app, &run, 0, include_pings),
        }
    });
    events.await
}

/// To whom messages go, which decides how they are read and whether they wait for their turn.
#[derive(Clone, Copy)]
pub(crate) struct Recipient {
    pub(crate) thread: ThreadKey,
    pub(crate) route: Route,
}

impl Recipient {
    /// An agent, by its own route.
    pub(crate) fn agent(agent_id: AgentId) -> Self {
        Self {
            thread: ThreadKey::default_of(agent_id),
            route: Route::Agent,
        }
    }

    /// A thread, by the route of conversations.
    pub(crate) fn conversation(thread: ThreadKey) -> Self {
        Self {
            thread,
            route: Route::Conversation,
        }
    }

    async fn request(
        self,
        app: &App,
        body: &SendBody,
        run_type: RunType,
    ) -> Result<RunRequest, Refusal> {
        let ThreadKey {
            agent_id,
            conversation_id,
        } = self.thread;
        input::request(app, body, agent_id, conversation_id, run_type).await
    }

    /// Begins a run: an agent's waits for its turn, a conversation takes one request at a time.
    async fn enter(self, engine: &Engine, request: RunRequest) -> Result<Entry, AgentError> {
        match self.route {
            Route::Conversation => engine.begin_alone(request).await,
            Route::Agent | Route::Async => {
                let begun = engine.begin(request).await?;
                Ok(Entry::Begun(Box::new(begun)))
            }
        }
    }
}
