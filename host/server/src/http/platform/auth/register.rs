//! People make accounts for themselves.

use axum::{
    Json,
    extract::{Request, State},
    response::{IntoResponse as _, Response},
};
use bulkhead_access::{Action, Password};
use bulkhead_domain::platform::User;
use bulkhead_store::StoreError;
use http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{attempt, refused};
use crate::{
    http::{
        AppState,
        error::{self, ErrorBody, Rejection},
        json::secret_body,
        observe::Peer,
        platform::{fields::Faults, me::UserView},
    },
    platform::Caller,
};

/// A new account.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Register {
    email: String,
    #[schema(format = Password)]
    password: String,
    #[serde(default)]
    first_name: String,
    #[serde(default)]
    last_name: String,
}

/// Makes an account. Where registration is closed, superusers and the installation's token can.
#[utoipa::path(
    post,
    path = "/api/v1/auth/register",
    operation_id = "register",
    tag = "auth",
    security(()),
    request_body = Register,
    responses(
        (status = CREATED, body = UserView, description = "the user"),
        (status = UNAUTHORIZED, body = ErrorBody, description = "a token was sent that does not count"),
        (status = FORBIDDEN, body = ErrorBody, description = "registration is closed"),
        (status = CONFLICT, body = ErrorBody, description = "the address is taken"),
        (status = UNPROCESSABLE_ENTITY, body = ErrorBody, description = "a weak password, a malformed address"),
        (status = TOO_MANY_REQUESTS, body = ErrorBody),
        (status = SERVICE_UNAVAILABLE, body = ErrorBody),
    )
)]
pub(crate) async fn register(
    State(app): State<AppState>,
    caller: Caller,
    peer: Peer,
    request: Request,
) -> Result<Response, Rejection> {
    caller.may(Action::RegisterUser)?;
    if !app.platform.registration && caller.may(Action::UpdateUser).is_err() {
        return Err(Rejection::new(&error::REGISTRATION_CLOSED));
    }
    let body: Register = secret_body(request).await?;
    let mut faults = Faults::default();
    let address = faults.email("email", &body.email);
    faults.person("first_name", &body.first_name);
    faults.person("last_name", &body.last_name);
    faults.check()?;
    // Whether an address is taken can be asked as seldom as whether a password is right, and accounts
    // don't grow without end: no try is given back.
    drop(attempt(&app, &address, &peer)?);
    let mut user = User::new(address);
    user.first_name = body.first_name;
    user.last_name = body.last_name;
    let password = Password::new(body.password);
    let hash = app.platform.passwords.accept(password, &user).await;
    let hash = match hash {
        Ok(hash) => hash,
        Err(error) => return Err(refused(error, "password")),
    };
    match app.store.create_user(&user, &hash).await {
        Ok(()) => {}
        Err(StoreError::NameTaken { .. }) => return Err(Rejection::new(&error::EMAIL_TAKEN)),
        Err(error) => return Err(error.into()),
    }
    Ok((StatusCode::CREATED, Json(UserView::from(user))).into_response())
}
