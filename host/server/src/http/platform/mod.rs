//! The platform (`/api/v1`): people who sign in, types of agents, projects, and the agents in them.
//!
//! - [`auth`], [`me`], [`users`]: accounts. [`agent_types`], [`projects`], [`members`]: what superusers
//!   and owners decide. [`instances`]: agents in projects.
//! - [`caller`]: who asks, and what they are to what they ask for; who may do what stands in the crate
//!   `access`. [`page`]: lists. [`fields`]: what texts may be.

pub(crate) mod agent_types;
pub(crate) mod auth;
pub(crate) mod caller;
mod fields;
pub(crate) mod instances;
pub(crate) mod me;
pub(crate) mod members;
pub(crate) mod page;
pub(crate) mod projects;
pub(crate) mod users;

use utoipa_axum::router::UtoipaMethodRouter;

use super::{AppState, routes::routes};

/// What all paths of the platform begin with.
pub(crate) const ROOT: &str = "/api/v1/";

/// The routes.
pub(crate) fn routes() -> Vec<UtoipaMethodRouter<AppState>> {
    let mut all = vec![
        routes!(auth::register::register),
        routes!(auth::sign_in::login),
        routes!(auth::sign_in::refresh),
        routes!(auth::sign_in::logout),
        routes!(me::get, me::update),
        routes!(me::change_password),
        routes!(users::list),
        routes!(users::get, users::update),
        routes!(agent_types::create, agent_types::list),
        routes!(agent_types::get_by_slug),
        routes!(agent_types::get, agent_types::update),
        routes!(projects::create, projects::list),
        routes!(projects::get, projects::update, projects::delete),
        routes!(members::list),
        routes!(members::put, members::remove),
    ];
    all.extend(instances::routes());
    all
}
