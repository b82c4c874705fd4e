//! `/v1/archives`: collections of passages. `/v1/passages`: passages of all of them.
//!
//! - [`save`], [`read`]: archives. [`passages`]: what is in one. [`search`]: by text, in all.
//! - [`view`]: archives and passages in answers.

pub(crate) mod passages;
pub(crate) mod read;
pub(crate) mod save;
pub(crate) mod search;
pub(crate) mod view;

use bulkhead_domain::id::ArchiveId;
use utoipa_axum::router::UtoipaMethodRouter;

use super::{AppState, missing, routes::routes};
use crate::contract::Refusal;

/// The routes.
pub(crate) fn routes() -> Vec<UtoipaMethodRouter<AppState>> {
    vec![
        routes!(read::list, save::create),
        routes!(read::get, save::update, save::delete),
        routes!(read::agents),
        routes!(passages::create),
        routes!(passages::create_many),
        routes!(passages::delete),
        routes!(search::search),
    ]
}

/// 404 for an archive.
pub(crate) fn not_found(id: ArchiveId) -> Refusal {
    missing::object("Archive", id)
}
