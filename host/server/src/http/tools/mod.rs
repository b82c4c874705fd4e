//! `/v1/tools`: tools as the clients of the V1 API know them.
//!
//! - [`call`]: calling a tool of the list.
//! - [`save`]: create, upsert, update, delete. [`list`]: one, many, how many. [`run`]: from source,
//!   without saving. [`view`]: a tool in an answer.

mod call;
mod list;
mod run;
mod save;
mod view;

use axum::{
    Router,
    routing::{get, post},
};

use super::AppState;

/// The routes. The contract names each with a slash at the end; both spellings are answered.
pub(crate) fn routes() -> Router<AppState> {
    let all = get(list::list).post(save::upsert).put(save::upsert);
    Router::new()
        .route("/v1/tools", all.clone())
        .route("/v1/tools/", all)
        .route("/v1/tools/count", get(list::count))
        .route("/v1/tools/count/", get(list::count))
        .route("/v1/tools/run", post(run::run))
        .route("/v1/tools/run/", post(run::run))
        .route("/v1/tools/generate-schema", post(run::generate_schema))
        .route("/v1/tools/search", post(list::search))
        .route("/v1/tools/add-base-tools", post(list::add_base_tools))
        .route("/v1/tools/{tool_id}/call", post(call::call))
        .route(
            "/v1/tools/{tool_id}",
            get(list::get).patch(save::update).delete(save::delete),
        )
}
