//! A new instance: an agent made from a type.

use axum::{
    Json,
    extract::{Request, State},
    response::{IntoResponse as _, Response},
};
use bulkhead_access::Action;
use bulkhead_domain::{
    Timestamp,
    platform::{AgentType, Instance, Project, Standing, UserId},
};
use bulkhead_store::StoreError;
use http::StatusCode;
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use super::{model, read::InstanceView};
use crate::{
    agents::{body::CreateAgent, create},
    app::App,
    contract::Refusal,
    http::{
        AppState,
        error::{self, ErrorBody, Rejection},
        json::body,
        missing,
        platform::fields::Faults,
        query::Path,
        unbroken_contract,
    },
    platform::Caller,
};

/// A new agent of a project.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = AgentInstanceCreate)]
pub(crate) struct Spawn {
    agent_type_id: String,
    /// that of the path, where it is given
    project_id: Option<String>,
    name: String,
}

/// Makes an agent from a type.
#[utoipa::path(
    post,
    path = "/api/v1/projects/{project_id}/agents",
    operation_id = "spawn_project_agent",
    tag = "project agents",
    params(("project_id" = String, Path, description = "the project's id")),
    request_body = Spawn,
    responses(
        (status = CREATED, body = InstanceView, description = "the agent"),
        (status = NOT_FOUND, body = ErrorBody),
        (status = CONFLICT, body = ErrorBody),
        (status = UNPROCESSABLE_ENTITY, body = ErrorBody, description = "the type is not active"),
    )
)]
pub(crate) async fn spawn(
    State(app): State<AppState>,
    caller: Caller,
    Path(project_id): Path<String>,
    request: Request,
) -> Result<Response, Rejection> {
    let action = Action::SpawnInstance;
    let project = caller.project(&app, &project_id, action).await?;
    let new: Spawn = body(request).await?;
    let agent_type = check(&app, &project, &new).await?;
    let by = caller.user().unwrap_or(project.owner_id);
    let which = unbroken_contract(async move {
        make(&app, &project, &agent_type, new.name, by)
            .await
            .map(|id| (app, project, id))
    });
    let (app, project, id) = which.await.map_err(Refusal::into_native)?;
    let made = app.store.instance(project.id, id).await?;
    let made = made.ok_or_else(|| Rejection::new(&error::NOT_FOUND))?;
    Ok((StatusCode::CREATED, Json(InstanceView::from(made))).into_response())
}

/// The type, where an instance can be made from it.
async fn check(app: &App, project: &Project, new: &Spawn) -> Result<AgentType, Rejection> {
    let mut faults = Faults::default();
    faults.agent("name", &new.name);
    let other = new
        .project_id
        .as_ref()
        .is_some_and(|id| *id != project.id.to_string());
    if other {
        faults.add("project_id", "is another project than that of the path");
    }
    let found = match new.agent_type_id.parse() {
        Ok(id) => app.store.agent_type(id).await?,
        Err(_) => None,
    };
    let Some(found) = found else {
        faults.add("agent_type_id", "there is no such agent type");
        faults.check()?;
        return Err(Rejection::new(&error::INVALID_BODY));
    };
    faults.check()?;
    if found.is_active {
        Ok(found)
    } else {
        Err(inactive())
    }
}

/// Tools of MCP servers that one agent begins with. Models are offered all of them with every request,
/// and providers take as many functions.
const MCP_TOOLS_MAX: usize = 128;

/// The ids of the tools of MCP servers, which the type names: [`MCP_TOOLS_MAX`] at most.
async fn mcp_tools(app: &App, servers: &[String]) -> Result<Vec<String>, Refusal> {
    let mut tools = Vec::new();
    for name in servers {
        let found = app.store.mcp_server_by_name(name).await;
        let Some(server) = found.map_err(Rejection::from)? else {
            let text = format!(
                "the agent type names the MCP server {name}, and there is none; register it at \
                 /v1/mcp-servers"
            );
            return Err(Rejection::with(&error::INVALID_BODY, text).into());
        };
        let of_server = app.store.mcp_tools(&server.id).await;
        let of_server = of_server.map_err(Rejection::from)?;
        tools.extend(of_server.into_iter().map(|tool| tool.id));
    }
    if tools.len() > MCP_TOOLS_MAX {
        let text = format!(
            "the agent type's MCP servers have {} tools together, and an agent begins with \
             {MCP_TOOLS_MAX} of them at most; name fewer servers in the type",
            tools.len()
        );
        return Err(Rejection::with(&error::INVALID_BODY, text).into());
    }
    Ok(tools)
}

fn inactive() -> Rejection {
    Rejection::new(&error::AGENT_TYPE_INACTIVE)
}

async fn make(
    app: &App,
    project: &Project,
    agent_type: &AgentType,
    name: String,
    by: UserId,
) -> Result<bulkhead_domain::id::AgentId, Refusal> {
    let mut llm = match model::find(app, &agent_type.primary_model).await {
        Some(found) => found,
        None => model::unknown(&agent_type.primary_model),
    };
    // A type from before a parameter was checked: its agents are asked without it.
    if let Err((field, due)) = model::apply(&mut llm, &agent_type.model_params) {
        tracing::warn!(agent_type = %agent_type.id, field, due, "a parameter is left out");
    }
    let mut fallbacks = Vec::new();
    for name in &agent_type.fallback_models {
        let found = model::find(app, name).await;
        let found = found.unwrap_or_else(|| model::unknown(name));
        fallbacks.push(found.handle());
    }
    let body = json!({
        "name": name,
        "system": agent_type.personality_prompt,
        "description": agent_type.description,
        "llm_config": llm,
        "tool_ids": mcp_tools(app, &agent_type.mcp_servers).await?,
    });
    let body: CreateAgent =
        serde_json::from_value(body).map_err(|error| Rejection::host(&error))?;
    let mut new = create::prepare(app, body).await?;
    let now = new.agent.created_at;
    new.agent.created_by_id = Some(project.owner_id.to_string());
    new.agent.fallback_models = fallbacks;
    new.instance = Some(Instance {
        agent_id: new.agent.id,
        project_id: project.id,
        agent_type_id: agent_type.id,
        name: new.agent.name.clone(),
        created_by: by,
        standing: Standing::Active,
        created_at: now,
        updated_at: Timestamp::now(),
        terminated_at: None,
    });
    let created = app.store.create_agent(&new).await;
    created.map_err(|error| match error {
        // Somebody made it so a moment ago.
        StoreError::Invalid {
            what: "the agent type",
            ..
        } => inactive().into(),
        StoreError::NotFound { .. } => Rejection::from(error).into(),
        error => missing::stored(error),
    })?;
    Ok(new.agent.id)
}
