//! `/v1/folders`: files that agents read.
//!
//! - [`save`], [`read`]: folders. [`files`], [`upload`], `form`: what is in one. `kind`: which files
//!   this server takes. [`passages`]: what is searched. [`legacy`]: the older name of it all.
//! - [`view`]: folders and files in answers. `find`: the one that a path names.

pub(crate) mod files;
mod find;
mod form;
mod kind;
pub(crate) mod legacy;
pub(crate) mod passages;
pub(crate) mod read;
pub(crate) mod save;
pub(crate) mod upload;
pub(crate) mod view;

use bulkhead_domain::id::FolderId;
use utoipa_axum::router::UtoipaMethodRouter;

use super::{AppState, missing, routes::routes};
use crate::contract::Refusal;

/// The routes.
pub(crate) fn routes() -> Vec<UtoipaMethodRouter<AppState>> {
    vec![
        routes!(read::list, save::create),
        routes!(read::count),
        routes!(read::metadata),
        routes!(read::by_name),
        routes!(read::get, save::update, save::delete),
        routes!(read::agents),
        routes!(files::list),
        routes!(files::get),
        routes!(files::delete),
        routes!(upload::upload),
        routes!(passages::list),
    ]
}

/// 404 for a folder.
pub(crate) fn not_found(id: FolderId) -> Refusal {
    missing::object("Source", id)
}
