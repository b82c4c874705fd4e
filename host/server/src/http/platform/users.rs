//! All users, for superusers.

use axum::{
    Json,
    extract::{Request, State},
};
use bulkhead_access::{Action, Principal};
use bulkhead_domain::platform::{User, UserId};
use bulkhead_store::UserFilter;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{
    me::UserView,
    page::{Page, page},
};
use crate::{
    http::{
        AppState,
        error::{self, ErrorBody, Rejection},
        json::body,
        query::{Params, Path},
        unbroken,
    },
    platform::Caller,
};

/// Which users.
#[derive(Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct UsersQuery {
    /// with this somewhere in the address
    email: Option<String>,
    /// who may sign in, or may not
    is_active: Option<bool>,
    /// from 1; 1 where left out
    #[param(minimum = 1)]
    page: Option<u32>,
    /// entries of a page, 1 to 100; 20 where left out
    #[param(minimum = 1, maximum = 100)]
    page_size: Option<u32>,
}

/// What a superuser may change of a user. What is left out stays.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UserUpdate {
    is_active: Option<bool>,
    is_superuser: Option<bool>,
}

/// All users.
#[utoipa::path(
    get,
    path = "/api/v1/users",
    operation_id = "list_users",
    tag = "users",
    params(UsersQuery),
    responses((status = OK, body = Page<UserView>, description = "a page of users"))
)]
pub(crate) async fn list(
    State(app): State<AppState>,
    caller: Caller,
    query: Result<Params<UsersQuery>, Rejection>,
) -> Result<Json<Page<UserView>>, Rejection> {
    caller.may(Action::ListUsers)?;
    let Params(query) = query?;
    let page = page(query.page, query.page_size)?;
    let filter = UserFilter {
        email: query.email,
        is_active: query.is_active,
        page,
    };
    let (users, total) = app.store.list_users(&filter).await?;
    let users = users.into_iter().map(UserView::from).collect();
    Ok(Json(Page::new(users, page, total)))
}

/// One user.
#[utoipa::path(
    get,
    path = "/api/v1/users/{user_id}",
    operation_id = "get_user",
    tag = "users",
    params(("user_id" = String, Path, description = "the user's id")),
    responses(
        (status = OK, body = UserView, description = "the user"),
        (status = NOT_FOUND, body = ErrorBody),
    )
)]
pub(crate) async fn get(
    State(app): State<AppState>,
    caller: Caller,
    Path(user_id): Path<String>,
) -> Result<Json<UserView>, Rejection> {
    caller.may(Action::ListUsers)?;
    let id = parse(&user_id)?;
    let user = app.store.user(id).await?;
    Ok(Json(user.ok_or_else(|| missing(&user_id))?.into()))
}

/// Locks a user out or in again, makes a superuser or ends that. What is taken away counts at once;
/// all sign-ins of a user who is locked out end.
#[utoipa::path(
    patch,
    path = "/api/v1/users/{user_id}",
    operation_id = "update_user",
    tag = "users",
    params(("user_id" = String, Path, description = "the user's id")),
    request_body = UserUpdate,
    responses(
        (status = OK, body = UserView, description = "the user"),
        (status = NOT_FOUND, body = ErrorBody),
        (status = CONFLICT, body = ErrorBody, description = "one cannot take one's own rights away"),
    )
)]
pub(crate) async fn update(
    State(app): State<AppState>,
    caller: Caller,
    Path(user_id): Path<String>,
    request: Request,
) -> Result<Json<UserView>, Rejection> {
    caller.may(Action::UpdateUser)?;
    let body: UserUpdate = body(request).await?;
    let id = parse(&user_id)?;
    let is_self = matches!(caller.principal, Principal::User { id: own, .. } if own == id);
    let takes_away = body.is_active == Some(false) || body.is_superuser == Some(false);
    if is_self && takes_away {
        let text = "nobody can lock themselves out; another superuser can";
        return Err(Rejection::with(&error::CONFLICT, text));
    }
    let edit = move |user: &mut User| {
        user.is_active = body.is_active.unwrap_or(user.is_active);
        user.is_superuser = body.is_superuser.unwrap_or(user.is_superuser);
        Ok::<_, Rejection>(())
    };
    let user = unbroken(async move {
        let user = app.store.update_user(id, edit).await;
        app.platform.changed();
        user
    });
    Ok(Json(user.await?.into()))
}

/// What is no id is nobody's.
pub(super) fn parse(id: &str) -> Result<UserId, Rejection> {
    id.parse().map_err(|_| missing(id))
}

pub(super) fn missing(id: &str) -> Rejection {
    Rejection::with(&error::NOT_FOUND, format!("there is no user {id}"))
}
