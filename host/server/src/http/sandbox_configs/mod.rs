//! `/v1/sandbox-config`: what clients of the V1 API set up for all tools from source.
//!
//! This server has one sandbox, which clients know as the local one; a configuration of another
//! kind is refused. Its fields are kept for clients: a sandbox without folders and virtual
//! environments has no other use for them. Its variables are what tools find in their environment.
//!
//! The value of a variable is in the answers, since the contract requires it there: a client that
//! got a mask instead would write the mask back. At rest it is sealed, and logs never hold it.
//!
//! - [`configs`]: configurations. [`variables`]: their variables.
//! - [`local`]: the body of a configuration. [`query`]: which page of a list. [`view`]: answers.

pub(crate) mod configs;
mod local;
mod query;
pub(crate) mod variables;
mod view;

use axum::{
    Router,
    routing::{get, patch, post},
};

use super::AppState;
use crate::contract::{Refusal, id};

/// What the OpenAPI document does not describe: the other spelling of every path, since clients and
/// people use both.
pub(crate) fn routes() -> Router<AppState> {
    const VARIABLES: &str = "/v1/sandbox-config/{sandbox_config_id}/environment-variable/";
    Router::new()
        .route("/v1/sandbox-config", get(configs::list).post(configs::save))
        .route(
            "/v1/sandbox-config/e2b/default/",
            post(configs::default_e2b),
        )
        .route("/v1/sandbox-config/local/", post(configs::save_local))
        .route(
            "/v1/sandbox-config/local/default/",
            post(configs::default_local),
        )
        .route(
            "/v1/sandbox-config/local/recreate-venv/",
            post(configs::recreate_venv),
        )
        .route(
            "/v1/sandbox-config/{sandbox_config_id}/",
            patch(configs::update).delete(configs::delete),
        )
        .route(VARIABLES, get(variables::list).post(variables::save))
        .route(
            "/v1/sandbox-config/environment-variable/{env_var_id}/",
            patch(variables::update).delete(variables::delete),
        )
}

/// 404 in the words of the contract. `what`: its name for the thing.
fn not_found(what: &str, id: &str) -> Refusal {
    Refusal::not_found(format!(
        "{what} not found with id='['{id}']', access level in ['read'] for actor='{}'",
        id::DEFAULT_USER
    ))
}
