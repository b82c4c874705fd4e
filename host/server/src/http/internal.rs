//! Older paths of the V1 API's own consoles, to the same handlers as the paths that are documented.

use axum::{
    Json, Router,
    extract::State,
    routing::{delete, get, patch, post},
};
use bulkhead_store::AgentFilter;

use super::{AppState, agents, blocks, missing};
use crate::contract::{
    Parameters, Refusal,
    query::{FromQuery, Query},
};

/// The routes.
pub(crate) fn routes() -> Router<AppState> {
    let all_blocks = || get(blocks::read::list).post(blocks::create::create);
    Router::new()
        .route("/v1/_internal_agents/count", get(count))
        .route(
            "/v1/_internal_agents/{agent_id}/core-memory/blocks/{block_label}",
            patch(agents::blocks::update),
        )
        .route("/v1/_internal_blocks", all_blocks())
        .route("/v1/_internal_blocks/", all_blocks())
        .route(
            "/v1/_internal_blocks/{block_id}",
            delete(blocks::update::delete),
        )
        .route(
            "/v1/_internal_blocks/{block_id}/agents",
            get(blocks::read::agents),
        )
        .route("/v1/_internal_search/cache-warm", post(warm))
}

/// Nothing is searched by a service of its own.
async fn warm() -> Refusal {
    Refusal::bad_request("INVALID_ARGUMENT: Internal search cache warming is not supported.")
}

struct Counted {
    exclude_hidden: bool,
}

impl FromQuery for Counted {
    fn from_query(query: &mut Query) -> Self {
        Self {
            exclude_hidden: query.boolean("exclude_hidden").unwrap_or(true),
        }
    }
}

/// How many agents there are.
async fn count(
    State(app): State<AppState>,
    Parameters(counted): Parameters<Counted>,
) -> Result<Json<u64>, Refusal> {
    let filter = AgentFilter {
        show_hidden: !counted.exclude_hidden,
        ..AgentFilter::default()
    };
    let count = app.store.count_agents(&filter).await;
    count.map(Json).map_err(missing::stored)
}
