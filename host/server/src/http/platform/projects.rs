//! Projects.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Request, State},
    response::{IntoResponse as _, Response},
};
use bulkhead_access::{Action, Principal};
use bulkhead_domain::{
    Timestamp,
    id::AgentId,
    platform::{Project, Role},
};
use bulkhead_store::{ProjectFilter, StoreError};
use futures::{StreamExt as _, stream};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    auth::DoneView,
    fields::Faults,
    instances::control,
    page::{Page, page},
};
use crate::{
    app::App,
    http::{
        AppState,
        error::{self, ErrorBody, Rejection},
        json::body,
        query::{Params, Path},
        unbroken,
    },
    platform::Caller,
};

/// Agents of a deleted project that are stopped at once.
const STOPPED_AT_ONCE: usize = 16;

/// A project.
#[derive(Serialize, ToSchema)]
pub(crate) struct ProjectView {
    id: String,
    name: String,
    slug: String,
    owner_id: String,
    /// owner, member or viewer: what the caller is in it; null for superusers who are nothing in it
    role: Option<&'static str>,
    created_at: String,
    updated_at: String,
}

impl ProjectView {
    fn of(project: Project, role: Option<Role>) -> Self {
        Self {
            id: project.id.to_string(),
            name: project.name,
            slug: project.slug,
            owner_id: project.owner_id.to_string(),
            role: role.map(Role::as_str),
            created_at: project.created_at.to_string(),
            updated_at: project.updated_at.to_string(),
        }
    }

    /// As the caller sees it.
    async fn seen(app: &AppState, caller: &Caller, project: Project) -> Result<Self, Rejection> {
        let role = match caller.principal {
            Principal::User { id, .. } => app.store.role_in(project.id, id).await?,
            _ => None,
        };
        Ok(Self::of(project, role))
    }
}

/// A new project.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProjectCreate {
    name: String,
    /// small letters, digits and dashes; one's own other projects have others
    slug: String,
}

/// What changes of a project. What is left out stays.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProjectUpdate {
    name: Option<String>,
    slug: Option<String>,
}

/// Which projects.
#[derive(Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ProjectsQuery {
    /// with this somewhere in the name
    search: Option<String>,
    /// from 1; 1 where left out
    #[param(minimum = 1)]
    page: Option<u32>,
    /// entries of a page, 1 to 100; 20 where left out
    #[param(minimum = 1, maximum = 100)]
    page_size: Option<u32>,
}

/// Makes a project, which is the caller's.
#[utoipa::path(
    post,
    path = "/api/v1/projects",
    operation_id = "create_project",
    tag = "projects",
    request_body = ProjectCreate,
    responses(
        (status = CREATED, body = ProjectView, description = "the project"),
        (status = CONFLICT, body = ErrorBody, description = "the slug is another project's of the caller"),
    )
)]
pub(crate) async fn create(
    State(app): State<AppState>,
    caller: Caller,
    request: Request,
) -> Result<Response, Rejection> {
    let owner = caller.person(Action::CreateProject)?;
    let new: ProjectCreate = body(request).await?;
    check(&new.name, &new.slug)?;
    let project = Project::new(owner, new.name, new.slug);
    app.store.create_project(&project).await.map_err(taken)?;
    let view = ProjectView::of(project, Some(Role::Owner));
    Ok((StatusCode::CREATED, Json(view)).into_response())
}

/// The projects that the caller is in; all of them for superusers.
#[utoipa::path(
    get,
    path = "/api/v1/projects",
    operation_id = "list_projects",
    tag = "projects",
    params(ProjectsQuery),
    responses((status = OK, body = Page<ProjectView>, description = "a page of projects"))
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    caller: Caller,
    query: Result<Params<ProjectsQuery>, Rejection>,
) -> Result<Json<Page<ProjectView>>, Rejection> {
    caller.may(Action::ListProjects)?;
    let Params(query) = query?;
    let page = page(query.page, query.page_size)?;
    let (user_id, all) = match caller.principal {
        Principal::User { id, is_superuser } => (Some(id), is_superuser),
        _ => (None, true),
    };
    let filter = ProjectFilter {
        user_id,
        all,
        search: query.search,
        page,
    };
    let (projects, total) = app.store.list_projects(&filter).await?;
    let projects = projects
        .into_iter()
        .map(|(project, role)| ProjectView::of(project, role));
    Ok(Json(Page::new(projects.collect(), page, total)))
}

/// One project.
#[utoipa::path(
    get,
    path = "/api/v1/projects/{project_id}",
    operation_id = "get_project",
    tag = "projects",
    params(("project_id" = String, Path, description = "the project's id")),
    responses(
        (status = OK, body = ProjectView, description = "the project"),
        (status = NOT_FOUND, body = ErrorBody),
    )
)]
pub(crate) async fn get(
    State(app): State<AppState>,
    caller: Caller,
    Path(project_id): Path<String>,
) -> Result<Json<ProjectView>, Rejection> {
    let project = caller
        .project(&app, &project_id, Action::ReadProject)
        .await?;
    Ok(Json(ProjectView::seen(&app, &caller, project).await?))
}

/// Changes a project.
#[utoipa::path(
    patch,
    path = "/api/v1/projects/{project_id}",
    operation_id = "update_project",
    tag = "projects",
    params(("project_id" = String, Path, description = "the project's id")),
    request_body = ProjectUpdate,
    responses(
        (status = OK, body = ProjectView, description = "the project"),
        (status = NOT_FOUND, body = ErrorBody),
        (status = CONFLICT, body = ErrorBody, description = "the slug is another project's of the owner"),
    )
)]
pub(crate) async fn update(
    State(app): State<AppState>,
    caller: Caller,
    Path(project_id): Path<String>,
    request: Request,
) -> Result<Json<ProjectView>, Rejection> {
    let project = caller
        .project(&app, &project_id, Action::UpdateProject)
        .await?;
    let change: ProjectUpdate = body(request).await?;
    check(
        change.name.as_deref().unwrap_or(&project.name),
        change.slug.as_deref().unwrap_or(&project.slug),
    )?;
    let edit = |project: &mut Project| {
        project.name = change.name.unwrap_or(std::mem::take(&mut project.name));
        project.slug = change.slug.unwrap_or(std::mem::take(&mut project.slug));
        Ok::<_, StoreError>(())
    };
    let changed = app.store.update_project(project.id, edit).await;
    let changed = changed.map_err(taken)?;
    Ok(Json(ProjectView::seen(&app, &caller, changed).await?))
}

/// Deletes a project. Its instances are terminated; what they did is kept.
#[utoipa::path(
    delete,
    path = "/api/v1/projects/{project_id}",
    operation_id = "delete_project",
    tag = "projects",
    params(("project_id" = String, Path, description = "the project's id")),
    responses(
        (status = OK, body = DoneView, description = "it is deleted"),
        (status = NOT_FOUND, body = ErrorBody),
    )
)]
pub(crate) async fn delete(
    State(app): State<AppState>,
    caller: Caller,
    Path(project_id): Path<String>,
) -> Result<Json<DoneView>, Rejection> {
    let found = caller
        .project(&app, &project_id, Action::DeleteProject)
        .await;
    let own = Arc::clone(&app);
    let project = match found {
        Ok(project) => project,
        Err(rejection) => {
            // It may have been deleted by a request that failed before all of it had ended.
            let agents = deleted(&app, &caller, &project_id).await?;
            unbroken(async move { stop_all(&own, agents).await }).await?;
            return Err(rejection);
        }
    };
    unbroken(async move {
        let ended = own.store.delete_project(project.id, Timestamp::now());
        stop_all(&own, ended.await?).await
    })
    .await?;
    Ok(Json(DoneView {
        message: "the project is deleted, and its agents are terminated",
    }))
}

/// The agents of a deleted project which the caller may have deleted.
async fn deleted(app: &App, caller: &Caller, project_id: &str) -> Result<Vec<AgentId>, Rejection> {
    let owner = match caller.principal {
        Principal::Anonymous => return Ok(Vec::new()),
        Principal::User { id, is_superuser } if !is_superuser => Some(id),
        _ => None,
    };
    match project_id.parse() {
        Ok(id) => Ok(app.store.agents_of_deleted(id, owner).await?),
        Err(_) => Ok(Vec::new()),
    }
}

/// Stops all that these agents do, which are terminated.
async fn stop_all(app: &AppState, agents: Vec<AgentId>) -> Result<(), Rejection> {
    let stops = agents.into_iter().map(|agent| {
        let app = Arc::clone(app);
        async move { (agent, control::stop(&app, agent).await) }
    });
    let mut stopped = stream::iter(stops).buffer_unordered(STOPPED_AT_ONCE);
    let mut failed = None;
    while let Some((agent, result)) = stopped.next().await {
        if let Err(rejection) = result {
            // It takes nothing new, and its runs find out by themselves.
            tracing::warn!(%agent, ?rejection, "a terminated agent could not be stopped");
            failed.get_or_insert(rejection);
        }
    }
    failed.map_or(Ok(()), Err)
}

fn check(name: &str, slug: &str) -> Result<(), Rejection> {
    let mut faults = Faults::default();
    faults.name("name", name);
    faults.slug("slug", slug);
    faults.check()
}

fn taken(error: StoreError) -> Rejection {
    match error {
        StoreError::NameTaken { name, .. } => {
            let text = format!("the owner has a project with the slug {name} already");
            Rejection::with(&error::SLUG_TAKEN, text)
        }
        error => error.into(),
    }
}
