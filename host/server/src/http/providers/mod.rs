//! `/v1/providers`: providers of models that people configure here. Their keys are sealed in the
//! database and in no answer.
//!
//! - [`save`]: made, changed, deleted. [`read`]: one and many. [`check`]: whether a key is good.
//! - [`view`]: one in an answer. `keyed`: bodies with keys.

pub(crate) mod check;
mod keyed;
pub(crate) mod read;
pub(crate) mod save;
pub(crate) mod view;

use utoipa_axum::router::UtoipaMethodRouter;

use super::{AppState, routes::routes};

/// The routes.
pub(crate) fn routes() -> Vec<UtoipaMethodRouter<AppState>> {
    vec![
        routes!(read::list, save::create),
        routes!(check::check),
        routes!(read::get, save::update, save::delete),
        routes!(check::check_stored),
        routes!(save::refresh),
    ]
}
