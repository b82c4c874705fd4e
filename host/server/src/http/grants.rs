//! Grants: what a person allows a component. The only way by which a tool gets a capability.

use axum::{extract::State, response::Response};
use bulkhead_domain::{Problem, Timestamp, id::GrantId};
use bulkhead_policy::Capabilities;
use bulkhead_store::{Grant, GrantFilter};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::{
    AppState,
    components::Message,
    error::{self, ErrorBody, Rejection},
    json::{self, Json},
    query::{Params, Path, parse, parse_optional},
    schema, unbroken,
};
use crate::{LimitsPatch, registry};

/// A grant to give.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewGrant {
    /// The name of the component; it holds for every version that is activated.
    component: String,
    /// The tool that it holds for; all of them where left out.
    tool: Option<String>,
    /// What is allowed, of what the tool wishes for.
    #[schema(value_type = schema::Capabilities)]
    capabilities: Capabilities,
    /// Limits of calls, in the place of the defaults.
    limits: Option<LimitsPatch>,
    /// Why, in a person's words.
    note: Option<String>,
    /// From when on it no longer holds (RFC 3339).
    #[schema(value_type = Option<String>)]
    expires_at: Option<Timestamp>,
}

/// A grant that was given.
#[derive(Serialize, ToSchema)]
#[schema(as = Grant)]
pub(crate) struct GrantView {
    /// `grant-<uuid>`.
    #[schema(value_type = String)]
    id: GrantId,
    component: String,
    tool: Option<String>,
    #[schema(value_type = schema::Capabilities)]
    capabilities: Value,
    #[schema(value_type = Option<LimitsPatch>)]
    limits: Option<Value>,
    note: Option<String>,
    #[schema(value_type = String)]
    created_at: Timestamp,
    #[schema(value_type = Option<String>)]
    expires_at: Option<Timestamp>,
    /// Whether it holds no longer.
    expired: bool,
}

impl From<Grant> for GrantView {
    fn from(grant: Grant) -> Self {
        let expired = grant.expires_at.is_some_and(|at| at <= Timestamp::now());
        let Grant {
            id,
            component,
            tool,
            capabilities,
            limits,
            note,
            created_at,
            expires_at,
        } = grant;
        Self {
            id,
            component,
            tool,
            capabilities,
            limits,
            note,
            created_at,
            expires_at,
            expired,
        }
    }
}

/// Gives a grant. It holds for the next call.
#[utoipa::path(
    post,
    path = "/v1/grants",
    operation_id = "create_grant",
    tag = "grants",
    request_body = NewGrant,
    responses(
        (status = CREATED, body = GrantView),
        (status = UNPROCESSABLE_ENTITY, body = ErrorBody, description = "invalid_grant, with every problem"),
    )
)]
pub(crate) async fn create(
    State(app): State<AppState>,
    Json(new): Json<NewGrant>,
) -> Result<Response, Rejection> {
    registry::check_name(&new.component)?;
    check(&new)?;
    let to_value =
        |value: &Capabilities| serde_json::to_value(value).map_err(|error| Rejection::host(&error));
    let limits = new.limits.as_ref().filter(|limits| !limits.is_empty());
    let limits = limits.map(serde_json::to_value).transpose();
    let grant = Grant {
        tool: new.tool,
        limits: limits.map_err(|error| Rejection::host(&error))?,
        note: new.note,
        expires_at: new.expires_at,
        ..Grant::new(new.component, to_value(&new.capabilities)?)
    };
    let grant = unbroken(async move {
        app.store.put_grant(&grant).await?;
        app.registry.forget_plans();
        tracing::info!(id = %grant.id, component = grant.component, tool = grant.tool, "a grant was given");
        Ok(grant)
    });
    Ok(json::respond(
        StatusCode::CREATED,
        &GrantView::from(grant.await?),
    ))
}

/// Everything that is wrong with the grant, with its place in the body.
fn check(new: &NewGrant) -> Result<(), Rejection> {
    let mut problems = new.capabilities.validate().err().unwrap_or_default();
    for problem in &mut problems {
        problem.at.insert_str(0, "/capabilities");
    }
    let mut report = |at: &str, message: &str| {
        problems.push(Problem {
            at: at.to_owned(),
            message: message.to_owned(),
        });
    };
    if new.tool.as_deref() == Some("") {
        report("/tool", "leave it out for all tools of the component");
    }
    if new.expires_at.is_some_and(|at| at <= Timestamp::now()) {
        report("/expires_at", "this point in time is past");
    }
    if problems.is_empty() {
        return Ok(());
    }
    let lines = problems
        .iter()
        .map(|problem| format!("{}: {}", problem.at, problem.message));
    let message = format!(
        "the grant is malformed: {}",
        lines.collect::<Vec<_>>().join("; ")
    );
    Err(Rejection::with(&error::INVALID_GRANT, message).problems(problems))
}

#[derive(Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// For the component of this name.
    component: Option<String>,
    /// Those that hold for this tool: its own and those for all tools.
    tool: Option<String>,
    /// How many at most; 100 where left out, never more than 1000.
    limit: Option<u32>,
    /// Those that follow this grant.
    after: Option<String>,
}

/// Grants, the newest first.
#[utoipa::path(
    get,
    path = "/v1/grants",
    operation_id = "list_grants",
    tag = "grants",
    params(ListQuery),
    responses((status = OK, body = Vec<GrantView>), (status = UNPROCESSABLE_ENTITY, body = ErrorBody))
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    Params(query): Params<ListQuery>,
) -> Result<Response, Rejection> {
    let filter = GrantFilter {
        component: query.component,
        tool: query.tool,
        valid_at: None,
        limit: query.limit,
        after: parse_optional("after", query.after.as_deref())?,
    };
    let grants = app.store.grants(&filter).await?;
    let views: Vec<GrantView> = grants.into_iter().map(GrantView::from).collect();
    Ok(json::respond(StatusCode::OK, &views))
}

/// One grant.
#[utoipa::path(
    get,
    path = "/v1/grants/{id}",
    operation_id = "get_grant",
    tag = "grants",
    params(("id" = String, Path, description = "grant-<uuid>")),
    responses((status = OK, body = GrantView), (status = NOT_FOUND, body = ErrorBody))
)]
pub(crate) async fn get(
    State(app): State<AppState>,
    Path(id): Path<String>,
) -> Result<Response, Rejection> {
    let grant = app.store.grant(&parse("id", &id)?).await?;
    let grant = grant.ok_or_else(|| unknown(&id))?;
    Ok(json::respond(StatusCode::OK, &GrantView::from(grant)))
}

/// Takes a grant back. It no longer holds for the next call.
#[utoipa::path(
    delete,
    path = "/v1/grants/{id}",
    operation_id = "revoke_grant",
    tag = "grants",
    params(("id" = String, Path, description = "grant-<uuid>")),
    responses((status = OK, body = Message), (status = NOT_FOUND, body = ErrorBody))
)]
pub(crate) async fn revoke(
    State(app): State<AppState>,
    Path(id): Path<String>,
) -> Result<Response, Rejection> {
    let grant = parse("id", &id)?;
    let was_there = unbroken(async move {
        let was_there = app.store.revoke_grant(&grant).await?;
        app.registry.forget_plans();
        Ok(was_there)
    });
    if !was_there.await? {
        return Err(unknown(&id));
    }
    tracing::info!(id, "a grant was revoked");
    Ok(json::respond(
        StatusCode::OK,
        &Message {
            message: format!("{id} was revoked"),
        },
    ))
}

fn unknown(id: &str) -> Rejection {
    Rejection::with(&error::UNKNOWN_GRANT, format!("there is no grant {id}"))
}
