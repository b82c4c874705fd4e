//! `/v1/groups`: agents that work together.
//!
//! - [`save`]: create, update, delete. [`read`]: one, many, how many, and those of an
//!   agent. [`view`]: a group in an answer. [`messages`], [`blocks`]: what its agents have for it.

pub(crate) mod blocks;
pub(crate) mod messages;
pub(crate) mod read;
pub(crate) mod save;
pub(crate) mod view;

use utoipa_axum::router::UtoipaMethodRouter;

use super::{AppState, routes::routes};

/// The routes.
pub(crate) fn routes() -> Vec<UtoipaMethodRouter<AppState>> {
    vec![
        routes!(read::list, save::create),
        routes!(read::count),
        routes!(read::get, save::update, save::delete),
        routes!(read::of_agent),
        routes!(messages::list),
        routes!(blocks::attach),
        routes!(blocks::detach),
    ]
}
