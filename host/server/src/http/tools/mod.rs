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

use axum::{
    Router,
    routing::{get, post},
};

use super::AppState;

/// What the OpenAPI document does not describe: the other spelling of paths, since clients and people
/// use both, and search, which is refused.
pub(crate) fn routes() -> Router<AppState> {
    Router::new()
        .route(
            "/v1/tools",
            get(list::list).post(save::upsert).put(save::upsert),
        )
        .route("/v1/tools/count/", get(list::count))
        .route("/v1/tools/run/", post(run::run))
        .route("/v1/tools/search", post(list::search))
}
