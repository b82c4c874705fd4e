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

use utoipa_axum::router::UtoipaMethodRouter;

use super::{AppState, routes::routes};
use crate::contract::{Refusal, id};

/// The routes.
pub(crate) fn routes() -> Vec<UtoipaMethodRouter<AppState>> {
    vec![
        routes!(configs::list, configs::save),
        routes!(configs::default_e2b),
        routes!(configs::save_local),
        routes!(configs::default_local),
        routes!(configs::recreate_venv),
        routes!(configs::update, configs::delete),
        routes!(variables::list, variables::save),
        routes!(variables::update, variables::delete),
    ]
}

/// 404 in the words of the contract. `what`: its name for the thing.
fn not_found(what: &str, id: &str) -> Refusal {
    Refusal::not_found(format!(
        "{what} not found with id='['{id}']', access level in ['read'] for actor='{}'",
        id::DEFAULT_USER
    ))
}
