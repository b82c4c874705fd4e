//! Runs by what they did, as the V1 API's own consoles ask for them.

use axum::{Json, extract::State};
use bulkhead_domain::{Timestamp, id::RunId};
use bulkhead_store::{Comparison, RunWork};

use super::{
    list::{ListQuery, Ordering, Which, listed},
    view::RunView,
};
use crate::{
    contract::{
        Parameters, Refusal,
        document::Refusals,
        query::{FromQuery, Page, Query},
    },
    http::AppState,
};

const OF_STEPS: &[(&str, Comparison)] = &[
    ("eq", Comparison::Equal),
    ("gte", Comparison::AtLeast),
    ("lte", Comparison::AtMost),
];
const OF_DURATIONS: &[(&str, Comparison)] = &[
    ("gt", Comparison::Greater),
    ("lt", Comparison::Less),
    ("eq", Comparison::Equal),
];

/// What runs did.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(
    dead_code,
    reason = "it stands for parameters in the document of the API"
)]
pub(crate) struct Work {
    /// this run alone
    run_id: Option<String>,
    /// of agents of this project
    project_id: Option<String>,
    /// of agents that were made from this base template
    template_family: Option<String>,
    /// with so many steps
    step_count: Option<i64>,
    /// how that compares: eq, gte or lte; eq where left out
    step_count_operator: Option<String>,
    /// with a result of one of these tools, by id or name
    tools_used: Option<Vec<String>>,
    /// not faster than so many percent of all runs that ended
    duration_percentile: Option<i64>,
    /// that took so many nanoseconds
    duration_value: Option<i64>,
    /// how that compares: gt, lt or eq; without it the duration does not matter
    duration_operator: Option<String>,
    /// made then or later
    #[param(value_type = Option<String>)]
    start_date: Option<Timestamp>,
    /// made then or earlier
    #[param(value_type = Option<String>)]
    end_date: Option<Timestamp>,
}

/// Which runs, and which part of their list.
pub(crate) struct WorkQuery {
    list: ListQuery,
    run_id: Option<String>,
    work: RunWork,
}

impl FromQuery for WorkQuery {
    fn from_query(query: &mut Query) -> Self {
        let any = i64::MIN..=i64::MAX;
        let of_steps = query.variant("step_count_operator", OF_STEPS);
        let of_steps = of_steps.unwrap_or(Comparison::Equal);
        let steps = query.integer("step_count", any.clone());
        let of_duration = query.literal("duration_operator", OF_DURATIONS);
        let duration = query.integer("duration_value", any);
        let percent = query.integer("duration_percentile", 0..=100);
        Self {
            list: ListQuery::from_query(query),
            run_id: query.text("run_id"),
            work: RunWork {
                run_id: None,
                project_id: query.text("project_id"),
                base_template_id: query.text("template_family"),
                steps: steps.map(|count| (of_steps, count)),
                tools: query.texts("tools_used"),
                duration_ns: of_duration.zip(duration),
                slower_than_percent: percent.and_then(|percent| u8::try_from(percent).ok()),
                since: query.date("start_date"),
                until: query.date("end_date"),
            },
        }
    }
}

/// Runs by what they did, the newest first unless told otherwise.
#[utoipa::path(
    get,
    path = "/v1/_internal_runs/",
    operation_id = "list_internal_runs",
    tag = "runs",
    params(Which, Work, Ordering, Page),
    responses((status = OK, body = Vec<RunView>, description = "the runs"), Refusals)
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    Parameters(query): Parameters<WorkQuery>,
) -> Result<Json<Vec<RunView>>, Refusal> {
    let WorkQuery {
        list,
        run_id,
        mut work,
    } = query;
    work.run_id = match run_id.map(|id| id.parse::<RunId>()) {
        None => None,
        Some(Ok(id)) => Some(id),
        // What should be an id and is none names no run.
        Some(Err(_)) => return Ok(Json(Vec::new())),
    };
    listed(&app, list, work).await
}
