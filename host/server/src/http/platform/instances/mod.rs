//! The agents of projects. Each is an agent of `/v1` with the same id.
//!
//! - [`spawn`]: from a type to an agent; [`model`]: which model that means. [`read`]: lists and one.
//! - [`control`]: pausing, resuming, terminating. [`messages`], [`runs`]: what is said to them and what
//!   comes of it, by the handlers of `/v1`. [`metrics`]: what they did and cost.

pub(crate) mod control;
pub(crate) mod messages;
pub(crate) mod metrics;
pub(crate) mod model;
pub(crate) mod read;
pub(crate) mod runs;
pub(crate) mod spawn;

use utoipa_axum::router::UtoipaMethodRouter;

use crate::http::{AppState, routes::routes};

/// The routes.
pub(super) fn routes() -> Vec<UtoipaMethodRouter<AppState>> {
    vec![
        routes!(spawn::spawn, read::list),
        routes!(read::get, control::update, control::terminate),
        routes!(control::pause),
        routes!(control::resume),
        routes!(metrics::of_instance),
        routes!(metrics::of_project),
        routes!(messages::send, messages::list),
        routes!(messages::send_streaming),
        routes!(messages::send_later),
        routes!(messages::cancel),
        routes!(runs::list),
        routes!(runs::get),
        routes!(runs::stream),
    ]
}
