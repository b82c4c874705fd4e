//! Messages to agents, and what is stored of them.
//!
//! - [`send`], [`stream`], [`later`]: an answer as a whole, as events, and none at all. [`body`],
//!   [`input`], [`images`]: what a client sends. `answer`, `delta`: what it gets.
//! - [`events`]: an answer's events, from a run that goes on or, `reader`, from what [`background`]
//!   keeps of one.
//! - [`view`]: a stored message as clients see it. [`list`]: many.
//! - [`control`]: runs are cancelled, contexts made shorter. [`generate`]: a question by itself.
//!   [`preview`]: one that nobody asks.

pub(crate) mod answer;
pub(crate) mod background;
pub(crate) mod body;
pub(crate) mod control;
mod delta;
pub(crate) mod events;
pub(crate) mod generate;
pub(crate) mod images;
pub(crate) mod input;
pub(crate) mod later;
pub(crate) mod list;
pub(crate) mod preview;
mod reader;
pub(crate) mod send;
pub(crate) mod stream;
pub(crate) mod view;

use axum::{
    Router,
    routing::{patch, post},
};
use utoipa_axum::router::UtoipaMethodRouter;

use super::{AppState, routes::routes, socket};

/// The routes.
pub(crate) fn routes() -> Vec<UtoipaMethodRouter<AppState>> {
    vec![
        routes!(send::send, list::list),
        routes!(send::send_streaming),
        routes!(later::send),
        routes!(control::cancel),
        routes!(control::summarize),
        routes!(generate::generate),
        routes!(preview::of_agent),
        routes!(preview::of_conversation),
        routes!(socket::of_agent),
        routes!(list::list_all),
        routes!(list::get),
    ]
}

/// Routes that only say what there is not.
pub(crate) fn refusals() -> Router<AppState> {
    Router::new()
        .route(
            "/v1/agents/{agent_id}/messages/{message_id}",
            patch(control::modify),
        )
        .route(
            "/v1/groups/{group_id}/messages/{message_id}",
            patch(control::modify),
        )
        .route("/v1/agents/messages/search", post(control::search))
        .route("/v1/messages/search", post(control::search))
        .route("/v1/messages/search/", post(control::search))
}
