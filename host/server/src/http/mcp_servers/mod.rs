//! `/v1/mcp-servers`: servers of tools that speak MCP. Their tokens and headers are sealed in the
//! database and in no answer.
//!
//! - [`save`]: made, changed, deleted, listed anew. [`read`]: one and many. [`tools`]: their tools.
//! - [`legacy`]: the older routes to the same, below `/v1/tools/mcp`.
//! - [`view`]: one in an answer. [`config`]: what a client says of one.

pub(crate) mod config;
pub(crate) mod legacy;
pub(crate) mod read;
pub(crate) mod save;
pub(crate) mod tools;
pub(crate) mod view;

use utoipa_axum::router::UtoipaMethodRouter;

use super::{AppState, routes::routes};

/// The routes.
pub(crate) fn routes() -> Vec<UtoipaMethodRouter<AppState>> {
    let mut routes = vec![
        routes!(read::list, save::create),
        routes!(read::get, save::update, save::delete),
        routes!(save::refresh),
        routes!(tools::list),
        routes!(tools::get),
        routes!(tools::run),
    ];
    routes.extend(legacy::routes());
    routes
}
