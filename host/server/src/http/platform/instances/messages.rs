//! What is said to an instance, as `/v1` does it.

use axum::{
    Json,
    extract::{Request, State},
    response::Response,
};
use bulkhead_access::Action;
use serde_json::Value;

use crate::{
    contract::{
        OptionalBody, Parameters, Refusal,
        document::{Refusals, RunRefusals},
        query::Page,
    },
    http::{
        AppState,
        messages::{
            control::{self, CancelAgentRunRequest},
            later,
            list::{self, ListQuery, Showing},
            send,
        },
        query::Path,
        runs::view::RunView,
    },
    platform::Caller,
};

/// Sends messages to an agent, answers a request for approval, or gives results that the client
/// computed: the body of `/v1/agents/{agent_id}/messages`.
#[utoipa::path(
    post,
    path = "/api/v1/projects/{project_id}/agents/{agent_id}/messages",
    operation_id = "send_project_agent_message",
    tag = "project agents",
    params(
        ("project_id" = String, Path, description = "the project's id"),
        ("agent_id" = String, Path, description = "the agent's id")
    ),
    request_body = Object,
    responses(
        (status = OK, content((Object = "application/json"), (String = "text/event-stream")), description = "messages, stop_reason and usage; with streaming, server-sent events"),
        RunRefusals,
    )
)]
pub(crate) async fn send(
    State(app): State<AppState>,
    caller: Caller,
    Path((project_id, agent_id)): Path<(String, String)>,
    request: Request,
) -> Result<Response, Refusal> {
    caller
        .instance(&app, &project_id, &agent_id, Action::MessageInstance)
        .await?;
    send::send(State(app), Path(agent_id), request).await
}

/// Sends messages to an agent and answers with server-sent events.
#[utoipa::path(
    post,
    path = "/api/v1/projects/{project_id}/agents/{agent_id}/messages/stream",
    operation_id = "stream_project_agent_message",
    tag = "project agents",
    params(
        ("project_id" = String, Path, description = "the project's id"),
        ("agent_id" = String, Path, description = "the agent's id")
    ),
    request_body = Object,
    responses(
        (status = OK, body = String, content_type = "text/event-stream", description = "messages as they come, or pieces of them with stream_tokens"),
        RunRefusals,
    )
)]
pub(crate) async fn send_streaming(
    State(app): State<AppState>,
    caller: Caller,
    Path((project_id, agent_id)): Path<(String, String)>,
    request: Request,
) -> Result<Response, Refusal> {
    caller
        .instance(&app, &project_id, &agent_id, Action::MessageInstance)
        .await?;
    send::send_streaming(State(app), Path(agent_id), request).await
}

/// Sends messages to an agent and answers at once with the run that they begin.
#[utoipa::path(
    post,
    path = "/api/v1/projects/{project_id}/agents/{agent_id}/messages/async",
    operation_id = "send_project_agent_message_async",
    tag = "project agents",
    params(
        ("project_id" = String, Path, description = "the project's id"),
        ("agent_id" = String, Path, description = "the agent's id")
    ),
    request_body = Object,
    responses((status = OK, body = RunView, description = "the run"), RunRefusals)
)]
pub(crate) async fn send_later(
    State(app): State<AppState>,
    caller: Caller,
    Path((project_id, agent_id)): Path<(String, String)>,
    request: Request,
) -> Result<Json<RunView>, Refusal> {
    caller
        .instance(&app, &project_id, &agent_id, Action::MessageInstance)
        .await?;
    later::send(State(app), Path(agent_id), request).await
}

/// Messages of an agent. The newest, or with order=asc the oldest; in either case the oldest first.
#[utoipa::path(
    get,
    path = "/api/v1/projects/{project_id}/agents/{agent_id}/messages",
    operation_id = "list_project_agent_messages",
    tag = "project agents",
    params(
        ("project_id" = String, Path, description = "the project's id"),
        ("agent_id" = String, Path, description = "the agent's id"),
        Showing,
        Page
    ),
    responses((status = OK, body = Vec<Object>, description = "messages"), Refusals)
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    caller: Caller,
    Path((project_id, agent_id)): Path<(String, String)>,
    query: Result<Parameters<ListQuery>, Refusal>,
) -> Result<Json<Vec<Value>>, Refusal> {
    caller
        .instance(&app, &project_id, &agent_id, Action::ReadInstance)
        .await?;
    list::list(State(app), Path(agent_id), query?).await
}

/// Cancels runs of an agent; an open request for approval is closed with denials.
#[utoipa::path(
    post,
    path = "/api/v1/projects/{project_id}/agents/{agent_id}/messages/cancel",
    operation_id = "cancel_project_agent_message",
    tag = "project agents",
    params(
        ("project_id" = String, Path, description = "the project's id"),
        ("agent_id" = String, Path, description = "the agent's id")
    ),
    request_body = Option<CancelAgentRunRequest>,
    responses((status = OK, body = Object, description = "each run's id, and cancelled or failed"), Refusals)
)]
pub(crate) async fn cancel(
    State(app): State<AppState>,
    caller: Caller,
    Path((project_id, agent_id)): Path<(String, String)>,
    body: Result<OptionalBody<CancelAgentRunRequest>, Refusal>,
) -> Result<Json<Value>, Refusal> {
    caller
        .instance(&app, &project_id, &agent_id, Action::MessageInstance)
        .await?;
    control::cancel(State(app), Path(agent_id), body?).await
}
