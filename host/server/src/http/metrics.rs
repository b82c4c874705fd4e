//! What Prometheus reads.

use axum::{
    extract::State,
    response::{IntoResponse as _, Response},
};
use http::header;

use super::{AppState, error::Rejection};

/// The text format of OpenMetrics, which Prometheus reads.
const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Counters and histograms of calls, installs and requests.
#[utoipa::path(
    get,
    path = "/metrics",
    operation_id = "metrics",
    tag = "server",
    responses((status = OK, body = String, content_type = "application/openmetrics-text"))
)]
pub(crate) async fn metrics(State(app): State<AppState>) -> Result<Response, Rejection> {
    let text = app
        .metrics
        .text(app.sandbox.usage())
        .map_err(|error| Rejection::host(&error))?;
    Ok(([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response())
}
