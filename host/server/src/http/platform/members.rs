//! Who is in a project beside its owner.

use axum::{
    Json,
    extract::{Request, State},
};
use bulkhead_access::{Action, Attempt};
use bulkhead_domain::{
    Timestamp,
    platform::{Member, Role, UserId, email},
};
use bulkhead_store::{MemberRecord, StoreError};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    auth::{DoneView, attempt},
    fields::Faults,
    page::{Page, page},
};
use crate::{
    app::App,
    http::{
        AppState,
        error::{self, ErrorBody, Rejection},
        json::body,
        observe::Peer,
        query::{Params, Path},
    },
    platform::Caller,
};

/// Somebody in a project.
#[derive(Serialize, ToSchema)]
pub(crate) struct MemberView {
    user_id: String,
    email: String,
    first_name: String,
    last_name: String,
    /// member or viewer
    role: &'static str,
    added_at: String,
}

impl From<MemberRecord> for MemberView {
    fn from(record: MemberRecord) -> Self {
        Self {
            user_id: record.member.user_id.to_string(),
            email: record.email,
            first_name: record.first_name,
            last_name: record.last_name,
            role: record.member.role.as_str(),
            added_at: record.member.added_at.to_string(),
        }
    }
}

/// What somebody may do.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemberPut {
    /// member (sends messages) or viewer (sees everything)
    role: String,
}

/// Which page of members.
#[derive(Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct MembersQuery {
    /// from 1; 1 where left out
    #[param(minimum = 1)]
    page: Option<u32>,
    /// entries of a page, 1 to 100; 20 where left out
    #[param(minimum = 1, maximum = 100)]
    page_size: Option<u32>,
}

/// Who is in a project beside its owner.
#[utoipa::path(
    get,
    path = "/api/v1/projects/{project_id}/members",
    operation_id = "list_members",
    tag = "projects",
    params(("project_id" = String, Path, description = "the project's id"), MembersQuery),
    responses(
        (status = OK, body = Page<MemberView>, description = "a page of members"),
        (status = NOT_FOUND, body = ErrorBody),
    )
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    caller: Caller,
    Path(project_id): Path<String>,
    query: Result<Params<MembersQuery>, Rejection>,
) -> Result<Json<Page<MemberView>>, Rejection> {
    let project = caller
        .project(&app, &project_id, Action::ReadMembers)
        .await?;
    let Params(query) = query?;
    let page = page(query.page, query.page_size)?;
    let (members, total) = app.store.list_members(project.id, page).await?;
    let members = members.into_iter().map(MemberView::from).collect();
    Ok(Json(Page::new(members, page, total)))
}

/// Takes somebody into a project, or gives them another role.
#[utoipa::path(
    put,
    path = "/api/v1/projects/{project_id}/members/{user}",
    operation_id = "put_member",
    tag = "projects",
    params(
        ("project_id" = String, Path, description = "the project's id"),
        ("user" = String, Path, description = "the user's e-mail address; the id of one who is a member already")
    ),
    request_body = MemberPut,
    responses(
        (status = OK, body = MemberView, description = "the member"),
        (status = NOT_FOUND, body = ErrorBody),
        (status = TOO_MANY_REQUESTS, body = ErrorBody, description = "too many addresses of nobody; Retry-After says when again"),
    )
)]
pub(crate) async fn put(
    State(app): State<AppState>,
    caller: Caller,
    peer: Peer,
    Path((project_id, user)): Path<(String, String)>,
    request: Request,
) -> Result<Json<MemberView>, Rejection> {
    let project = caller
        .project(&app, &project_id, Action::ChangeMembers)
        .await?;
    let new: MemberPut = body(request).await?;
    let role = match new.role.parse() {
        Ok(role @ (Role::Member | Role::Viewer)) => role,
        _ => {
            let mut faults = Faults::default();
            faults.add("role", "is member or viewer; a project has one owner");
            return Err(faults.check().err().unwrap_or_else(|| nobody(&user)));
        }
    };
    let found = find(&app, &caller, &user, &peer).await?;
    let (user_id, attempt) = found.ok_or_else(|| nobody(&user))?;
    // Who they are is told to those who know their address, and not for an id that somebody has seen.
    let is_known = attempt.is_some()
        || caller.may(Action::ListUsers).is_ok()
        || app.store.role_in(project.id, user_id).await?.is_some();
    if !is_known {
        return Err(nobody(&user));
    }
    give_back(&app, attempt);
    let member = Member {
        project_id: project.id,
        user_id,
        role,
        added_at: Timestamp::now(),
    };
    let put = app.store.put_member(&member).await;
    let put = put.map_err(|error| match error {
        StoreError::NotFound { what: "user", .. } => nobody(&user),
        StoreError::Invalid { .. } => {
            let text = format!("{user} is the project's owner");
            Rejection::with(&error::INVALID_BODY, text)
        }
        error => error.into(),
    })?;
    Ok(Json(put.into()))
}

/// Takes somebody out of a project.
#[utoipa::path(
    delete,
    path = "/api/v1/projects/{project_id}/members/{user}",
    operation_id = "remove_member",
    tag = "projects",
    params(
        ("project_id" = String, Path, description = "the project's id"),
        ("user" = String, Path, description = "the user's id or e-mail address")
    ),
    responses(
        (status = OK, body = DoneView, description = "the user is in it no more"),
        (status = NOT_FOUND, body = ErrorBody),
        (status = TOO_MANY_REQUESTS, body = ErrorBody, description = "too many addresses of nobody; Retry-After says when again"),
    )
)]
pub(crate) async fn remove(
    State(app): State<AppState>,
    caller: Caller,
    peer: Peer,
    Path((project_id, user)): Path<(String, String)>,
) -> Result<Json<DoneView>, Rejection> {
    let project = caller
        .project(&app, &project_id, Action::ChangeMembers)
        .await?;
    // Whether there is such a user is not told.
    let missing = || {
        let text = format!("{user} is no member of this project");
        Rejection::with(&error::NOT_FOUND, text)
    };
    let found = find(&app, &caller, &user, &peer).await?;
    let (id, attempt) = found.ok_or_else(missing)?;
    if !app.store.remove_member(project.id, id).await? {
        return Err(missing());
    }
    give_back(&app, attempt);
    Ok(Json(DoneView {
        message: "the user is no member any more",
    }))
}

/// A user by id or address; by an address with the try that it took. Whether somebody has an account
/// can be asked as seldom as whether a password is right, which is the caller's limit and nobody
/// else's.
async fn find(
    app: &App,
    caller: &Caller,
    user: &str,
    peer: &Peer,
) -> Result<Option<(UserId, Option<Attempt>)>, Rejection> {
    if let Ok(id) = user.parse() {
        return Ok(Some((id, None)));
    }
    let Ok(address) = email::normalised(user) else {
        return Ok(None);
    };
    // No address is like this.
    let asks = caller.user();
    let asks = asks.map_or_else(|| "installation".to_owned(), |id| id.to_string());
    let attempt = attempt(app, &asks, peer)?;
    let found = app.store.user_by_email(&address).await?;
    Ok(found.map(|(user, _)| (user.id, Some(attempt))))
}

/// A try that named somebody whom the caller may know is none.
fn give_back(app: &App, attempt: Option<Attempt>) {
    if let Some(attempt) = attempt {
        app.platform.throttle.withdrawn(attempt);
    }
}

fn nobody(user: &str) -> Rejection {
    Rejection::with(&error::NOT_FOUND, format!("there is no user {user}"))
}
