//! `/v1/identities`: to whom agents and blocks belong.
//!
//! - [`save`]: create, upsert, update, delete. [`read`]: one, many, how many, and what belongs to
//!   one. [`view`]: an identity in an answer.

pub(crate) mod read;
pub(crate) mod save;
pub(crate) mod view;

use utoipa_axum::router::UtoipaMethodRouter;

use super::{AppState, routes::routes};

/// The routes.
pub(crate) fn routes() -> Vec<UtoipaMethodRouter<AppState>> {
    vec![
        routes!(read::list, save::create, save::upsert),
        routes!(read::count),
        routes!(read::get, save::update, save::delete),
        routes!(save::properties),
        routes!(read::agents),
        routes!(read::blocks),
    ]
}
