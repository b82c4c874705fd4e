//! Messages to an agent: answered as a whole, or as a stream.

use axum::{
    Json,
    extract::{Request, State},
    response::{IntoResponse as _, Response},
};
use bulkhead_agent::{Listener, Listening, RunType, ThreadKey};
use serde_json::Value;

use super::{
    answer, background,
    body::{Route, SendBody},
    input,
    stream::{self, Streaming},
};
use crate::{
    contract::{Refusal, body, document::Refusals},
    http::{AppState, agents::find, query::Path},
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
        Refusals,
    )
)]
pub(crate) async fn send(
    State(app): State<AppState>,
    Path(agent_id): Path<String>,
    request: Request,
) -> Result<Response, Refusal> {
    let agent_id = find::id(&agent_id)?;
    let body = SendBody::read(Route::Agent, body::value(request).await?)?;
    let thread = ThreadKey {
        agent_id,
        conversation_id: None,
    };
    if body.streaming == Some(true) {
        return streamed(&app, &body, thread).await;
    }
    body.check_unstreamed()?;
    whole(&app, &body, thread).await
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
        Refusals,
    )
)]
pub(crate) async fn send_streaming(
    State(app): State<AppState>,
    Path(agent_id): Path<String>,
    request: Request,
) -> Result<Response, Refusal> {
    let agent_id = find::id(&agent_id)?;
    let body = SendBody::read(Route::Agent, body::value(request).await?)?;
    let thread = ThreadKey {
        agent_id,
        conversation_id: None,
    };
    streamed(&app, &body, thread).await
}

/// Waits for the run, and answers with all of it.
pub(crate) async fn whole(
    app: &AppState,
    body: &SendBody,
    thread: ThreadKey,
) -> Result<Response, Refusal> {
    let request = input::request(
        app,
        body,
        thread.agent_id,
        thread.conversation_id,
        RunType::Message,
    );
    let begun = app.engine.begin(request.await?).await?;
    let driven = app.engine.drive(begun, Listener::none()).await;
    let outcome = driven.map_err(|failure| Refusal::from(failure.error))?;
    let response: Value = answer::response(&outcome, &body.view());
    Ok(Json(response).into_response())
}

/// Answers with the run's events. What is wrong before it begins is a refusal as ever.
pub(crate) async fn streamed(
    app: &AppState,
    body: &SendBody,
    thread: ThreadKey,
) -> Result<Response, Refusal> {
    let request = input::request(
        app,
        body,
        thread.agent_id,
        thread.conversation_id,
        RunType::Streaming,
    );
    let mut request = request.await?;
    request.background = body.background;
    request.listening = Listening {
        tokens: body.stream_tokens,
        ends_with_listener: !body.background,
    };
    let begun = app.engine.begin(request).await?;
    let how = Streaming {
        view: body.view(),
        include_pings: body.include_pings,
        background: body.background,
    };
    if how.background {
        return Ok(background::respond(app, begun, how));
    }
    Ok(stream::respond(&app.engine, begun, how))
}
