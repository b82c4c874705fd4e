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

mod configs;
mod local;
mod query;
mod variables;
mod view;

use axum::{
    Router,
    routing::{MethodRouter, get, patch, post},
};

use super::AppState;
use crate::contract::{Refusal, id};

/// The routes, each with and without a slash at the end.
pub(crate) fn routes() -> Router<AppState> {
    let routes: [(&str, MethodRouter<AppState>); 8] = [
        ("", get(configs::list).post(configs::save)),
        ("/e2b/default", post(configs::no_other)),
        ("/local", post(configs::save_local)),
        ("/local/default", post(configs::default_local)),
        // No virtual environment is there that could be made again.
        ("/local/recreate-venv", post(configs::default_local)),
        (
            "/{sandbox_config_id}",
            patch(configs::update).delete(configs::delete),
        ),
        (
            "/{sandbox_config_id}/environment-variable",
            get(variables::list).post(variables::save),
        ),
        (
            "/environment-variable/{env_var_id}",
            patch(variables::update).delete(variables::delete),
        ),
    ];
    let mut router = Router::new();
    for (path, methods) in routes {
        let path = format!("/v1/sandbox-config{path}");
        router = router
            .route(&format!("{path}/"), methods.clone())
            .route(&path, methods);
    }
    router
}

/// 404 in the words of the contract. `what`: its name for the thing.
fn not_found(what: &str, id: &str) -> Refusal {
    Refusal::not_found(format!(
        "{what} not found with id='['{id}']', access level in ['read'] for actor='{}'",
        id::DEFAULT_USER
    ))
}
