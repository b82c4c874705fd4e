//! One group, many, and how many.

use axum::{Json, extract::State};
use bulkhead_domain::{Group, ManagerType, id::GroupId};
use bulkhead_store::GroupFilter;

use super::view::GroupView;
use crate::{
    app::App,
    contract::{
        Parameters, Refusal,
        document::Refusals,
        id,
        query::{ByCreation, FromQuery, Order, Page, Query},
    },
    http::{AppState, agents::find, missing, query::Path, scope},
};

/// Groups of one answer where the client names no number: of all, and of one agent.
const LIMIT_DEFAULT: u32 = 50;
const OF_AGENT_DEFAULT: u32 = 100;

const TYPES: &[(&str, ManagerType)] = &[
    ("round_robin", ManagerType::RoundRobin),
    ("supervisor", ManagerType::Supervisor),
    ("dynamic", ManagerType::Dynamic),
    ("sleeptime", ManagerType::Sleeptime),
    ("voice_sleeptime", ManagerType::VoiceSleeptime),
    ("swarm", ManagerType::Swarm),
];

/// Which groups.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// round_robin, supervisor, dynamic, sleeptime, voice_sleeptime or swarm
    #[param(value_type = Option<String>)]
    manager_type: Option<ManagerType>,
    /// of this project
    project_id: Option<String>,
}

/// Which groups, and which part of their list.
pub(crate) struct ListQuery {
    which: Which,
    page: Page,
}

impl FromQuery for ListQuery {
    fn from_query(query: &mut Query) -> Self {
        Self {
            which: Which {
                manager_type: query.variant("manager_type", TYPES),
                project_id: query.text("project_id"),
            },
            page: page(query, LIMIT_DEFAULT, Order::Ascending),
        }
    }
}

/// Which groups of an agent.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct OfAgent {
    /// round_robin, supervisor, dynamic, sleeptime, voice_sleeptime or swarm
    #[param(value_type = Option<String>)]
    manager_type: Option<ManagerType>,
}

/// Which groups of an agent, and which part of their list.
pub(crate) struct OfAgentQuery {
    which: OfAgent,
    page: Page,
}

impl FromQuery for OfAgentQuery {
    fn from_query(query: &mut Query) -> Self {
        Self {
            which: OfAgent {
                manager_type: query.variant("manager_type", TYPES),
            },
            page: page(query, OF_AGENT_DEFAULT, Order::Descending),
        }
    }
}

fn page(query: &mut Query, limit: u32, order: Order) -> Page {
    query.page_by_creation(limit, order)
}

/// Groups that are not hidden, the oldest first unless told otherwise.
#[utoipa::path(
    get,
    path = "/v1/groups/",
    operation_id = "list_groups",
    tag = "groups",
    params(Which, ByCreation, Page),
    responses((status = OK, body = Vec<GroupView>, description = "the groups"), Refusals)
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    Parameters(ListQuery { which, page }): Parameters<ListQuery>,
) -> Result<Json<Vec<GroupView>>, Refusal> {
    let filter = GroupFilter {
        manager_type: which.manager_type,
        project_id: which.project_id,
        created_by: scope::only(),
        paging: page.into(),
        ..GroupFilter::default()
    };
    listed(&app, &filter).await
}

/// The groups that an agent leads or is in, hidden ones too, the newest first unless told otherwise.
#[utoipa::path(
    get,
    path = "/v1/agents/{agent_id}/groups",
    operation_id = "list_agent_groups",
    tag = "agents",
    params(("agent_id" = String, Path, description = "the agent's id"), OfAgent, ByCreation, Page),
    responses((status = OK, body = Vec<GroupView>, description = "the groups"), Refusals)
)]
pub(crate) async fn of_agent(
    State(app): State<AppState>,
    Path(agent_id): Path<String>,
    Parameters(OfAgentQuery { which, page }): Parameters<OfAgentQuery>,
) -> Result<Json<Vec<GroupView>>, Refusal> {
    let agent = find::agent(&app, &agent_id).await?;
    let filter = GroupFilter {
        manager_type: which.manager_type,
        agent_id: Some(agent.id),
        show_hidden: true,
        created_by: scope::only(),
        paging: page.into(),
        ..GroupFilter::default()
    };
    listed(&app, &filter).await
}

async fn listed(app: &App, filter: &GroupFilter) -> Result<Json<Vec<GroupView>>, Refusal> {
    let groups = app.store.groups(filter).await.map_err(missing::stored)?;
    Ok(Json(groups.into_iter().map(GroupView::from).collect()))
}

/// How many groups there are that are not hidden.
#[utoipa::path(
    get,
    path = "/v1/groups/count",
    operation_id = "count_groups",
    tag = "groups",
    responses((status = OK, body = u64, content_type = "application/json", description = "how many"), Refusals)
)]
pub(crate) async fn count(State(app): State<AppState>) -> Result<Json<u64>, Refusal> {
    let filter = GroupFilter {
        created_by: scope::only(),
        ..GroupFilter::default()
    };
    Ok(Json(app.store.count_groups(&filter).await?))
}

/// One group.
#[utoipa::path(
    get,
    path = "/v1/groups/{group_id}",
    operation_id = "retrieve_group",
    tag = "groups",
    params(("group_id" = String, Path, description = "the group's id")),
    responses((status = OK, body = GroupView, description = "the group"), Refusals)
)]
pub(crate) async fn get(
    State(app): State<AppState>,
    Path(group_id): Path<String>,
) -> Result<Json<GroupView>, Refusal> {
    Ok(Json(find(&app, &group_id).await?.into()))
}

/// The group with this id of the path.
pub(super) async fn find(app: &App, group_id: &str) -> Result<Group, Refusal> {
    let id: GroupId = id::parse("group_id", group_id)?;
    let group = app.store.group(&id).await?;
    group.ok_or_else(|| missing::object("Group", id))
}
