//! Whether the server is there.

use axum::response::Response;
use http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use super::json;

/// The server's state.
#[derive(Serialize, ToSchema)]
pub(crate) struct Health {
    /// The version of this server.
    version: &'static str,
    /// `ok`.
    status: &'static str,
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
