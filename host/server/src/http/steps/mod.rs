//! `/v1/steps`: each call of a model and the tools that it called.
//!
//! - [`list`]: many. [`one`]: one, and what belongs to it. [`view`]: one in an answer.

pub(crate) mod list;
pub(crate) mod one;
pub(crate) mod view;

use utoipa_axum::router::UtoipaMethodRouter;

use super::{AppState, routes::routes};

/// The routes.
pub(crate) fn routes() -> Vec<UtoipaMethodRouter<AppState>> {
    vec![
        routes!(list::list),
        routes!(one::get),
        routes!(one::messages),
        routes!(one::receipts),
        routes!(one::metrics),
        routes!(one::trace),
        routes!(one::trace_older),
        routes!(one::feedback),
        routes!(one::transaction),
    ]
}
