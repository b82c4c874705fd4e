//! `/v1/runs`: what each request to an agent did.
//!
//! - [`list`]: many. [`one`]: one, its messages, steps, usage and metrics. [`find`]: the one that a
//!   path names. [`stream`]: what one in the background tells. [`view`]: one in an answer. [`work`]:
//!   many by what they did.

pub(crate) mod find;
pub(crate) mod list;
pub(crate) mod one;
pub(crate) mod stream;
pub(crate) mod view;
pub(crate) mod work;

use axum::{Router, routing::get};
use utoipa_axum::router::UtoipaMethodRouter;

use super::{AppState, routes::routes};

/// The routes.
pub(crate) fn routes() -> Vec<UtoipaMethodRouter<AppState>> {
    vec![
        routes!(list::list),
        routes!(list::active),
        routes!(work::list),
        routes!(one::get, one::delete),
        routes!(one::messages),
        routes!(one::steps),
        routes!(one::usage),
        routes!(one::metrics),
        routes!(stream::of_run),
        routes!(stream::of_conversation),
    ]
}

/// Routes that only say what there is not.
pub(crate) fn refusals() -> Router<AppState> {
    Router::new().route("/v1/runs/{run_id}/trace", get(one::trace))
}
