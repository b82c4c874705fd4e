//! The voice route, which its vendor took out of service.

use axum::{Router, routing::post};
use http::StatusCode;
use serde_json::json;

use super::AppState;
use crate::contract::Refusal;

/// The route.
pub(crate) fn routes() -> Router<AppState> {
    Router::new()
        .route("/v1/voice-beta/{agent_id}/chat/completions", post(gone))
        .route("/v1/voice-beta/{agent_id}/chat/completions/", post(gone))
}

async fn gone() -> Refusal {
    let detail = "The /voice-beta endpoint has been deprecated and is no longer available.";
    Refusal::with(StatusCode::GONE, json!({ "detail": detail }))
}
