//! One run, and what belongs to it.

use axum::{Json, extract::State};
use bulkhead_store::{MessageFilter, StepFilter};
use http::StatusCode;
use serde_json::{Value, json};

use super::{find, view::RunView};
use crate::{
    contract::{
        Parameters, Refusal,
        document::Refusals,
        id::DEFAULT_ORGANIZATION,
        query::{ByCreation, FromQuery, Order, Page, Query},
    },
    http::{
        AppState,
        agents::instance::expect_not_kept,
        messages::{list::cursor, view::View},
        missing,
        query::Path,
        steps::view::StepView,
        unbroken_contract,
    },
};

/// Entries of one answer where the client names no number.
const LIMIT_DEFAULT: u32 = 100;

/// One run.
#[utoipa::path(
    get,
    path = "/v1/runs/{run_id}",
    operation_id = "retrieve_run",
    tag = "runs",
    params(("run_id" = String, Path, description = "the run's id")),
    responses((status = OK, body = RunView, description = "the run"), Refusals)
)]
pub(crate) async fn get(
    State(app): State<AppState>,
    Path(run_id): Path<String>,
) -> Result<Json<RunView>, Refusal> {
    find::run(&app, &run_id).await.map(RunView::from).map(Json)
}

/// Deletes a run, which is cancelled first; its messages and steps stay.
#[utoipa::path(
    delete,
    path = "/v1/runs/{run_id}",
    operation_id = "delete_run",
    tag = "runs",
    params(("run_id" = String, Path, description = "the run's id")),
    responses((status = OK, body = Option<Object>, description = "null"), Refusals)
)]
pub(crate) async fn delete(
    State(app): State<AppState>,
    Path(run_id): Path<String>,
) -> Result<Json<Value>, Refusal> {
    let id = find::id(&run_id)?;
    if let Some(run) = app.store.run(&id).await? {
        expect_not_kept(&app, run.agent_id).await?;
    }
    let deleted = unbroken_contract(async move {
        if let Some(run) = app.store.run(&id).await? {
            app.engine.cancel_one(id, run.agent_id).await?;
            app.recordings.finished(&[id]).await;
        }
        Ok(app.store.delete_run(&id).await?)
    });
    match deleted.await? {
        true => Ok(Json(Value::Null)),
        false => Err(missing::object("Run", id)),
    }
}

/// Which part of what belongs to a run, the oldest first unless told otherwise.
pub(crate) struct Oldest(pub(crate) Page);

impl FromQuery for Oldest {
    fn from_query(query: &mut Query) -> Self {
        Self(query.page_by_creation(LIMIT_DEFAULT, Order::Ascending))
    }
}

/// As [`Oldest`], the newest first.
pub(crate) struct Newest(Page);

impl FromQuery for Newest {
    fn from_query(query: &mut Query) -> Self {
        Self(query.page_by_creation(LIMIT_DEFAULT, Order::Descending))
    }
}

/// The messages of a run, the oldest first.
#[utoipa::path(
    get,
    path = "/v1/runs/{run_id}/messages",
    operation_id = "list_messages_for_run",
    tag = "runs",
    params(("run_id" = String, Path, description = "the run's id"), ByCreation, Page),
    responses((status = OK, body = Vec<Object>, description = "messages"), Refusals)
)]
pub(crate) async fn messages(
    State(app): State<AppState>,
    Path(run_id): Path<String>,
    Parameters(Oldest(page)): Parameters<Oldest>,
) -> Result<Json<Vec<Value>>, Refusal> {
    let run = find::run(&app, &run_id).await?;
    let filter = MessageFilter {
        run_id: Some(run.id),
        ..filter(&page)?
    };
    let messages = app.store.messages(&filter).await.map_err(missing::stored)?;
    Ok(Json(view(run.request_config.as_ref()).all(&messages)))
}

/// A part of a list of messages.
pub(crate) fn filter(page: &Page) -> Result<MessageFilter, Refusal> {
    let unknown = |id: &str| Refusal::not_found(format!("Message with id {id} not found."));
    Ok(MessageFilter {
        after: cursor(page.after.as_deref(), unknown)?,
        before: cursor(page.before.as_deref(), unknown)?,
        newest: !page.is_ascending(),
        limit: Some(page.limit),
        ..MessageFilter::default()
    })
}

/// How the request of the run wanted its messages shown.
fn view(config: Option<&Value>) -> View {
    let mut view = View::default();
    let Some(config) = config else { return view };
    if let Some(speaks) = config["use_assistant_message"].as_bool() {
        view.use_assistant_message = speaks;
    }
    for (field, key) in [
        (&mut view.tool_name, "assistant_message_tool_name"),
        (&mut view.tool_kwarg, "assistant_message_tool_kwarg"),
    ] {
        if let Some(text) = config[key].as_str() {
            text.clone_into(field);
        }
    }
    if let Some(types) = config["include_return_message_types"].as_array() {
        let types = types.iter().filter_map(Value::as_str);
        view.types = Some(types.map(str::to_owned).collect());
    }
    view
}

/// The steps of a run, the newest first unless told otherwise.
#[utoipa::path(
    get,
    path = "/v1/runs/{run_id}/steps",
    operation_id = "list_steps_for_run",
    tag = "runs",
    params(("run_id" = String, Path, description = "the run's id"), ByCreation, Page),
    responses((status = OK, body = Vec<StepView>, description = "the steps"), Refusals)
)]
pub(crate) async fn steps(
    State(app): State<AppState>,
    Path(run_id): Path<String>,
    Parameters(Newest(page)): Parameters<Newest>,
) -> Result<Json<Vec<StepView>>, Refusal> {
    let run = find::run(&app, &run_id).await?;
    let filter = StepFilter {
        run_id: Some(run.id),
        paging: page.into(),
        ..StepFilter::default()
    };
    let steps = app.store.steps(&filter).await.map_err(missing::stored)?;
    StepView::all(&app, steps).await.map(Json)
}

/// What a run cost.
#[utoipa::path(
    get,
    path = "/v1/runs/{run_id}/usage",
    operation_id = "retrieve_usage_for_run",
    tag = "runs",
    params(("run_id" = String, Path, description = "the run's id")),
    responses((status = OK, body = Object, description = "tokens of all steps"), Refusals)
)]
pub(crate) async fn usage(
    State(app): State<AppState>,
    Path(run_id): Path<String>,
) -> Result<Json<Value>, Refusal> {
    let id = find::id(&run_id)?;
    let usage = app.store.run_usage(&id).await?;
    let usage = usage.ok_or_else(|| missing::object("Run", id))?;
    Ok(Json(json!({
        "completion_tokens": usage.completion_tokens,
        "prompt_tokens": usage.prompt_tokens,
        "total_tokens": usage.total_tokens,
        "prompt_tokens_details": usage.cached_input_tokens.map(|cached| json!({
            "cached_tokens": cached,
            "cache_read_tokens": cached,
            "cache_creation_tokens": usage.cache_write_tokens.unwrap_or(0),
        })),
        "completion_tokens_details": usage
            .reasoning_tokens
            .map(|reasoning| json!({ "reasoning_tokens": reasoning })),
    })))
}

/// How long a run took and which tools it used.
#[utoipa::path(
    get,
    path = "/v1/runs/{run_id}/metrics",
    operation_id = "retrieve_metrics_for_run",
    tag = "runs",
    params(("run_id" = String, Path, description = "the run's id")),
    responses((status = OK, body = Object, description = "times, steps and ids of tools"), Refusals)
)]
pub(crate) async fn metrics(
    State(app): State<AppState>,
    Path(run_id): Path<String>,
) -> Result<Json<Value>, Refusal> {
    let id = find::id(&run_id)?;
    let metrics = app.store.run_metrics(&id).await?;
    let metrics = metrics.ok_or_else(|| missing::object("Run", id))?;
    let tools: Vec<&String> = metrics
        .tools_used
        .iter()
        .filter_map(|tool| tool.id.as_ref())
        .collect();
    Ok(Json(json!({
        "id": metrics.run_id,
        "organization_id": DEFAULT_ORGANIZATION,
        "agent_id": metrics.agent_id,
        "project_id": null,
        "run_start_ns": metrics.run_start_ns,
        "run_ns": metrics.run_ns,
        "num_steps": metrics.num_steps,
        "tools_used": tools,
        "template_id": null,
        "base_template_id": null,
    })))
}

/// Traces of whole runs are kept by a store that is not there.
pub(super) async fn trace() -> Refusal {
    Refusal::with(
        StatusCode::NOT_IMPLEMENTED,
        json!({ "detail":
            "OTEL traces require ClickHouse. This server keeps the requests to providers: see /v1/steps/{step_id}/trace" }),
    )
}
