//! The runs of an instance, as `/v1` shows them.

use axum::{Json, extract::State, response::Response};
use bulkhead_access::Action;
use bulkhead_domain::{id::AgentId, platform::Project};
use bulkhead_store::RunFilter;

use crate::{
    app::App,
    contract::{
        OptionalBody, Parameters, Refusal,
        document::Refusals,
        query::{FromQuery, Order, Page, Query},
    },
    http::{
        AppState,
        holder::{self, Right},
        missing,
        query::Path,
        runs::{
            find,
            stream::{self, RetrieveStream},
            view::RunView,
        },
    },
    platform::Caller,
};

/// Runs of one answer where the client names no number.
const LIMIT_DEFAULT: u32 = 100;

/// A page of runs, the newest first unless told otherwise.
pub(crate) struct Newest(Page);

impl FromQuery for Newest {
    fn from_query(query: &mut Query) -> Self {
        Self(query.page(LIMIT_DEFAULT, Order::Descending))
    }
}

/// Runs of an agent, the newest first unless told otherwise.
#[utoipa::path(
    get,
    path = "/api/v1/projects/{project_id}/agents/{agent_id}/runs",
    operation_id = "list_project_agent_runs",
    tag = "project agents",
    params(
        ("project_id" = String, Path, description = "the project's id"),
        ("agent_id" = String, Path, description = "the agent's id"),
        Page
    ),
    responses((status = OK, body = Vec<RunView>, description = "the runs"), Refusals)
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    caller: Caller,
    Path((project_id, agent_id)): Path<(String, String)>,
    query: Result<Parameters<Newest>, Refusal>,
) -> Result<Json<Vec<RunView>>, Refusal> {
    let (project, found) = caller
        .instance(&app, &project_id, &agent_id, Action::ReadInstance)
        .await?;
    let Parameters(Newest(page)) = query?;
    let agent = found.instance.agent_id;
    for cursor in page.after.iter().chain(&page.before) {
        expect_none_of_others(&app, agent, cursor).await?;
    }
    let filter = RunFilter {
        agent_ids: Some(vec![agent]),
        paging: page.into(),
        ..RunFilter::default()
    };
    let runs = app.store.runs(&filter).await.map_err(missing::stored)?;
    let views = runs.into_iter().map(RunView::from);
    if sends(&app, &caller, &project).await? {
        return Ok(Json(views.collect()));
    }
    Ok(Json(views.map(RunView::without_receiver).collect()))
}

/// One run of an agent.
#[utoipa::path(
    get,
    path = "/api/v1/projects/{project_id}/agents/{agent_id}/runs/{run_id}",
    operation_id = "get_project_agent_run",
    tag = "project agents",
    params(
        ("project_id" = String, Path, description = "the project's id"),
        ("agent_id" = String, Path, description = "the agent's id"),
        ("run_id" = String, Path, description = "the run's id")
    ),
    responses((status = OK, body = RunView, description = "the run"), Refusals)
)]
pub(crate) async fn get(
    State(app): State<AppState>,
    caller: Caller,
    Path((project_id, agent_id, run_id)): Path<(String, String, String)>,
) -> Result<Json<RunView>, Refusal> {
    let (project, found) = caller
        .instance(&app, &project_id, &agent_id, Action::ReadInstance)
        .await?;
    let run = of(&app, found.instance.agent_id, &run_id).await?;
    let view = RunView::from(run);
    Ok(Json(match sends(&app, &caller, &project).await? {
        true => view,
        false => view.without_receiver(),
    }))
}

/// Whether the caller, who sees the agents of a project, may send them messages.
async fn sends(app: &App, caller: &Caller, project: &Project) -> Result<bool, Refusal> {
    Ok(caller
        .may_in(app, project.id, Action::MessageInstance)
        .await?)
}

/// Answers with the events of a run in the background: those that were, and those that come.
#[utoipa::path(
    post,
    path = "/api/v1/projects/{project_id}/agents/{agent_id}/runs/{run_id}/stream",
    operation_id = "stream_project_agent_run",
    tag = "project agents",
    params(
        ("project_id" = String, Path, description = "the project's id"),
        ("agent_id" = String, Path, description = "the agent's id"),
        ("run_id" = String, Path, description = "the run's id")
    ),
    request_body = Option<RetrieveStream>,
    responses((status = OK, body = String, content_type = "text/event-stream", description = "the run's events"), Refusals)
)]
pub(crate) async fn stream(
    State(app): State<AppState>,
    caller: Caller,
    Path((project_id, agent_id, run_id)): Path<(String, String, String)>,
    body: Result<OptionalBody<RetrieveStream>, Refusal>,
) -> Result<Response, Refusal> {
    let (project, found) = caller
        .instance(&app, &project_id, &agent_id, Action::ReadInstance)
        .await?;
    of(&app, found.instance.agent_id, &run_id).await?;
    let events = stream::of_run(State(app), Path(run_id), body?).await?;
    let right = Right::InProject(project.id, Action::ReadInstance);
    Ok(holder::of_right(events, right))
}

/// Refuses a cursor that is a run of another agent, as one that is not there.
async fn expect_none_of_others(app: &App, agent: AgentId, cursor: &str) -> Result<(), Refusal> {
    let Ok(id) = cursor.parse() else {
        return Ok(());
    };
    match app.store.run(&id).await? {
        Some(run) if run.agent_id != agent => Err(missing::object("Run", cursor)),
        _ => Ok(()),
    }
}

/// A run of this agent; that of another one is not there.
async fn of(app: &App, agent: AgentId, run_id: &str) -> Result<bulkhead_domain::Run, Refusal> {
    let run = find::run(app, run_id).await?;
    if run.agent_id == agent {
        Ok(run)
    } else {
        Err(missing::object("Run", run_id))
    }
}
