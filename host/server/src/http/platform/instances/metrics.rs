//! What agents of projects did and cost, summed from what is recorded of their steps.

use std::collections::BTreeMap;

use axum::{Json, extract::State};
use bulkhead_access::Action;
use bulkhead_domain::platform::InstanceStatus;
use bulkhead_store::{AgentUsage, UsageOf};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    http::{
        AppState,
        error::{ErrorBody, Rejection},
        query::Path,
    },
    platform::{
        Caller,
        prices::{Prices, Tokens},
    },
};

/// What agents did.
#[derive(Serialize, ToSchema)]
#[schema(as = AgentInstanceMetrics)]
pub(crate) struct MetricsView {
    total_instances: u64,
    /// that work or wait for an approval
    active_instances: u64,
    idle_instances: u64,
    /// runs that ended as they should
    total_tasks_completed: u64,
    /// sent and answered
    total_tokens_used: u64,
    prompt_tokens: u64,
    completion_tokens: u64,
    /// in the currency of the operator's prices
    total_cost_incurred: f64,
    /// models whose price nobody set; what they cost is not in the sum
    unpriced_models: Vec<String>,
    /// of calls of tools
    total_fuel_consumed: u64,
    models: Vec<ModelView>,
}

/// What one model was asked.
#[derive(Serialize, ToSchema)]
#[schema(as = ModelUsage)]
pub(crate) struct ModelView {
    /// `provider/model`
    model: String,
    /// questions that it was asked, those for summaries among them
    steps: u64,
    prompt_tokens: u64,
    completion_tokens: u64,
    /// null where its price is not set
    cost: Option<f64>,
}

/// How many do what.
#[derive(Default)]
struct Counts {
    total: u64,
    active: u64,
    idle: u64,
}

/// What an agent did and cost.
#[utoipa::path(
    get,
    path = "/api/v1/projects/{project_id}/agents/{agent_id}/metrics",
    operation_id = "get_project_agent_metrics",
    tag = "project agents",
    params(
        ("project_id" = String, Path, description = "the project's id"),
        ("agent_id" = String, Path, description = "the agent's id")
    ),
    responses(
        (status = OK, body = MetricsView, description = "the sums"),
        (status = NOT_FOUND, body = ErrorBody),
    )
)]
pub(crate) async fn of_instance(
    State(app): State<AppState>,
    caller: Caller,
    Path((project_id, agent_id)): Path<(String, String)>,
) -> Result<Json<MetricsView>, Rejection> {
    let (_, found) = caller
        .instance(&app, &project_id, &agent_id, Action::ReadMetrics)
        .await?;
    let agents = [found.instance.agent_id];
    let usage = app.store.usage_of_agents(UsageOf::Agents(&agents)).await?;
    let counts = Counts::of([(found.facts.status(), 1)]);
    Ok(Json(MetricsView::new(
        &counts,
        &usage,
        &app.platform.prices,
    )))
}

/// What all agents of a project did and cost, terminated ones too.
#[utoipa::path(
    get,
    path = "/api/v1/projects/{project_id}/metrics",
    operation_id = "get_project_metrics",
    tag = "projects",
    params(("project_id" = String, Path, description = "the project's id")),
    responses(
        (status = OK, body = MetricsView, description = "the sums"),
        (status = NOT_FOUND, body = ErrorBody),
    )
)]
pub(crate) async fn of_project(
    State(app): State<AppState>,
    caller: Caller,
    Path(project_id): Path<String>,
) -> Result<Json<MetricsView>, Rejection> {
    let project = caller
        .project(&app, &project_id, Action::ReadMetrics)
        .await?;
    let usage = app
        .store
        .usage_of_agents(UsageOf::Project(project.id))
        .await?;
    let counts = Counts::of(app.store.instance_counts(project.id).await?);
    Ok(Json(MetricsView::new(
        &counts,
        &usage,
        &app.platform.prices,
    )))
}

impl Counts {
    fn of(statuses: impl IntoIterator<Item = (InstanceStatus, u64)>) -> Self {
        let mut counts = Self::default();
        for (status, number) in statuses {
            counts.total += number;
            match status {
                InstanceStatus::Working | InstanceStatus::Waiting => counts.active += number,
                InstanceStatus::Idle => counts.idle += number,
                _ => {}
            }
        }
        counts
    }
}

impl MetricsView {
    fn new(counts: &Counts, usage: &[AgentUsage], prices: &Prices) -> Self {
        let mut models: BTreeMap<String, (u64, Tokens)> = BTreeMap::new();
        for used in usage.iter().flat_map(|agent| &agent.models) {
            let name = used.model_handle.as_ref().or(used.model.as_ref());
            let name = name.cloned().unwrap_or_else(|| "unknown".to_owned());
            let (steps, tokens) = models.entry(name).or_default();
            let number = |tokens: i64| u64::try_from(tokens).unwrap_or(0);
            *steps += used.steps;
            tokens.prompt += number(used.usage.prompt_tokens);
            tokens.completion += number(used.usage.completion_tokens);
            tokens.cached += number(used.usage.cached_input_tokens.unwrap_or(0));
            tokens.cache_write += number(used.usage.cache_write_tokens.unwrap_or(0));
        }
        let models = models
            .into_iter()
            .map(|(model, (steps, tokens))| ModelView {
                cost: prices.cost(&model, tokens),
                model,
                steps,
                prompt_tokens: tokens.prompt,
                completion_tokens: tokens.completion,
            });
        let models: Vec<_> = models.collect();
        let sum = |of: fn(&ModelView) -> u64| models.iter().map(of).sum::<u64>();
        let (prompt, completion) = (
            sum(|model| model.prompt_tokens),
            sum(|model| model.completion_tokens),
        );
        let unpriced = models.iter().filter(|model| model.cost.is_none());
        Self {
            total_instances: counts.total,
            active_instances: counts.active,
            idle_instances: counts.idle,
            total_tasks_completed: usage.iter().map(|agent| agent.runs_completed).sum(),
            total_tokens_used: prompt + completion,
            prompt_tokens: prompt,
            completion_tokens: completion,
            // The sum of nothing is -0.0.
            total_cost_incurred: 0.0 + models.iter().filter_map(|model| model.cost).sum::<f64>(),
            unpriced_models: unpriced.map(|model| model.model.clone()).collect(),
            total_fuel_consumed: usage.iter().map(|agent| agent.fuel).sum(),
            models,
        }
    }
}
