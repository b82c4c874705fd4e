//! `/v1/conversations`: further threads of messages of an agent, beside its own.
//!
//! - [`save`], [`fork`], [`read`]: conversations; `begin`: how they begin. [`messages`]: what is sent
//!   to one. [`history`]: what is stored of it. [`control`]: runs are cancelled, contexts made
//!   shorter, system messages made anew. [`which`]: the thread that a path names. [`view`]: one in an
//!   answer.

mod begin;
pub(crate) mod control;
pub(crate) mod fork;
pub(crate) mod history;
pub(crate) mod messages;
pub(crate) mod read;
pub(crate) mod save;
pub(crate) mod view;
pub(crate) mod which;

use utoipa_axum::router::UtoipaMethodRouter;

use super::{AppState, routes::routes, socket};

/// The routes.
pub(crate) fn routes() -> Vec<UtoipaMethodRouter<AppState>> {
    vec![
        routes!(read::list, save::create),
        routes!(read::get, save::update, save::delete),
        routes!(fork::fork),
        routes!(history::list, messages::send),
        routes!(control::cancel),
        routes!(control::compact),
        routes!(control::recompile),
        routes!(socket::of_conversation),
    ]
}
