//! Many runs.

use axum::{Json, extract::State};
use bulkhead_domain::{RunStatus, StopReason, id::AgentId};
use bulkhead_store::{PAGE_MAX, Paging, RunFilter, RunOrder, RunWork, StoreError, ThreadFilter};

use super::view::RunView;
use crate::{
    app::App,
    contract::{
        Parameters, Refusal,
        document::Refusals,
        query::{FromQuery, Page, Query},
        repr,
    },
    http::{AppState, agents::query::STOP_REASONS, messages::list::DEFAULT, missing, scope},
};

/// Runs of one answer where the client names no number.
const LIMIT_DEFAULT: u32 = 100;

/// Which runs.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// of this agent
    agent_id: Option<String>,
    /// of one of these agents
    agent_ids: Option<Vec<String>>,
    /// with one of these statuses
    statuses: Option<Vec<String>>,
    /// only those that go on when their client leaves, or only the others
    background: Option<bool>,
    /// that ended for this reason
    #[param(value_type = Option<String>)]
    stop_reason: Option<StopReason>,
    /// of this conversation
    conversation_id: Option<String>,
    /// only those that go on
    active: Option<bool>,
}

impl FromQuery for Which {
    fn from_query(query: &mut Query) -> Self {
        Self {
            agent_id: query.text("agent_id"),
            agent_ids: query.texts("agent_ids"),
            statuses: query.texts("statuses"),
            background: query.boolean("background"),
            stop_reason: query.variant("stop_reason", STOP_REASONS),
            conversation_id: query.text("conversation_id"),
            active: query.boolean("active"),
        }
    }
}

impl Which {
    /// The filter; none where no run can be meant, since what should be an id is none.
    fn filter(self) -> Result<Option<RunFilter>, Refusal> {
        let mut agents: Option<Vec<AgentId>> = None;
        for id in self.agent_id.iter().chain(self.agent_ids.iter().flatten()) {
            let agents = agents.get_or_insert_default();
            agents.extend(id.parse::<AgentId>());
        }
        let nobody = agents.as_ref().is_some_and(Vec::is_empty);
        let thread = match self.conversation_id.as_deref() {
            None => ThreadFilter::Any,
            Some(DEFAULT) => ThreadFilter::Default,
            Some(id) => match id.parse() {
                Ok(id) => ThreadFilter::Conversation(id),
                Err(_) => return Ok(None),
            },
        };
        let statuses = self.statuses.map(|names| {
            let statuses = names.iter().map(|name| status(name));
            statuses.collect::<Result<Vec<_>, _>>()
        });
        Ok((!nobody).then_some(RunFilter {
            agent_ids: agents,
            created_by: scope::only(),
            statuses: statuses.transpose()?,
            background: self.background,
            stop_reason: self.stop_reason,
            thread,
            active: self.active.unwrap_or(false),
            ..RunFilter::default()
        }))
    }
}

fn status(name: &str) -> Result<RunStatus, Refusal> {
    name.parse().map_err(|_| {
        let name = repr::repr(&name.into());
        Refusal::unprocessable(format!("{name} is not a valid RunStatus"))
    })
}

/// How a list of runs is ordered.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(
    dead_code,
    reason = "it stands for parameters in the document of the API"
)]
pub(crate) struct Ordering {
    /// created_at or duration; created_at where left out
    order_by: Option<String>,
    /// the older spelling of order, which counts more
    ascending: Option<bool>,
}

/// Which runs, and which part of their list.
pub(crate) struct ListQuery {
    which: Which,
    order_by: RunOrder,
    page: Page,
}

impl FromQuery for ListQuery {
    fn from_query(query: &mut Query) -> Self {
        let orders = [
            ("created_at", RunOrder::CreatedAt),
            ("duration", RunOrder::Duration),
        ];
        let default = query.older_order();
        Self {
            which: Which::from_query(query),
            order_by: query.literal("order_by", &orders).unwrap_or_default(),
            page: Page {
                before: query.text("before"),
                after: query.text("after"),
                limit: query.limit_within(LIMIT_DEFAULT, 1..=i64::from(PAGE_MAX)),
                order: query.order(default),
            },
        }
    }
}

/// Runs, the newest first unless told otherwise.
#[utoipa::path(
    get,
    path = "/v1/runs/",
    operation_id = "list_runs",
    tag = "runs",
    params(Which, Ordering, Page),
    responses((status = OK, body = Vec<RunView>, description = "the runs"), Refusals)
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    Parameters(query): Parameters<ListQuery>,
) -> Result<Json<Vec<RunView>>, Refusal> {
    listed(&app, query, RunWork::default()).await
}

/// The runs of a query that did this.
pub(super) async fn listed(
    app: &App,
    query: ListQuery,
    work: RunWork,
) -> Result<Json<Vec<RunView>>, Refusal> {
    let Some(mut filter) = query.which.filter()? else {
        return Ok(Json(Vec::new()));
    };
    filter.work = work;
    filter.order_by = query.order_by;
    filter.paging = query.page.into();
    let runs = app.store.runs(&filter).await.map_err(refused)?;
    Ok(Json(runs.into_iter().map(RunView::from).collect()))
}

fn refused(error: StoreError) -> Refusal {
    missing::stored(error)
}

/// Of whom.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Of {
    /// of this agent
    agent_id: Option<String>,
    /// only those that go on when their client leaves, or only the others
    background: Option<bool>,
}

impl FromQuery for Of {
    fn from_query(query: &mut Query) -> Self {
        Self {
            agent_id: query.text("agent_id"),
            background: query.boolean("background"),
        }
    }
}

/// The runs that go on.
#[utoipa::path(
    get,
    path = "/v1/runs/active",
    operation_id = "list_active_runs",
    tag = "runs",
    params(Of),
    responses((status = OK, body = Vec<RunView>, description = "the runs"), Refusals)
)]
pub(crate) async fn active(
    State(app): State<AppState>,
    Parameters(of): Parameters<Of>,
) -> Result<Json<Vec<RunView>>, Refusal> {
    let agents = match of.agent_id.map(|id| id.parse::<AgentId>()) {
        None => None,
        Some(Ok(id)) => Some(vec![id]),
        Some(Err(_)) => return Ok(Json(Vec::new())),
    };
    let filter = RunFilter {
        agent_ids: agents,
        created_by: scope::only(),
        background: of.background,
        active: true,
        paging: Paging {
            limit: Some(PAGE_MAX),
            ..Paging::default()
        },
        ..RunFilter::default()
    };
    let runs = app.store.runs(&filter).await.map_err(refused)?;
    Ok(Json(runs.into_iter().map(RunView::from).collect()))
}
