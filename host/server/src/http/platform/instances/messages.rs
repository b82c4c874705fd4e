//! What is said to an instance, as `/v1` does it.

use axum::{
    Json,
    extract::{Request, State},
    response::Response,
};
use bulkhead_access::Action;
use bulkhead_domain::{id::AgentId, platform::ProjectId};
use serde_json::Value;

use crate::{
    contract::{
        OptionalBody, Parameters, Refusal, body,
        document::{Refusals, RunRefusals},
        query::{ByCreation, Page},
    },
    http::{
        AppState,
        holder::{self, Right},
        messages::{
            body::{Route, SendBody},
            control::{self, CancelAgentRunRequest},
            later,
            list::{self, InName, InThread, Kinds, ListQuery, Spoken},
            send::{self, Recipient},
        },
        query::Path,
        runs::view::RunView,
    },
    platform::Caller,
};

/// To whom messages go, and what the caller may say beside them.
struct Target {
    project_id: ProjectId,
    agent_id: AgentId,
    /// Whether the caller decides about the project's agents, and not only talks to them.
    decides: bool,
}

impl Target {
    /// The agent, to which the caller may send messages.
    async fn of(
        app: &AppState,
        caller: &Caller,
        project_id: &str,
        agent_id: &str,
    ) -> Result<Self, Refusal> {
        let (project, found) = caller
            .instance(app, project_id, agent_id, Action::MessageInstance)
            .await?;
        Ok(Self {
            project_id: project.id,
            agent_id: found.instance.agent_id,
            decides: caller
                .may_in(app, project.id, Action::ControlInstance)
                .await?,
        })
    }

    /// What is sent, as far as the caller may say it.
    async fn body(&self, route: Route, request: Request) -> Result<SendBody, Refusal> {
        let body = SendBody::read(route, body::value(request).await?)?;
        if !self.decides {
            body.expect_as_made()?;
        }
        Ok(body)
    }

    /// An answer that ends, where it is a stream, with the caller's right to send messages.
    fn held(&self, answer: Response) -> Response {
        let right = Right::InProject(self.project_id, Action::MessageInstance);
        holder::of_right(answer, right)
    }
}

/// Sends messages to an agent, answers a request for approval, or gives results that the client
/// computed: the body of `/v1/agents/{agent_id}/messages`. What changes the agent for one request
/// (`override_model`, `override_system`, `client_tools`, `client_skills`, a `max_steps` above the usual
/// one) is taken from owners of the project alone.
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
    let target = Target::of(&app, &caller, &project_id, &agent_id).await?;
    let body = target.body(Route::Agent, request).await?;
    let answer = send::answered(&app, &body, target.agent_id).await?;
    Ok(target.held(answer))
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
    let target = Target::of(&app, &caller, &project_id, &agent_id).await?;
    let body = target.body(Route::Agent, request).await?;
    let events = send::streamed(&app, &body, Recipient::agent(target.agent_id)).await?;
    Ok(target.held(events.into_response()))
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
    let target = Target::of(&app, &caller, &project_id, &agent_id).await?;
    let body = target.body(Route::Async, request).await?;
    later::begun(app, &body, target.agent_id).await
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
        InThread,
        InName,
        Spoken,
        Kinds,
        ByCreation,
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
