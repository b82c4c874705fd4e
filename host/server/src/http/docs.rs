//! The OpenAPI document and a page that renders it, both from files in the binary.

use axum::{
    Router,
    response::{IntoResponse as _, Response},
    routing::get,
};
use bytes::Bytes;
use http::{HeaderName, header};
use utoipa::openapi::OpenApi;

use super::AppState;

/// The page may load its own script, style and document, and nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// What the routes below answer: files of the binary, which say nothing of this installation.
pub(crate) const PATHS: &[&str] = &["/openapi.json", "/docs", "/docs/docs.js", "/docs/docs.css"];

/// The document at `/openapi.json`, the page at `/docs`.
pub(crate) fn routes(document: &OpenApi) -> Router<AppState> {
    // The golden-file test writes the same document.
    let text = Bytes::from(document.to_pretty_json().unwrap_or_else(|error| {
        tracing::error!(%error, "the OpenAPI document could not be written");
        "{}".to_owned()
    }));
    Router::new()
        .route(
            "/openapi.json",
            get(move || async move { file("application/json", text) }),
        )
        .route(
            "/docs",
            get(|| async { text_file("text/html", include_str!("docs/index.html")) }),
        )
        .route(
            "/docs/docs.js",
            get(|| async { text_file("text/javascript", include_str!("docs/docs.js")) }),
        )
        .route(
            "/docs/docs.css",
            get(|| async { text_file("text/css", include_str!("docs/docs.css")) }),
        )
}

fn text_file(media_type: &'static str, text: &'static str) -> Response {
    file(media_type, Bytes::from_static(text.as_bytes()))
}

fn file(media_type: &str, bytes: Bytes) -> Response {
    let headers: [(HeaderName, String); 5] = [
        (header::CONTENT_TYPE, format!("{media_type}; charset=utf-8")),
        (header::CONTENT_SECURITY_POLICY, POLICY.to_owned()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
        (header::REFERRER_POLICY, "no-referrer".to_owned()),
        (header::CACHE_CONTROL, "no-cache".to_owned()),
    ];
    (headers, bytes).into_response()
}
