//! Credentials: written, listed and deleted, never read back.

use axum::{
    extract::{Request, State},
    response::Response,
};
use bulkhead_domain::{Problem, Timestamp};
use bulkhead_policy::{HttpRule, validate::MAX_NAME_BYTES};
use bulkhead_sandbox::egress::{Placement, Secret};
use bulkhead_store::{Credential, NewCredential};
use http::{HeaderName, StatusCode};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    AppState,
    components::Message,
    error::{self, ErrorBody, Rejection},
    json,
    query::Path,
    schema, unbroken,
};
use crate::registry::credential::{Use, use_of};

/// Rules of one audience: a credential belongs to one service, which has a few hosts.
const AUDIENCE_MAX: usize = 32;

/// A credential to store.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CredentialBody {
    /// The name by which grants and tools mean it.
    name: String,
    /// 8 to 4096 bytes. Stored encrypted; no answer holds it.
    secret: String,
    #[schema(value_type = schema::Placement)]
    placement: Placement,
    /// The only requests that it may be added to; at least one rule.
    #[schema(value_type = Vec<schema::HttpRule>)]
    audience: Vec<HttpRule>,
    /// Whether it is added by its audience alone, without the tool naming it.
    #[serde(default)]
    automatic: bool,
}

/// A stored credential, without its secret.
#[derive(Serialize, ToSchema)]
#[schema(as = Credential)]
pub(crate) struct CredentialView {
    name: String,
    #[schema(value_type = schema::Placement)]
    placement: Placement,
    #[schema(value_type = Vec<schema::HttpRule>)]
    audience: Vec<HttpRule>,
    automatic: bool,
    #[schema(value_type = String)]
    created_at: Timestamp,
    /// When the secret was last written.
    #[schema(value_type = String)]
    updated_at: Timestamp,
}

impl CredentialView {
    fn of(stored: Credential) -> Result<Self, Rejection> {
        let (
            Use {
                placement,
                automatic,
            },
            audience,
        ) = use_of(&stored)?;
        let Credential {
            name,
            created_at,
            updated_at,
            ..
        } = stored;
        Ok(Self {
            name,
            placement,
            audience,
            automatic,
            created_at,
            updated_at,
        })
    }
}

/// Stores a credential, in the place of one of the same name.
#[utoipa::path(
    post,
    path = "/v1/credentials",
    operation_id = "put_credential",
    tag = "credentials",
    request_body = CredentialBody,
    responses(
        (status = CREATED, body = CredentialView),
        (status = UNPROCESSABLE_ENTITY, body = ErrorBody, description = "invalid_credential, with every problem"),
    )
)]
pub(crate) async fn put(
    State(app): State<AppState>,
    request: Request,
) -> Result<Response, Rejection> {
    let body = json::read(request).await?;
    let body: CredentialBody = json::parse_secret(&body)?;
    check(&body)?;
    let used = Use {
        placement: body.placement,
        automatic: body.automatic,
    };
    let failed = |error: serde_json::Error| Rejection::host(&error);
    let new = NewCredential {
        name: body.name,
        secret: body.secret.into_bytes().into(),
        placement: serde_json::to_value(&used).map_err(failed)?,
        audience: serde_json::to_value(&body.audience).map_err(failed)?,
    };
    let stored = unbroken(async move {
        let stored = app.store.put_credential(new).await?;
        app.registry.forget_plans();
        tracing::info!(name = stored.name, "a credential was stored");
        Ok(stored)
    });
    Ok(json::respond(
        StatusCode::CREATED,
        &CredentialView::of(stored.await?)?,
    ))
}

/// Everything that is wrong, with its place in the body; never the secret.
fn check(body: &CredentialBody) -> Result<(), Rejection> {
    let mut problems = Vec::new();
    let mut report = |at: &str, message: String| {
        problems.push(Problem {
            at: at.to_owned(),
            message,
        })
    };
    if body.name.is_empty()
        || body.name.len() > MAX_NAME_BYTES
        || body.name.contains(char::is_control)
    {
        report(
            "/name",
            format!("has 1 to {MAX_NAME_BYTES} bytes and no control characters"),
        );
    }
    if body.name == "*" {
        report("/name", "the star is no name".to_owned());
    }
    if let Err(error) = Secret::new(body.secret.as_str()) {
        report("/secret", error.to_string());
    }
    // Only a query parameter can carry any text.
    if !matches!(body.placement, Placement::Query { .. }) && body.secret.contains(char::is_control)
    {
        report("/secret", "a header holds no control characters".to_owned());
    }
    match &body.placement {
        Placement::Header { name, .. } if HeaderName::try_from(name.as_str()).is_err() => {
            report("/placement/name", "is no name of a header".to_owned());
        }
        Placement::Header { prefix, .. } if prefix.contains(char::is_control) => {
            report(
                "/placement/prefix",
                "a header holds no control characters".to_owned(),
            );
        }
        Placement::Query { name } if name.is_empty() => {
            report("/placement/name", "is empty".to_owned());
        }
        Placement::Basic { user } if user.contains(|c: char| c == ':' || c.is_control()) => {
            report(
                "/placement/user",
                "a user name has no colon and no control characters".to_owned(),
            );
        }
        _ => {}
    }
    if body.audience.is_empty() {
        report(
            "/audience",
            "without a rule the credential goes nowhere".to_owned(),
        );
    }
    if body.audience.len() > AUDIENCE_MAX {
        report("/audience", format!("more than {AUDIENCE_MAX} rules"));
    }
    if problems.is_empty() {
        return Ok(());
    }
    let lines = problems
        .iter()
        .map(|problem| format!("{}: {}", problem.at, problem.message));
    let message = format!(
        "the credential is malformed: {}",
        lines.collect::<Vec<_>>().join("; ")
    );
    Err(Rejection::with(&error::INVALID_CREDENTIAL, message).problems(problems))
}

/// All credentials by name, without their secrets.
#[utoipa::path(
    get,
    path = "/v1/credentials",
    operation_id = "list_credentials",
    tag = "credentials",
    responses((status = OK, body = Vec<CredentialView>))
)]
pub(crate) async fn list(State(app): State<AppState>) -> Result<Response, Rejection> {
    let stored = app.store.credentials().await?;
    let views = stored
        .into_iter()
        .map(CredentialView::of)
        .collect::<Result<Vec<_>, _>>()?;
    Ok(json::respond(StatusCode::OK, &views))
}

/// Deletes a credential. No call that starts from now on has it.
#[utoipa::path(
    delete,
    path = "/v1/credentials/{name}",
    operation_id = "delete_credential",
    tag = "credentials",
    params(("name" = String, Path, description = "the credential's name")),
    responses((status = OK, body = Message), (status = NOT_FOUND, body = ErrorBody))
)]
pub(crate) async fn delete(
    State(app): State<AppState>,
    Path(name): Path<String>,
) -> Result<Response, Rejection> {
    let deleted = name.clone();
    let was_there = unbroken(async move {
        let was_there = app.store.delete_credential(&deleted).await?;
        app.registry.forget_plans();
        Ok(was_there)
    });
    if !was_there.await? {
        let message = format!("there is no credential {name}");
        return Err(Rejection::with(&error::UNKNOWN_CREDENTIAL, message));
    }
    tracing::info!(name, "a credential was deleted");
    Ok(json::respond(
        StatusCode::OK,
        &Message {
            message: format!("{name} was deleted"),
        },
    ))
}
