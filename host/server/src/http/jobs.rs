//! `/v1/jobs`: runs, in the form in which older clients know everything that goes on.

use axum::{Json, extract::State};
use bulkhead_domain::{Run, RunStatus, StopReason, Timestamp, id::RunId};
use bulkhead_store::{PAGE_MAX, Paging, RunFilter};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::router::UtoipaMethodRouter;

use super::{
    AppState, agents::instance::expect_not_kept, missing, query::Path, routes::routes, scope,
    unbroken_contract,
};
use crate::{
    app::App,
    contract::{
        Parameters, Refusal,
        document::Refusals,
        id::DEFAULT_USER,
        query::{ByCreation, FromQuery, Order, Query},
    },
};

/// Jobs of one answer where the client names no number.
const LIMIT_DEFAULT: u32 = 100;
/// Of those that go on.
const ACTIVE_DEFAULT: u32 = 50;

/// The routes.
pub(crate) fn routes() -> Vec<UtoipaMethodRouter<AppState>> {
    vec![
        routes!(list),
        routes!(active),
        routes!(get, delete),
        routes!(cancel),
    ]
}

/// A job with every field of the contract.
#[derive(Serialize, ToSchema)]
#[schema(as = Job)]
pub(crate) struct JobView {
    /// a run's id
    id: String,
    created_by_id: Option<String>,
    last_updated_by_id: Option<String>,
    #[schema(value_type = String)]
    created_at: Timestamp,
    #[schema(value_type = Option<String>)]
    updated_at: Option<Timestamp>,
    /// created, running, completed, failed or cancelled
    #[schema(value_type = String)]
    status: RunStatus,
    #[schema(value_type = Option<String>)]
    completed_at: Option<Timestamp>,
    #[schema(value_type = Option<String>)]
    stop_reason: Option<StopReason>,
    #[schema(value_type = Option<Object>)]
    metadata: Option<Value>,
    /// always run
    job_type: &'static str,
    background: Option<bool>,
    agent_id: Option<String>,
    callback_url: Option<String>,
    #[schema(value_type = Option<String>)]
    callback_sent_at: Option<Timestamp>,
    callback_status_code: Option<i64>,
    callback_error: Option<String>,
    ttft_ns: Option<i64>,
    total_duration_ns: Option<i64>,
    user_id: Option<&'static str>,
}

impl From<Run> for JobView {
    fn from(run: Run) -> Self {
        Self {
            id: run.id.to_string(),
            created_by_id: None,
            last_updated_by_id: None,
            created_at: run.created_at,
            updated_at: run.completed_at,
            status: run.status,
            completed_at: run.completed_at,
            stop_reason: run.stop_reason,
            metadata: run.metadata,
            job_type: "run",
            background: Some(run.background),
            agent_id: Some(run.agent_id.to_string()),
            callback_url: run.callback_url,
            callback_sent_at: run.callback_sent_at,
            callback_status_code: run.callback_status_code,
            callback_error: run.callback_error,
            ttft_ns: run.ttft_ns,
            total_duration_ns: run.total_duration_ns,
            user_id: Some(DEFAULT_USER),
        }
    }
}

/// Which jobs, and which part of their list.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// of this source; no run is of one
    source_id: Option<String>,
    /// what comes before the entry with this id, in the order of the list
    before: Option<String>,
    /// what follows the entry with this id, in the order of the list
    after: Option<String>,
    /// how many entries, 100 unless told otherwise
    #[param(required = false)]
    limit: u32,
    /// asc or desc, desc unless told otherwise
    #[param(required = false, inline)]
    order: Order,
    /// only those that go on
    active: Option<bool>,
}

impl FromQuery for Which {
    fn from_query(query: &mut Query) -> Self {
        let default = query.older_order();
        // There is one order, and naming it changes nothing.
        query.literal("order_by", &[("created_at", ())]);
        Self {
            source_id: query.text("source_id"),
            before: query.text("before"),
            after: query.text("after"),
            limit: query.limit_within(LIMIT_DEFAULT, 1..=i64::from(PAGE_MAX)),
            order: query.order(default),
            active: query.boolean("active"),
        }
    }
}

/// Runs as jobs, the newest first unless told otherwise.
#[utoipa::path(
    get,
    path = "/v1/jobs/",
    operation_id = "list_jobs",
    tag = "runs",
    params(
        Which,
        ByCreation,
        ("ascending" = Option<bool>, Query, description = "the older way to say the order; order counts more"),
    ),
    responses((status = OK, body = Vec<JobView>, description = "the jobs"), Refusals)
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    Parameters(which): Parameters<Which>,
) -> Result<Json<Vec<JobView>>, Refusal> {
    let paging = Paging {
        ascending: which.order == Order::Ascending,
        after: which.after,
        before: which.before,
        limit: Some(which.limit),
    };
    let active = which.active.unwrap_or(false);
    found(&app, which.source_id.as_deref(), active, paging).await
}

/// Which of the jobs that go on.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct WhichActive {
    /// of this source; no run is of one
    source_id: Option<String>,
    /// what comes before the entry with this id, in the order of the list
    before: Option<String>,
    /// what follows the entry with this id, in the order of the list
    after: Option<String>,
    /// how many entries, 50 unless told otherwise
    #[param(required = false)]
    limit: u32,
    /// whether the oldest comes first, as it does unless told otherwise
    ascending: Option<bool>,
}

impl FromQuery for WhichActive {
    fn from_query(query: &mut Query) -> Self {
        Self {
            source_id: query.text("source_id"),
            before: query.text("before"),
            after: query.text("after"),
            limit: query.limit_within(ACTIVE_DEFAULT, 1..=i64::from(PAGE_MAX)),
            ascending: query.boolean("ascending"),
        }
    }
}

/// The runs that go on, as jobs.
#[utoipa::path(
    get,
    path = "/v1/jobs/active",
    operation_id = "list_active_jobs",
    tag = "runs",
    params(WhichActive),
    responses((status = OK, body = Vec<JobView>, description = "the jobs"), Refusals)
)]
pub(crate) async fn active(
    State(app): State<AppState>,
    Parameters(which): Parameters<WhichActive>,
) -> Result<Json<Vec<JobView>>, Refusal> {
    let paging = Paging {
        ascending: which.ascending.unwrap_or(true),
        after: which.after,
        before: which.before,
        limit: Some(which.limit),
    };
    found(&app, which.source_id.as_deref(), true, paging).await
}

async fn found(
    app: &App,
    source_id: Option<&str>,
    active: bool,
    paging: Paging,
) -> Result<Json<Vec<JobView>>, Refusal> {
    if source_id.is_some() {
        return Ok(Json(Vec::new()));
    }
    let filter = RunFilter {
        created_by: scope::only(),
        active,
        paging,
        ..RunFilter::default()
    };
    let runs = app.store.runs(&filter).await.map_err(missing::stored)?;
    Ok(Json(runs.into_iter().map(JobView::from).collect()))
}

/// The run that a path names. No job has an id of another form.
async fn run(app: &App, job_id: &str) -> Result<Run, Refusal> {
    let missing = || missing::object("Job", job_id);
    let id: RunId = job_id.parse().map_err(|_| missing())?;
    app.store.run(&id).await?.ok_or_else(missing)
}

/// One run as a job.
#[utoipa::path(
    get,
    path = "/v1/jobs/{job_id}",
    operation_id = "retrieve_job",
    tag = "runs",
    params(("job_id" = String, Path, description = "the run's id")),
    responses((status = OK, body = JobView, description = "the job"), Refusals)
)]
pub(crate) async fn get(
    State(app): State<AppState>,
    Path(job_id): Path<String>,
) -> Result<Json<JobView>, Refusal> {
    run(&app, &job_id).await.map(JobView::from).map(Json)
}

/// Deletes a run, which is cancelled first; its messages and steps stay. Gives it as it was.
#[utoipa::path(
    delete,
    path = "/v1/jobs/{job_id}",
    operation_id = "delete_job",
    tag = "runs",
    params(("job_id" = String, Path, description = "the run's id")),
    responses((status = OK, body = JobView, description = "the job"), Refusals)
)]
pub(crate) async fn delete(
    State(app): State<AppState>,
    Path(job_id): Path<String>,
) -> Result<Json<JobView>, Refusal> {
    let job = run(&app, &job_id).await?;
    expect_not_kept(&app, job.agent_id).await?;
    let id = job.id;
    let deleted = unbroken_contract(async move {
        app.engine.cancel_one(id, job.agent_id).await?;
        app.recordings.finished(&[id]).await;
        let last = app.store.run(&id).await?;
        let is_deleted = app.store.delete_run(&id).await?;
        Ok(last.filter(|_| is_deleted))
    });
    let job = deleted.await?.ok_or_else(|| missing::object("Job", id))?;
    Ok(Json(job.into()))
}

/// Cancels a run, and gives it as it is then. One that has ended stays as it is.
#[utoipa::path(
    patch,
    path = "/v1/jobs/{job_id}/cancel",
    operation_id = "cancel_job",
    tag = "runs",
    params(("job_id" = String, Path, description = "the run's id")),
    responses((status = OK, body = JobView, description = "the job"), Refusals)
)]
pub(crate) async fn cancel(
    State(app): State<AppState>,
    Path(job_id): Path<String>,
) -> Result<Json<JobView>, Refusal> {
    let job = run(&app, &job_id).await?;
    let id = job.id;
    let cancelled = unbroken_contract(async move {
        app.engine.cancel_one(id, job.agent_id).await?;
        app.recordings.finished(&[id]).await;
        Ok(app.store.run(&id).await?)
    });
    let job = cancelled.await?.ok_or_else(|| missing::object("Job", id))?;
    Ok(Json(job.into()))
}
