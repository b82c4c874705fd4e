//! Who one is.

use axum::{
    Json,
    extract::{Request, State},
};
use bulkhead_access::{Action, Password, Verdict};
use bulkhead_domain::platform::{User, UserId};
use bulkhead_store::PasswordOutcome;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    auth::{self, DoneView},
    fields::Faults,
};
use crate::{
    app::App,
    http::{
        AppState,
        error::{self, ErrorBody, Rejection},
        json::{body, secret_body},
        observe::Peer,
        unbroken,
    },
    platform::Caller,
};

/// A user.
#[derive(Serialize, ToSchema)]
pub(crate) struct UserView {
    id: String,
    email: String,
    first_name: String,
    last_name: String,
    is_superuser: bool,
    is_active: bool,
    created_at: String,
    updated_at: String,
}

impl From<User> for UserView {
    fn from(user: User) -> Self {
        Self {
            id: user.id.to_string(),
            email: user.email,
            first_name: user.first_name,
            last_name: user.last_name,
            is_superuser: user.is_superuser,
            is_active: user.is_active,
            created_at: user.created_at.to_string(),
            updated_at: user.updated_at.to_string(),
        }
    }
}

/// What one may change of oneself. What is left out stays.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MeUpdate {
    first_name: Option<String>,
    last_name: Option<String>,
}

/// Another password.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PasswordChange {
    #[schema(format = Password)]
    current_password: String,
    #[schema(format = Password)]
    new_password: String,
}

/// Who one is.
#[utoipa::path(
    get,
    path = "/api/v1/users/me",
    operation_id = "get_me",
    tag = "users",
    responses((status = OK, body = UserView, description = "the user"))
)]
pub(crate) async fn get(
    State(app): State<AppState>,
    caller: Caller,
) -> Result<Json<UserView>, Rejection> {
    let id = caller.person(Action::ReadSelf)?;
    Ok(Json(user(&app, id).await?.into()))
}

/// Changes one's names.
#[utoipa::path(
    patch,
    path = "/api/v1/users/me",
    operation_id = "update_me",
    tag = "users",
    request_body = MeUpdate,
    responses((status = OK, body = UserView, description = "the user"))
)]
pub(crate) async fn update(
    State(app): State<AppState>,
    caller: Caller,
    request: Request,
) -> Result<Json<UserView>, Rejection> {
    let id = caller.person(Action::UpdateSelf)?;
    let body: MeUpdate = body(request).await?;
    let mut faults = Faults::default();
    let given = [
        ("first_name", &body.first_name),
        ("last_name", &body.last_name),
    ];
    for (field, text) in given {
        faults.person(field, text.as_deref().unwrap_or_default());
    }
    faults.check()?;
    let edit = |user: &mut User| {
        user.first_name = body
            .first_name
            .unwrap_or(std::mem::take(&mut user.first_name));
        user.last_name = body
            .last_name
            .unwrap_or(std::mem::take(&mut user.last_name));
        Ok::<_, Rejection>(())
    };
    let user = app.store.update_user(id, edit).await?;
    Ok(Json(user.into()))
}

/// Sets another password. All other sign-ins of the user end.
#[utoipa::path(
    post,
    path = "/api/v1/users/me/password",
    operation_id = "change_password",
    tag = "users",
    request_body = PasswordChange,
    responses(
        (status = OK, body = DoneView, description = "it is changed"),
        (status = BAD_REQUEST, body = ErrorBody, description = "the current password is another one"),
        (status = UNPROCESSABLE_ENTITY, body = ErrorBody, description = "the new password is weak"),
        (status = TOO_MANY_REQUESTS, body = ErrorBody),
    )
)]
pub(crate) async fn change_password(
    State(app): State<AppState>,
    caller: Caller,
    peer: Peer,
    request: Request,
) -> Result<Json<DoneView>, Rejection> {
    let id = caller.person(Action::ChangePassword)?;
    let body: PasswordChange = secret_body(request).await?;
    let user = user(&app, id).await?;
    let attempt = auth::attempt(&app, &user.email, &peer)?;
    let passwords = &app.platform.passwords;
    let unknown = || Rejection::new(&error::UNAUTHORIZED);
    let former = match compared(&app, id, Password::new(body.current_password)).await {
        Ok((former, verdict)) if verdict != Verdict::Wrong => {
            app.platform.throttle.succeeded(attempt);
            former
        }
        Ok(_) => return Err(Rejection::new(&error::WRONG_CURRENT_PASSWORD)),
        Err(rejection) => {
            // Nobody learnt whether it is right.
            app.platform.throttle.withdrawn(attempt);
            return Err(rejection);
        }
    };
    let hash = passwords
        .accept(Password::new(body.new_password), &user)
        .await;
    let hash = hash.map_err(|error| auth::refused(error, "new_password"))?;
    let session = caller.session.ok_or_else(unknown)?;
    unbroken(async move {
        let changed = app.store.change_password(id, &former, &hash, session);
        match changed.await? {
            PasswordOutcome::Changed => {
                app.platform.changed();
                Ok(())
            }
            // Somebody changed it while this one was compared, and this one counts no more.
            PasswordOutcome::Outdated => Err(Rejection::new(&error::WRONG_CURRENT_PASSWORD)),
            PasswordOutcome::SignedOut => Err(unknown()),
        }
    })
    .await?;
    Ok(Json(DoneView {
        message: "the password is changed",
    }))
}

/// The hash of a user's password, and whether this is the password.
async fn compared(
    app: &App,
    id: UserId,
    password: Password,
) -> Result<(String, Verdict), Rejection> {
    let hash = app.store.password_hash(id).await?;
    let hash = hash.ok_or_else(|| Rejection::new(&error::UNAUTHORIZED))?;
    let verdict = app.platform.passwords.verify(Some(hash.clone()), password);
    let verdict = verdict.await;
    let verdict = verdict.map_err(|error| auth::refused(error, "current_password"))?;
    Ok((hash, verdict))
}

async fn user(app: &App, id: UserId) -> Result<User, Rejection> {
    let user = app.store.user(id).await?;
    user.ok_or_else(|| Rejection::new(&error::UNAUTHORIZED))
}
