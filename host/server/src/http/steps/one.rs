//! One step, and what belongs to it.

use axum::{Json, extract::State};
use bulkhead_domain::{Step, id::StepId};
use bulkhead_store::MessageFilter;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::view::{CallReceipt, StepView};
use crate::{
    app::App,
    contract::{
        Body, Parameters, Refusal,
        body::Schema,
        document::Refusals,
        id::{self, DEFAULT_ORGANIZATION},
        query::{ByCreation, Page},
    },
    http::{
        AppState,
        messages::view::View,
        missing,
        query::Path,
        runs::one::{Oldest, filter},
        unbroken_contract,
    },
};

async fn find(app: &App, step_id: &str) -> Result<Step, Refusal> {
    let id: StepId = id::parse("step_id", step_id)?;
    let step = app.store.step(&id).await?;
    step.ok_or_else(|| missing::object("Step", id))
}

/// One step.
#[utoipa::path(
    get,
    path = "/v1/steps/{step_id}",
    operation_id = "retrieve_step",
    tag = "steps",
    params(("step_id" = String, Path, description = "the step's id")),
    responses((status = OK, body = StepView, description = "the step"), Refusals)
)]
pub(crate) async fn get(
    State(app): State<AppState>,
    Path(step_id): Path<String>,
) -> Result<Json<StepView>, Refusal> {
    let step = find(&app, &step_id).await?;
    StepView::of(&app, step).await.map(Json)
}

/// The messages of a step, the oldest first.
#[utoipa::path(
    get,
    path = "/v1/steps/{step_id}/messages",
    operation_id = "list_messages_for_step",
    tag = "steps",
    params(("step_id" = String, Path, description = "the step's id"), ByCreation, Page),
    responses((status = OK, body = Vec<Object>, description = "messages"), Refusals)
)]
pub(crate) async fn messages(
    State(app): State<AppState>,
    Path(step_id): Path<String>,
    Parameters(Oldest(page)): Parameters<Oldest>,
) -> Result<Json<Vec<Value>>, Refusal> {
    let step = find(&app, &step_id).await?;
    let filter = MessageFilter {
        step_id: Some(step.id),
        ..filter(&page)?
    };
    let messages = app.store.messages(&filter).await.map_err(missing::stored)?;
    Ok(Json(View::default().all(&messages)))
}

/// What each tool call of a step consumed and touched.
#[utoipa::path(
    get,
    path = "/v1/steps/{step_id}/receipts",
    operation_id = "list_receipts_for_step",
    tag = "steps",
    params(("step_id" = String, Path, description = "the step's id")),
    responses((status = OK, body = Vec<CallReceipt>, description = "a receipt for each call that ran"), Refusals)
)]
pub(crate) async fn receipts(
    State(app): State<AppState>,
    Path(step_id): Path<String>,
) -> Result<Json<Vec<CallReceipt>>, Refusal> {
    let step = find(&app, &step_id).await?;
    let receipts = app.store.receipts_of_step(&step.id).await?;
    Ok(Json(receipts.into_iter().map(CallReceipt::from).collect()))
}

/// How long the parts of a step took.
#[utoipa::path(
    get,
    path = "/v1/steps/{step_id}/metrics",
    operation_id = "retrieve_metrics_for_step",
    tag = "steps",
    params(("step_id" = String, Path, description = "the step's id")),
    responses((status = OK, body = Object, description = "nanoseconds"), Refusals)
)]
pub(crate) async fn metrics(
    State(app): State<AppState>,
    Path(step_id): Path<String>,
) -> Result<Json<Value>, Refusal> {
    let step = find(&app, &step_id).await?;
    let metrics = step.metrics;
    Ok(Json(json!({
        "id": step.id,
        "organization_id": DEFAULT_ORGANIZATION,
        "provider_id": step.provider_id,
        "run_id": step.run_id,
        "agent_id": step.agent_id,
        "step_start_ns": metrics.step_start_ns,
        "llm_request_start_ns": metrics.llm_request_start_ns,
        "llm_request_ns": metrics.llm_request_ns,
        "tool_execution_ns": metrics.tool_execution_ns,
        "step_ns": metrics.step_ns,
        "base_template_id": null,
        "template_id": null,
        "project_id": step.project_id,
    })))
}

/// What the provider was sent and answered; null where nothing was kept.
#[utoipa::path(
    get,
    path = "/v1/steps/{step_id}/trace",
    operation_id = "retrieve_trace_for_step",
    tag = "steps",
    params(("step_id" = String, Path, description = "the step's id")),
    responses((status = OK, body = Option<Object>, description = "request and response"), Refusals)
)]
pub(crate) async fn trace(
    State(app): State<AppState>,
    Path(step_id): Path<String>,
) -> Result<Json<Value>, Refusal> {
    let step = find(&app, &step_id).await?;
    traced(&app, step.id).await.map(Json)
}

/// As [`trace`], by its older name.
#[utoipa::path(
    get,
    path = "/v1/telemetry/{step_id}",
    operation_id = "retrieve_provider_trace",
    tag = "steps",
    params(("step_id" = String, Path, description = "the step's id")),
    responses((status = OK, body = Option<Object>, description = "request and response"), Refusals)
)]
pub(crate) async fn trace_older(
    app: State<AppState>,
    step_id: Path<String>,
) -> Result<Json<Value>, Refusal> {
    trace(app, step_id).await
}

async fn traced(app: &App, id: StepId) -> Result<Value, Refusal> {
    let Some(trace) = app.store.trace_of_step(&id).await? else {
        return Ok(Value::Null);
    };
    Ok(json!({
        "created_by_id": null,
        "last_updated_by_id": null,
        "created_at": trace.created_at,
        "updated_at": trace.created_at,
        "id": trace.id,
        "request_json": trace.request_json,
        "response_json": trace.response_json,
        "step_id": trace.step_id,
        "agent_id": trace.agent_id,
        "agent_tags": null,
        "call_type": trace.call_type,
        "run_id": trace.run_id,
        "source": null,
        "org_id": DEFAULT_ORGANIZATION,
        "user_id": id::DEFAULT_USER,
        "compaction_settings": null,
        "llm_config": null,
        "billing_context": null,
    }))
}

/// What a person says of a step.
#[derive(Deserialize, ToSchema)]
pub(crate) struct ModifyFeedbackRequest {
    /// positive, negative, or null to take it back
    feedback: Option<String>,
    /// words to find it by
    tags: Option<Vec<String>>,
}

impl Schema for ModifyFeedbackRequest {
    const NAME: &str = "ModifyFeedbackRequest";
}

/// Notes what a person says of a step.
#[utoipa::path(
    patch,
    path = "/v1/steps/{step_id}/feedback",
    operation_id = "modify_feedback_for_step",
    tag = "steps",
    params(("step_id" = String, Path, description = "the step's id")),
    request_body = ModifyFeedbackRequest,
    responses((status = OK, body = StepView, description = "the step"), Refusals)
)]
pub(crate) async fn feedback(
    State(app): State<AppState>,
    Path(step_id): Path<String>,
    Body(body): Body<ModifyFeedbackRequest>,
) -> Result<Json<StepView>, Refusal> {
    let id: StepId = id::parse("step_id", &step_id)?;
    let step = unbroken_contract(async move {
        let noted =
            app.store
                .set_step_feedback(&id, body.feedback.as_deref(), body.tags.as_deref());
        let step = noted.await.map_err(missing::stored)?;
        StepView::of(&app, step).await
    });
    step.await.map(Json)
}

/// Notes a client's own id of a step.
#[utoipa::path(
    patch,
    path = "/v1/steps/{step_id}/transaction/{transaction_id}",
    operation_id = "update_step_transaction_id",
    tag = "steps",
    params(
        ("step_id" = String, Path, description = "the step's id"),
        ("transaction_id" = String, Path, description = "the client's id"),
    ),
    responses((status = OK, body = StepView, description = "the step"), Refusals)
)]
pub(crate) async fn transaction(
    State(app): State<AppState>,
    Path((step_id, transaction_id)): Path<(String, String)>,
) -> Result<Json<StepView>, Refusal> {
    let id: StepId = id::parse("step_id", &step_id)?;
    let step = unbroken_contract(async move {
        let noted = app.store.set_step_transaction(&id, &transaction_id);
        let step = noted.await.map_err(missing::stored)?;
        StepView::of(&app, step).await
    });
    step.await.map(Json)
}
