//! What becomes of an instance: paused, resumed, terminated, named otherwise.

use axum::{
    Json,
    extract::{Request, State},
};
use bulkhead_access::Action;
use bulkhead_agent::AgentError;
use bulkhead_domain::{
    Agent, Conversation,
    id::AgentId,
    platform::{InstanceStatus, Standing},
};
use bulkhead_store::{
    AgentRelations, ConversationFilter, InstanceRecord, PAGE_MAX, Paging, StoreError, ThreadFilter,
};
use serde::Deserialize;
use utoipa::ToSchema;

use super::read::InstanceView;
use crate::{
    app::App,
    contract::Refusal,
    http::{
        AppState,
        error::{self, ErrorBody, Rejection},
        json::body,
        platform::{auth::DoneView, fields::Faults},
        query::Path,
        unbroken,
    },
    platform::Caller,
};

/// What changes of an agent.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = AgentInstanceUpdate)]
pub(crate) struct InstanceUpdate {
    name: String,
}

/// Names an agent otherwise.
#[utoipa::path(
    patch,
    path = "/api/v1/projects/{project_id}/agents/{agent_id}",
    operation_id = "update_project_agent",
    tag = "project agents",
    params(
        ("project_id" = String, Path, description = "the project's id"),
        ("agent_id" = String, Path, description = "the agent's id")
    ),
    request_body = InstanceUpdate,
    responses(
        (status = OK, body = InstanceView, description = "the agent"),
        (status = NOT_FOUND, body = ErrorBody),
    )
)]
pub(crate) async fn update(
    State(app): State<AppState>,
    caller: Caller,
    Path((project_id, agent_id)): Path<(String, String)>,
    request: Request,
) -> Result<Json<InstanceView>, Rejection> {
    let (_, found) = caller
        .instance(&app, &project_id, &agent_id, Action::ControlInstance)
        .await?;
    let InstanceUpdate { name } = body(request).await?;
    let mut faults = Faults::default();
    faults.agent("name", &name);
    faults.check()?;
    let edit = |agent: &mut Agent| {
        agent.name = name;
        Ok::<_, StoreError>(())
    };
    app.store
        .update_agent(&found.instance.agent_id, edit, &AgentRelations::default())
        .await?;
    let (_, found) = caller
        .instance(&app, &project_id, &agent_id, Action::ControlInstance)
        .await?;
    Ok(Json(found.into()))
}

/// Pauses an agent: what it does is cancelled, and it takes no messages until it is resumed. What
/// waits for an approval goes on waiting.
#[utoipa::path(
    post,
    path = "/api/v1/projects/{project_id}/agents/{agent_id}/pause",
    operation_id = "pause_project_agent",
    tag = "project agents",
    params(
        ("project_id" = String, Path, description = "the project's id"),
        ("agent_id" = String, Path, description = "the agent's id")
    ),
    responses(
        (status = OK, body = InstanceView, description = "the agent"),
        (status = NOT_FOUND, body = ErrorBody),
        (status = UNPROCESSABLE_ENTITY, body = ErrorBody, description = "it is paused or terminated"),
    )
)]
pub(crate) async fn pause(
    State(app): State<AppState>,
    caller: Caller,
    Path((project_id, agent_id)): Path<(String, String)>,
) -> Result<Json<InstanceView>, Rejection> {
    let paused = stand(&app, &caller, &project_id, &agent_id, Standing::Paused).await?;
    Ok(Json(paused.into()))
}

/// Resumes a paused agent.
#[utoipa::path(
    post,
    path = "/api/v1/projects/{project_id}/agents/{agent_id}/resume",
    operation_id = "resume_project_agent",
    tag = "project agents",
    params(
        ("project_id" = String, Path, description = "the project's id"),
        ("agent_id" = String, Path, description = "the agent's id")
    ),
    responses(
        (status = OK, body = InstanceView, description = "the agent"),
        (status = NOT_FOUND, body = ErrorBody),
        (status = UNPROCESSABLE_ENTITY, body = ErrorBody, description = "it is not paused"),
    )
)]
pub(crate) async fn resume(
    State(app): State<AppState>,
    caller: Caller,
    Path((project_id, agent_id)): Path<(String, String)>,
) -> Result<Json<InstanceView>, Rejection> {
    let resumed = stand(&app, &caller, &project_id, &agent_id, Standing::Active).await?;
    Ok(Json(resumed.into()))
}

/// Terminates an agent for good: what it does is cancelled. Its messages and what it cost are kept.
#[utoipa::path(
    delete,
    path = "/api/v1/projects/{project_id}/agents/{agent_id}",
    operation_id = "terminate_project_agent",
    tag = "project agents",
    params(
        ("project_id" = String, Path, description = "the project's id"),
        ("agent_id" = String, Path, description = "the agent's id")
    ),
    responses(
        (status = OK, body = DoneView, description = "it is terminated"),
        (status = NOT_FOUND, body = ErrorBody),
        (status = UNPROCESSABLE_ENTITY, body = ErrorBody, description = "it is terminated already"),
    )
)]
pub(crate) async fn terminate(
    State(app): State<AppState>,
    caller: Caller,
    Path((project_id, agent_id)): Path<(String, String)>,
) -> Result<Json<DoneView>, Rejection> {
    stand(&app, &caller, &project_id, &agent_id, Standing::Terminated).await?;
    Ok(Json(DoneView {
        message: "the agent is terminated",
    }))
}

/// Makes an instance stand so. What begins meanwhile is stopped by the loop, which asks once more.
/// Where it stands so already, what goes on is stopped all the same: the request that made it stand
/// so may have failed after that.
async fn stand(
    app: &AppState,
    caller: &Caller,
    project_id: &str,
    agent_id: &str,
    to: Standing,
) -> Result<InstanceRecord, Rejection> {
    let (_, found) = caller
        .instance(app, project_id, agent_id, Action::ControlInstance)
        .await?;
    let agent = found.instance.agent_id;
    let own = AppState::clone(app);
    unbroken(async move {
        let set = own.store.set_standing(agent, to.reached_from(), to).await;
        let refused = match set {
            Ok(_) => None,
            Err(StoreError::WrongStanding { status, .. }) => Some(status),
            Err(error) => return Err(error.into()),
        };
        match (to, refused) {
            (Standing::Paused, None | Some(InstanceStatus::Paused)) => {
                cancel_runs(&own, agent).await?;
            }
            (Standing::Terminated, _) => stop(&own, agent).await?,
            _ => {}
        }
        refused.map_or(Ok(()), |status| Err(invalid(status, to)))
    })
    .await?;
    // As it is when what it did has ended.
    let (_, found) = caller
        .instance(app, project_id, agent_id, Action::ControlInstance)
        .await?;
    Ok(found)
}

/// A transition that there is not, refused with the state that the agent is in.
fn invalid(status: InstanceStatus, to: Standing) -> Rejection {
    let (is, wanted) = (status.as_str(), verb(to));
    let text = format!("the agent is {is}: it cannot be {wanted}");
    Rejection::with(&error::INVALID_TRANSITION, text).state(is)
}

fn verb(to: Standing) -> &'static str {
    match to {
        Standing::Active => "resumed",
        Standing::Paused => "paused",
        Standing::Terminated => "terminated",
    }
}

/// Ends all that an agent does, and closes what waits for an approval in any of its threads.
pub(in crate::http::platform) async fn stop(app: &App, agent: AgentId) -> Result<(), Rejection> {
    cancel_runs(app, agent).await?;
    // And the request of the agent's own thread.
    cancel(app, agent, ThreadFilter::Any).await?;
    let mut filter = ConversationFilter {
        agent_id: Some(agent),
        paging: Paging {
            limit: Some(PAGE_MAX),
            ..Paging::default()
        },
        ..ConversationFilter::default()
    };
    loop {
        let page = app.store.conversations(&filter).await?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        filter.paging.after = Some(last.id.to_string());
        for conversation in &page {
            if waits(app, conversation).await? {
                cancel(app, agent, ThreadFilter::Conversation(conversation.id)).await?;
            }
        }
    }
}

/// Whether a conversation waits for an approval.
async fn waits(app: &App, conversation: &Conversation) -> Result<bool, Rejection> {
    let Some(last) = conversation.in_context_message_ids.last() else {
        return Ok(false);
    };
    let message = app.store.message(last).await?;
    Ok(message.is_some_and(|message| message.is_approval_request()))
}

async fn cancel(app: &App, agent: AgentId, threads: ThreadFilter) -> Result<(), Rejection> {
    match app.engine.cancel(agent, threads, None).await {
        // A conversation was deleted meanwhile, and its request with it.
        Err(AgentError::NoConversation(_)) => Ok(()),
        Ok(_) | Err(AgentError::NothingToCancel(_)) => Ok(()),
        Err(error) => Err(rejected(error)),
    }
}

/// Cancels the runs of an agent that go on.
async fn cancel_runs(app: &App, agent: AgentId) -> Result<(), Rejection> {
    app.engine.cancel_runs(agent).await.map_err(rejected)
}

fn rejected(error: AgentError) -> Rejection {
    match Refusal::from(error) {
        Refusal::Native(rejection) => rejection,
        Refusal::Contract(_, body) => {
            let text = body["detail"].as_str().unwrap_or_default().to_owned();
            Rejection::with(&error::CONFLICT, text)
        }
    }
}
