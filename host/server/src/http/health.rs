//! Whether the server is there.

use axum::{extract::State, response::Response};
use http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::UtoipaMethodRouter;

use super::{
    AppState,
    error::{ErrorBody, Rejection},
    json,
    routes::routes,
};

/// The server's state.
#[derive(Serialize, ToSchema)]
pub(crate) struct Health {
    /// The version of this server.
    version: &'static str,
    /// `ok`.
    status: &'static str,
}

/// The routes.
pub(crate) fn routes() -> Vec<UtoipaMethodRouter<AppState>> {
    vec![routes!(health), routes!(ready)]
}

/// Answers as soon as the server takes requests. Needs no access token.
#[utoipa::path(
    get,
    path = "/v1/health/",
    operation_id = "health",
    tag = "server",
    responses((status = OK, body = Health)),
    security(())
)]
pub(crate) async fn health() -> Response {
    json::respond(
        StatusCode::OK,
        &Health {
            version: env!("CARGO_PKG_VERSION"),
            status: "ok",
        },
    )
}

/// Answers as soon as requests that need the database can be answered too. Needs no access token.
#[utoipa::path(
    get,
    path = "/v1/ready/",
    operation_id = "check_readiness",
    tag = "server",
    responses(
        (status = OK, body = Health),
        (status = SERVICE_UNAVAILABLE, body = ErrorBody, description = "the database does not answer"),
    ),
    security(())
)]
pub(crate) async fn ready(State(app): State<AppState>) -> Result<Response, Rejection> {
    app.store.ping().await?;
    Ok(health().await)
}
