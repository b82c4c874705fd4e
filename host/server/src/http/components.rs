//! Components: push, look, consent, delete.

use std::time::Duration;

use axum::{
    extract::{Request, State},
    response::Response,
};
use bulkhead_domain::{Digest, Timestamp};
use bulkhead_store::{ComponentFilter, ComponentRecord, ComponentStatus};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;
use utoipa::ToSchema;

use super::{
    AppState,
    error::{self, ErrorBody, Rejection},
    json,
    query::{Params, Path, parse_optional},
    schema, unbroken,
};
use crate::registry::{
    self,
    description::{Description, Skipped, ToolDescription},
    difference::Difference,
    push::Origin,
};

/// A component of the largest size over a line of 1 MB/s.
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(120);
/// How long a component may make no progress while it is being received.
const UPLOAD_IDLE: Duration = Duration::from_secs(10);
/// Components that are being received at once, each held in memory; further ones wait. What
/// was received is installed under the sandbox's own limit.
const UPLOADS: usize = 4;

static UPLOADING: Semaphore = Semaphore::const_new(UPLOADS);

/// A version of a component.
#[derive(Serialize, ToSchema)]
#[schema(as = Component)]
pub(crate) struct ComponentView {
    /// What its versions have in common.
    name: String,
    /// `sha256:` and 64 hex digits.
    #[schema(value_type = String)]
    digest: Digest,
    #[schema(value_type = schema::Kind)]
    kind: bulkhead_sandbox::Kind,
    /// Bytes of the component.
    size: u64,
    /// Whether it can reach, learn or change nothing beyond its input and output.
    pure: bool,
    /// `active`, `pending` (waits for consent) or `retired`.
    #[schema(value_type = String)]
    status: ComponentStatus,
    /// When it was first pushed (RFC 3339).
    #[schema(value_type = String)]
    created_at: Timestamp,
    #[schema(value_type = Vec<schema::Import>)]
    imports: Vec<bulkhead_sandbox::Import>,
    /// What all its tools together wish for.
    #[schema(value_type = schema::Capabilities)]
    wishes: bulkhead_policy::Capabilities,
    tools: Vec<ToolDescription>,
    skipped: Vec<Skipped>,
}

/// A version that was pushed, and what it changes.
#[derive(Serialize, ToSchema)]
#[schema(as = PushedComponent)]
pub(crate) struct PushedView {
    #[serde(flatten)]
    component: ComponentView,
    /// Against the version that was active before.
    diff: Difference,
}

/// A text for people.
#[derive(Serialize, ToSchema)]
pub(crate) struct Message {
    /// What was done.
    pub(crate) message: String,
}

impl ComponentView {
    fn new(record: ComponentRecord, description: Description) -> Self {
        let Description {
            kind,
            pure,
            imports,
            wishes,
            tools,
            skipped,
        } = description;
        Self {
            name: record.name,
            digest: record.digest,
            kind,
            size: record.size,
            pure,
            status: record.status,
            created_at: record.created_at,
            imports,
            wishes,
            tools,
            skipped,
        }
    }

    fn of(record: ComponentRecord) -> Result<Self, Rejection> {
        let description = registry::description(&record)?;
        Ok(Self::new(record, description))
    }
}

#[derive(Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct PushQuery {
    /// 1 to 64 of a-z, 0-9, _ and -; may be left out for bytes that are stored already.
    name: Option<String>,
}

/// Installs a component: validates, compiles and describes it. The first version of a name, and
/// one that wishes for nothing more, becomes active; another one waits for consent (`pending`).
#[utoipa::path(
    post,
    path = "/v1/components",
    operation_id = "push_component",
    tag = "components",
    params(PushQuery),
    request_body(content = inline(schema::Bytes), content_type = "application/wasm", description = "the component, at most 64 MB by default"),
    responses(
        (status = CREATED, body = PushedView, description = "new here"),
        (status = OK, body = PushedView, description = "these bytes were stored before"),
        (status = CONFLICT, body = ErrorBody, description = "other_name"),
        (status = PAYLOAD_TOO_LARGE, body = ErrorBody, description = "component_too_large"),
        (status = UNPROCESSABLE_ENTITY, body = ErrorBody, description = "not_a_component, invalid_component, unknown_imports, no_tools, wrong_abi_version, compile_timeout, compile_failed, describe_failed, invalid_description, invalid_parameter"),
    )
)]
pub(crate) async fn push(
    State(app): State<AppState>,
    Params(query): Params<PushQuery>,
    request: Request,
) -> Result<Response, Rejection> {
    json::require_media_type(
        request.headers(),
        &["application/wasm", "application/octet-stream"],
    )?;
    let reading = json::Reading {
        limit: usize::try_from(app.sandbox.settings().max_component_bytes).unwrap_or(usize::MAX),
        timeout: UPLOAD_TIMEOUT,
        idle: UPLOAD_IDLE,
        too_large: &error::COMPONENT_TOO_LARGE,
        slots: Some(&UPLOADING),
    };
    let bytes = json::read_body(request, &reading).await?;
    let pushing = unbroken(async move {
        app.registry
            .push(query.name.as_deref(), bytes, Origin::Person)
            .await
    });
    let pushed = pushing.await?;
    let status = if pushed.is_new {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    let component = ComponentView::new(pushed.record, pushed.description);
    Ok(json::respond(
        status,
        &PushedView {
            component,
            diff: pushed.difference,
        },
    ))
}

#[derive(Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// Versions of this name.
    name: Option<String>,
    /// `active`, `pending` or `retired`.
    status: Option<String>,
    /// How many at most; 100 where left out, never more than 1000.
    limit: Option<u32>,
    /// Those that follow the version of this digest.
    after: Option<String>,
}

/// Versions, the newest first.
#[utoipa::path(
    get,
    path = "/v1/components",
    operation_id = "list_components",
    tag = "components",
    params(ListQuery),
    responses((status = OK, body = Vec<ComponentView>), (status = UNPROCESSABLE_ENTITY, body = ErrorBody))
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    Params(query): Params<ListQuery>,
) -> Result<Response, Rejection> {
    let filter = ComponentFilter {
        name: query.name,
        status: parse_optional("status", query.status.as_deref())?,
        limit: query.limit,
        after: parse_optional("after", query.after.as_deref())?,
    };
    let records = app.store.components(&filter).await?;
    let views = records
        .into_iter()
        .map(ComponentView::of)
        .collect::<Result<Vec<_>, _>>()?;
    Ok(json::respond(StatusCode::OK, &views))
}

/// One version.
#[utoipa::path(
    get,
    path = "/v1/components/{ref}",
    operation_id = "get_component",
    tag = "components",
    params(("ref" = String, Path, description = "the digest, with or without sha256:, or the name for its active version")),
    responses((status = OK, body = ComponentView), (status = NOT_FOUND, body = ErrorBody))
)]
pub(crate) async fn get(
    State(app): State<AppState>,
    Path(reference): Path<String>,
) -> Result<Response, Rejection> {
    let record = app.registry.find(&reference).await?;
    Ok(json::respond(StatusCode::OK, &ComponentView::of(record)?))
}

/// Agrees to what a version wishes for: it becomes the active one of its name.
#[utoipa::path(
    post,
    path = "/v1/components/{ref}/activate",
    operation_id = "activate_component",
    tag = "components",
    params(("ref" = String, Path, description = "the digest")),
    responses((status = OK, body = ComponentView), (status = NOT_FOUND, body = ErrorBody))
)]
pub(crate) async fn activate(
    State(app): State<AppState>,
    Path(reference): Path<String>,
) -> Result<Response, Rejection> {
    let record = unbroken(async move { app.registry.activate(&reference).await }).await?;
    Ok(json::respond(StatusCode::OK, &ComponentView::of(record)?))
}

/// What a version changes against the active one of its name.
#[utoipa::path(
    get,
    path = "/v1/components/{ref}/diff",
    operation_id = "diff_component",
    tag = "components",
    params(("ref" = String, Path, description = "the digest")),
    responses((status = OK, body = Difference), (status = NOT_FOUND, body = ErrorBody))
)]
pub(crate) async fn diff(
    State(app): State<AppState>,
    Path(reference): Path<String>,
) -> Result<Response, Rejection> {
    Ok(json::respond(
        StatusCode::OK,
        &app.registry.difference(&reference).await?,
    ))
}

/// Deletes a version; with the last one of a name its grants go too. Receipts stay.
#[utoipa::path(
    delete,
    path = "/v1/components/{ref}",
    operation_id = "delete_component",
    tag = "components",
    params(("ref" = String, Path, description = "the digest, or the name for its active version")),
    responses((status = OK, body = Message), (status = NOT_FOUND, body = ErrorBody))
)]
pub(crate) async fn delete(
    State(app): State<AppState>,
    Path(reference): Path<String>,
) -> Result<Response, Rejection> {
    let record = unbroken(async move { app.registry.delete(&reference).await }).await?;
    let message = format!("{} {} was deleted", record.name, record.digest);
    Ok(json::respond(StatusCode::OK, &Message { message }))
}
