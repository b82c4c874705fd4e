//! `/v1/blocks`: memory blocks, each by itself.
//!
//! - [`create`], [`read`], [`update`], [`history`]: the routes. [`identities`]: to whom a block belongs.
//! - [`query`]: which blocks of a list. [`view`]: a block in an answer.

pub(crate) mod create;
pub(crate) mod history;
pub(crate) mod identities;
pub(crate) mod query;
pub(crate) mod read;
pub(crate) mod update;
pub(crate) mod view;

use utoipa_axum::router::UtoipaMethodRouter;

use super::{AppState, routes::routes};

/// The routes.
pub(crate) fn routes() -> Vec<UtoipaMethodRouter<AppState>> {
    vec![
        routes!(create::create, read::list),
        routes!(read::count),
        routes!(read::get, update::update, update::delete),
        routes!(read::agents),
        routes!(history::history),
        routes!(identities::attach),
        routes!(identities::detach),
    ]
}
