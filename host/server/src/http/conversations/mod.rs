//! `/v1/conversations`: further threads of messages of an agent, beside its own.
//!
//! - [`save`], [`read`]: conversations. [`messages`]: what is sent to one. [`control`]: runs are
//!   cancelled, contexts made shorter, system messages made anew. [`which`]: the thread that a path
//!   names. [`view`]: one in an answer.

pub(crate) mod control;
pub(crate) mod messages;
pub(crate) mod read;
pub(crate) mod save;
pub(crate) mod view;
pub(crate) mod which;

use utoipa_axum::{router::UtoipaMethodRouter, routes};

use super::AppState;

/// The routes.
pub(crate) fn routes() -> Vec<UtoipaMethodRouter<AppState>> {
    vec![
        routes!(read::list, save::create),
        routes!(read::get, save::update, save::delete),
        routes!(save::fork),
        routes!(messages::list, messages::send),
        routes!(control::cancel),
        routes!(control::compact),
        routes!(control::recompile),
    ]
}
