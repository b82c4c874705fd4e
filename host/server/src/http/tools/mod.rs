//! `/v1/tools`: tools as the clients of the V1 API know them.
//!
//! - [`call`]: calling a tool of the list.
//! - [`save`]: create, upsert, update, delete. [`list`]: one, many, how many. [`query`]: which ones.
//! - [`run`]: from source, without saving. [`view`]: a tool in an answer.

pub(crate) mod call;
pub(crate) mod list;
pub(crate) mod query;
pub(crate) mod run;
pub(crate) mod save;
pub(crate) mod view;

use axum::{Router, routing::post};
use utoipa_axum::router::UtoipaMethodRouter;

use super::{AppState, routes::routes};

/// The routes.
pub(crate) fn routes() -> Vec<UtoipaMethodRouter<AppState>> {
    vec![
        routes!(list::list, save::create, save::upsert),
        routes!(list::count),
        routes!(list::add_base_tools),
        routes!(run::run),
        routes!(run::generate_schema),
        routes!(list::get, save::update, save::delete),
        routes!(call::call),
    ]
}

/// Search, which is refused: the OpenAPI document does not describe it.
pub(crate) fn refusals() -> Router<AppState> {
    Router::new()
        .route("/v1/tools/search", post(list::search))
        .route("/latest/tools/search", post(list::search))
}
