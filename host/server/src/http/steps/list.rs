//! Many steps.

use axum::{Json, extract::State};
use bulkhead_domain::{Timestamp, id::AgentId};
use bulkhead_store::StepFilter;

use super::view::StepView;
use crate::{
    contract::{
        Parameters, Refusal,
        document::Refusals,
        query::{ByCreation, FromQuery, Order, Page, Query},
    },
    http::{AppState, missing, scope},
};

/// Steps of one answer where the client names no number.
const LIMIT_DEFAULT: u32 = 50;

/// Which steps.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// of this agent
    agent_id: Option<String>,
    /// of this model
    model: Option<String>,
    /// not before
    #[param(value_type = Option<String>)]
    start_date: Option<Timestamp>,
    /// not after
    #[param(value_type = Option<String>)]
    end_date: Option<Timestamp>,
    /// with one of these traces
    trace_ids: Option<Vec<String>>,
    /// positive or negative
    feedback: Option<String>,
    /// only those with feedback, or only the others
    has_feedback: Option<bool>,
    /// with one of these tags
    tags: Option<Vec<String>>,
    /// of this project
    project_id: Option<String>,
}

/// Which steps, and which part of their list.
pub(crate) struct ListQuery {
    which: Which,
    page: Page,
}

impl FromQuery for ListQuery {
    fn from_query(query: &mut Query) -> Self {
        let feedback = [("positive", "positive"), ("negative", "negative")];
        let feedback = query.literal("feedback", &feedback);
        Self {
            which: Which {
                agent_id: query.text("agent_id"),
                model: query.text("model"),
                start_date: query.date("start_date"),
                end_date: query.date("end_date"),
                trace_ids: query.texts("trace_ids"),
                feedback: feedback.map(str::to_owned),
                has_feedback: query.boolean("has_feedback"),
                tags: query.texts("tags"),
                project_id: query.text("project_id"),
            },
            page: query.page_by_creation(LIMIT_DEFAULT, Order::Descending),
        }
    }
}

/// Steps, the newest first unless told otherwise.
#[utoipa::path(
    get,
    path = "/v1/steps/",
    operation_id = "list_steps",
    tag = "steps",
    params(Which, ByCreation, Page),
    responses((status = OK, body = Vec<StepView>, description = "the steps"), Refusals)
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    Parameters(ListQuery { which, page }): Parameters<ListQuery>,
) -> Result<Json<Vec<StepView>>, Refusal> {
    let agent_id = match which.agent_id.map(|id| id.parse::<AgentId>()) {
        None => None,
        Some(Ok(id)) => Some(id),
        // What is no id is that of no agent.
        Some(Err(_)) => return Ok(Json(Vec::new())),
    };
    let filter = StepFilter {
        agent_id,
        created_by: scope::only(),
        model: which.model,
        since: which.start_date,
        until: which.end_date,
        trace_ids: which.trace_ids,
        feedback: which.feedback,
        has_feedback: which.has_feedback,
        tags: which.tags,
        project_id: which.project_id,
        paging: page.into(),
        ..StepFilter::default()
    };
    let steps = app.store.steps(&filter).await.map_err(missing::stored)?;
    StepView::all(&app, steps).await.map(Json)
}
