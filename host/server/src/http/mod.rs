//! The HTTP API: one file a resource, and what they share.
//!
//! - [`agents`], [`groups`], [`blocks`], [`archives`], [`identities`], [`tags`]: agents and what hangs on them, as
//!   clients of the V1 API know them. [`tools`]: their tools. [`missing`]: what of it is not there.
//! - [`folders`]: files that agents read.
//! - [`mcp_servers`]: where tools run that do not run here.
//! - [`sandbox_configs`]: what such clients set up for all tools from source.
//! - [`messages`], [`conversations`], [`chat_completions`]: what is sent to agents. [`runs`],
//!   [`jobs`], [`steps`]: what came of it. [`models`], [`providers`]: whom they ask. [`embeddings`]: what is
//!   kept to search by meaning. [`voice`]: what is gone.
//!   `internal`: other paths to the same.
//!   [`socket`]: agents over a WebSocket.
//! - [`health`], [`components`], [`call`], [`events`], [`grants`], [`credentials`],
//!   [`receipts`], [`metrics`], [`docs`]: routes.
//! - [`error`]: every refusal as data. [`json`], [`query`]: bodies and parameters.
//! - [`platform`]: people, their projects and the agents in them (`/api/v1`).
//! - [`auth`], [`scope`], [`observe`]: what every request passes. [`holder`]: what stays open after it.
//! - [`openapi`], [`schema`]: the document of all this, made from the code.

pub(crate) mod agents;
pub(crate) mod archives;
pub(crate) mod auth;
pub(crate) mod blocks;
pub(crate) mod call;
pub(crate) mod chat_completions;
pub(crate) mod components;
pub(crate) mod conversations;
pub(crate) mod credentials;
pub(crate) mod docs;
pub(crate) mod embeddings;
pub(crate) mod error;
pub(crate) mod events;
pub(crate) mod folders;
pub(crate) mod forwarded;
pub(crate) mod grants;
pub(crate) mod groups;
pub(crate) mod health;
pub(crate) mod holder;
pub(crate) mod identities;
mod internal;
pub(crate) mod jobs;
pub(crate) mod json;
pub(crate) mod mcp_servers;
pub(crate) mod messages;
pub(crate) mod metrics;
pub(crate) mod missing;
pub(crate) mod models;
pub(crate) mod observe;
pub(crate) mod openapi;
pub(crate) mod platform;
pub(crate) mod providers;
pub(crate) mod query;
pub(crate) mod receipts;
pub(crate) mod routes;
pub(crate) mod runs;
pub(crate) mod sandbox_configs;
pub(crate) mod schema;
pub(crate) mod scope;
pub(crate) mod socket;
pub(crate) mod spelling;
pub(crate) mod steps;
pub(crate) mod tags;
pub(crate) mod tools;
pub(crate) mod voice;

use std::sync::Arc;

use axum::{
    Router, middleware,
    response::{IntoResponse as _, Response},
};
use futures::{FutureExt as _, future::BoxFuture};
use http::Uri;
use tower_http::catch_panic::CatchPanicLayer;
use tracing::Instrument as _;
use utoipa_axum::router::OpenApiRouter;

use self::{error::Rejection, routes::routes};
use crate::{app::App, contract::Refusal};

/// What handlers get.
pub(crate) type AppState = Arc<App>;

/// All routes that the OpenAPI document describes.
fn documented() -> OpenApiRouter<AppState> {
    let contract = [
        agents::routes(),
        archives::routes(),
        blocks::routes(),
        chat_completions::routes(),
        conversations::routes(),
        embeddings::routes(),
        folders::routes(),
        folders::legacy::routes(),
        groups::routes(),
        health::routes(),
        identities::routes(),
        jobs::routes(),
        mcp_servers::routes(),
        messages::routes(),
        models::routes(),
        providers::routes(),
        runs::routes(),
        sandbox_configs::routes(),
        steps::routes(),
        tags::routes(),
        tools::routes(),
        platform::routes(),
    ];
    let router = OpenApiRouter::with_openapi(openapi::frame())
        .routes(routes!(components::push, components::list))
        .routes(routes!(components::get, components::delete))
        .routes(routes!(components::activate))
        .routes(routes!(components::diff))
        .routes(routes!(call::call))
        .routes(routes!(grants::create, grants::list))
        .routes(routes!(grants::get, grants::revoke))
        .routes(routes!(credentials::put, credentials::list))
        .routes(routes!(credentials::delete))
        .routes(routes!(receipts::list))
        .routes(routes!(receipts::get))
        .routes(routes!(metrics::metrics));
    let mut router = spelling::add(router, contract.into_iter().flatten());
    openapi::add_refusals(router.get_openapi_mut());
    router
}

/// The whole API.
pub(crate) fn router(app: AppState) -> Router {
    let (router, document) = documented().split_for_parts();
    let bare = router
        .merge(docs::routes(&document))
        .merge(messages::refusals())
        .merge(runs::refusals())
        .merge(tools::refusals())
        .merge(voice::routes())
        .merge(internal::routes())
        .fallback(no_such_route)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(CatchPanicLayer::custom(observe::panicked))
        .with_state(Arc::clone(&app));
    bare.clone()
        .layer(middleware::from_fn_with_state(
            (Arc::clone(&app), bare),
            auth::guard,
        ))
        .layer(middleware::from_fn_with_state(app, observe::observe))
}

/// Runs a change to its end even where the client goes away meanwhile, so that what was stored
/// and what is in memory never disagree.
async fn unbroken<T: Send + 'static>(
    change: impl Future<Output = Result<T, Rejection>> + Send + 'static,
) -> Result<T, Rejection> {
    in_a_task(change.boxed()).await?
}

/// As [`unbroken`], for routes of the contract.
async fn unbroken_contract<T: Send + 'static>(
    change: impl Future<Output = Result<T, Refusal>> + Send + 'static,
) -> Result<T, Refusal> {
    in_a_task(change.boxed()).await?
}

/// A task for each kind of answer instead of one for each change: the code of a task is compiled for its future.
async fn in_a_task<T: Send + 'static>(change: BoxFuture<'static, T>) -> Result<T, Rejection> {
    let change = tokio::spawn(scope::carried(change).in_current_span());
    change.await.map_err(|error| Rejection::host(&error))
}

async fn no_such_route(uri: Uri) -> Response {
    if is_native(uri.path()) {
        return Rejection::new(&error::NO_SUCH_ROUTE).into_response();
    }
    Refusal::not_found("Not Found").into_response()
}

async fn method_not_allowed(uri: Uri) -> Response {
    if is_native(uri.path()) {
        return Rejection::new(&error::METHOD_NOT_ALLOWED).into_response();
    }
    Refusal::method_not_allowed().into_response()
}

/// Whether a path belongs to this server's own API; below `/v1` the rest is the contract's, whose
/// clients know its words.
fn is_native(path: &str) -> bool {
    const OWN: [&str; 4] = ["components", "grants", "credentials", "receipts"];
    let Some(path) = path.strip_prefix("/v1/") else {
        return true;
    };
    OWN.contains(&path.split('/').next().unwrap_or_default())
}
