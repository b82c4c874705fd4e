//! Instances as people see them.

use axum::{Json, extract::State};
use bulkhead_access::Action;
use bulkhead_domain::platform::{AgentTypeId, Standing};
use bulkhead_store::{InstanceFilter, InstanceRecord};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    http::{
        AppState,
        error::{ErrorBody, Rejection},
        platform::page::{Page, page},
        query::{Params, Path, parse_optional},
    },
    platform::Caller,
};

/// An agent of a project.
#[derive(Serialize, ToSchema)]
#[schema(as = AgentInstance)]
pub(crate) struct InstanceView {
    /// of the agent, which `/v1/agents` has too
    id: String,
    name: String,
    /// idle, working, waiting (for an approval), paused, error or terminated
    status: &'static str,
    project_id: String,
    agent_type_id: String,
    created_by: String,
    created_at: String,
    updated_at: String,
    terminated_at: Option<String>,
}

impl From<InstanceRecord> for InstanceView {
    fn from(record: InstanceRecord) -> Self {
        let InstanceRecord { instance, facts } = record;
        Self {
            id: instance.agent_id.to_string(),
            name: instance.name,
            status: facts.status().as_str(),
            project_id: instance.project_id.to_string(),
            agent_type_id: instance.agent_type_id.to_string(),
            created_by: instance.created_by.to_string(),
            created_at: instance.created_at.to_string(),
            updated_at: instance.updated_at.to_string(),
            terminated_at: instance.terminated_at.map(|at| at.to_string()),
        }
    }
}

/// Which agents.
#[derive(Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct InstancesQuery {
    /// active, paused or terminated
    standing: Option<String>,
    /// made from this type
    agent_type_id: Option<String>,
    /// from 1; 1 where left out
    #[param(minimum = 1)]
    page: Option<u32>,
    /// entries of a page, 1 to 100; 20 where left out
    #[param(minimum = 1, maximum = 100)]
    page_size: Option<u32>,
}

/// The agents of a project, terminated ones too.
#[utoipa::path(
    get,
    path = "/api/v1/projects/{project_id}/agents",
    operation_id = "list_project_agents",
    tag = "project agents",
    params(("project_id" = String, Path, description = "the project's id"), InstancesQuery),
    responses(
        (status = OK, body = Page<InstanceView>, description = "a page of agents"),
        (status = NOT_FOUND, body = ErrorBody),
    )
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    caller: Caller,
    Path(project_id): Path<String>,
    query: Result<Params<InstancesQuery>, Rejection>,
) -> Result<Json<Page<InstanceView>>, Rejection> {
    let project = caller
        .project(&app, &project_id, Action::ReadInstance)
        .await?;
    let Params(query) = query?;
    let page = page(query.page, query.page_size)?;
    let filter = InstanceFilter {
        standing: parse_optional::<Standing>("standing", query.standing.as_deref())?,
        agent_type_id: parse_optional::<AgentTypeId>(
            "agent_type_id",
            query.agent_type_id.as_deref(),
        )?,
        page,
        ..InstanceFilter::of(project.id)
    };
    let (instances, total) = app.store.list_instances(&filter).await?;
    let instances = instances.into_iter().map(InstanceView::from).collect();
    Ok(Json(Page::new(instances, page, total)))
}

/// One agent of a project.
#[utoipa::path(
    get,
    path = "/api/v1/projects/{project_id}/agents/{agent_id}",
    operation_id = "get_project_agent",
    tag = "project agents",
    params(
        ("project_id" = String, Path, description = "the project's id"),
        ("agent_id" = String, Path, description = "the agent's id")
    ),
    responses(
        (status = OK, body = InstanceView, description = "the agent"),
        (status = NOT_FOUND, body = ErrorBody),
    )
)]
pub(crate) async fn get(
    State(app): State<AppState>,
    caller: Caller,
    Path((project_id, agent_id)): Path<(String, String)>,
) -> Result<Json<InstanceView>, Rejection> {
    let (_, found) = caller
        .instance(&app, &project_id, &agent_id, Action::ReadInstance)
        .await?;
    Ok(Json(found.into()))
}
