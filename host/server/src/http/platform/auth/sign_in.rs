//! Sign-ins and their tokens: the first ones, the next ones, and the end of them.

use axum::{
    Json,
    extract::{Request, State},
    response::{IntoResponse as _, Response},
};
use bulkhead_access::{
    Action, Password, Verdict,
    token::{ACCESS_LIFETIME, SIGN_IN_LIFETIME, refresh_expires_at},
};
use bulkhead_domain::{
    Timestamp,
    platform::{Session, User, email},
};
use bulkhead_store::Rotation;
use http::{HeaderValue, header};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{DoneView, attempt, refused};
use crate::{
    app::App,
    http::{
        AppState,
        error::{self, ErrorBody, Rejection},
        json::secret_body,
        observe::Peer,
        query::Params,
        unbroken,
    },
    platform::Caller,
};

/// Who signs in.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Login {
    email: String,
    #[schema(format = Password)]
    password: String,
}

/// The token to go on with.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Refresh {
    refresh_token: String,
}

/// The tokens of a sign-in.
#[derive(Serialize, ToSchema)]
pub(crate) struct TokensView {
    /// for `Authorization: Bearer …`
    access_token: String,
    /// for `/api/v1/auth/refresh`, once
    refresh_token: String,
    /// bearer
    token_type: &'static str,
    /// seconds that the access token counts
    expires_in: u64,
}

/// Signs in.
#[utoipa::path(
    post,
    path = "/api/v1/auth/login",
    operation_id = "login",
    tag = "auth",
    security(()),
    request_body = Login,
    responses(
        (status = OK, body = TokensView, description = "the tokens"),
        (status = UNAUTHORIZED, body = ErrorBody, description = "the address or the password is wrong"),
        (status = FORBIDDEN, body = ErrorBody, description = "a page of another origin asks"),
        (status = TOO_MANY_REQUESTS, body = ErrorBody, description = "too many tries; Retry-After says when again"),
        (status = SERVICE_UNAVAILABLE, body = ErrorBody),
    )
)]
pub(crate) async fn login(
    State(app): State<AppState>,
    peer: Peer,
    request: Request,
) -> Result<Response, Rejection> {
    let body: Login = secret_body(request).await?;
    // What is no address is an unknown one, and takes as long.
    let address = email::normalised(&body.email).unwrap_or_default();
    let attempt = attempt(&app, &address, &peer)?;
    match signed_in(&app, &address, Password::new(body.password)).await {
        Ok(Some(session)) => {
            app.platform.throttle.succeeded(attempt);
            Ok(tokens(&app, &session))
        }
        Ok(None) => Err(Rejection::new(&error::WRONG_PASSWORD)),
        Err(rejection) => {
            app.platform.throttle.withdrawn(attempt);
            Err(rejection)
        }
    }
}

/// A new sign-in; none where the address or the password is wrong. An error says that nobody learnt
/// whether they are.
async fn signed_in(
    app: &App,
    address: &str,
    password: Password,
) -> Result<Option<Session>, Rejection> {
    let found = app.store.user_by_email(address).await?;
    let (user, hash) = found.map_or((None, None), |(user, hash)| (Some(user), Some(hash)));
    let passwords = &app.platform.passwords;
    let verdict = passwords.verify(hash.clone(), password.clone()).await;
    let verdict = verdict.map_err(|error| refused(error, "password"))?;
    let user = user.filter(|user| user.is_active && verdict != Verdict::Wrong);
    let (Some(user), Some(mut hash)) = (user, hash) else {
        return Ok(None);
    };
    if verdict == Verdict::RightButOutdated
        && let Some(newer) = renewed(app, &user, &hash, password).await
    {
        hash = newer;
    }
    let session = Session::new(user.id, refresh_expires_at(Timestamp::now()));
    // Not where the password was changed, or the user locked out, while this one was compared.
    let begun = app.store.begin_session_by_password(&session, &hash).await?;
    let Some(ended) = begun else {
        return Ok(None);
    };
    if ended > 0 {
        // One sign-in too many: the oldest one's tokens count no more.
        app.platform.changed();
    }
    Ok(Some(session))
}

/// Gets the next tokens of a sign-in. A refresh token counts once; where one comes a second time,
/// somebody has a copy of it, and the sign-in ends. It ends in any case 90 days after the password was
/// given.
#[utoipa::path(
    post,
    path = "/api/v1/auth/refresh",
    operation_id = "refresh",
    tag = "auth",
    security(()),
    request_body = Refresh,
    responses(
        (status = OK, body = TokensView, description = "the next tokens"),
        (status = UNAUTHORIZED, body = ErrorBody, description = "the token does not count"),
        (status = FORBIDDEN, body = ErrorBody, description = "a page of another origin asks"),
        (status = SERVICE_UNAVAILABLE, body = ErrorBody),
    )
)]
pub(crate) async fn refresh(
    State(app): State<AppState>,
    request: Request,
) -> Result<Response, Rejection> {
    let body: Refresh = secret_body(request).await?;
    let invalid = |text| Rejection::with(&error::UNAUTHORIZED, text);
    let now = Timestamp::now();
    let token = app.platform.tokens.check_refresh(&body.refresh_token, now);
    let token = token.map_err(|error| invalid(format!("{error}; sign in again")))?;
    // A client that leaves now must not lose the sign-in to a token that it never got.
    let session = unbroken(async move {
        let expires_at = refresh_expires_at(now);
        let used = (token.session, token.generation);
        let rotation = app
            .store
            .rotate_session(used, now, expires_at, SIGN_IN_LIFETIME);
        match rotation.await? {
            Rotation::Rotated(session) => Ok(tokens(&app, &session)),
            Rotation::Reused => {
                app.platform.changed();
                tracing::warn!(user = %token.user, session = %token.session, "a refresh token was used twice; the sign-in is ended");
                Err(Rejection::new(&error::TOKEN_REUSED))
            }
            Rotation::Ended | Rotation::Expired | Rotation::Unknown => {
                Err(invalid("the sign-in has ended; sign in again".to_owned()))
            }
        }
    });
    session.await
}

/// What a sign-out ends.
#[derive(Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct LogoutQuery {
    /// all sign-ins of the user, not this one alone
    #[serde(default)]
    everywhere: bool,
}

/// Ends the sign-in: neither of its tokens counts any more.
#[utoipa::path(
    post,
    path = "/api/v1/auth/logout",
    operation_id = "logout",
    tag = "auth",
    params(LogoutQuery),
    responses((status = OK, body = DoneView, description = "it is ended"))
)]
pub(crate) async fn logout(
    State(app): State<AppState>,
    caller: Caller,
    query: Result<Params<LogoutQuery>, Rejection>,
) -> Result<Json<DoneView>, Rejection> {
    let user = caller.person(Action::SignOut)?;
    let Params(query) = query?;
    unbroken(async move {
        match caller.session {
            Some(session) if !query.everywhere => {
                app.store.end_session(session).await?;
            }
            _ => {
                app.store.end_sessions(user).await?;
            }
        }
        app.platform.changed();
        Ok(())
    })
    .await?;
    Ok(Json(DoneView {
        message: "signed out",
    }))
}

/// Stores a hash of today's kind and gives it. That it fails costs nothing: the next sign-in tries
/// again.
async fn renewed(app: &App, user: &User, former: &str, password: Password) -> Option<String> {
    let newer = app.platform.passwords.hash(password).await.ok()?;
    match app.store.rehash_password(user.id, former, &newer).await {
        Ok(stored) => stored.then_some(newer),
        Err(error) => {
            tracing::warn!(user = %user.id, %error, "the hash of a password was not renewed");
            None
        }
    }
}

fn tokens(app: &App, session: &Session) -> Response {
    let key = &app.platform.tokens;
    let view = TokensView {
        access_token: key.access_token(session, Timestamp::now()),
        refresh_token: key.refresh_token(session),
        token_type: "bearer",
        expires_in: ACCESS_LIFETIME.as_secs(),
    };
    // Nobody on the way keeps it.
    let no_store = (header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    ([no_store], Json(view)).into_response()
}
