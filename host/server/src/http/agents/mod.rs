//! `/v1/agents`: agents, and what hangs on them.
//!
//! - [`create`], [`read`], [`update`], [`delete`]: agents. [`query`]: which ones. [`view`],
//!   [`secret`]: one in an answer; `hanging`, [`relations`], [`client`]: what the answer carries of
//!   it. [`find`]: the one that a path names.
//! - [`blocks`], [`tools`], [`run`], [`identities`], [`archives`], [`archival`],
//!   [`folders`], [`files`]: what hangs on one. `approvals`: who decides that calls of a tool wait.
//! - [`file`]: one as a file, out and in.
//! - [`context`], [`prompt`]: what its model sees. [`refusal`]: what the engine refused. [`instance`]:
//!   what is not done to an agent of a project.

mod approvals;
pub(crate) mod archival;
pub(crate) mod archives;
pub(crate) mod blocks;
pub(crate) mod client;
pub(crate) mod context;
pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod file;
pub(crate) mod files;
pub(crate) mod find;
pub(crate) mod folders;
mod hanging;
pub(crate) mod identities;
pub(crate) mod instance;
pub(crate) mod prompt;
pub(crate) mod query;
pub(crate) mod read;
pub(crate) mod refusal;
pub(crate) mod relations;
pub(crate) mod run;
pub(crate) mod secret;
pub(crate) mod tools;
pub(crate) mod update;
pub(crate) mod view;

use utoipa_axum::router::UtoipaMethodRouter;

use super::{AppState, routes::routes};

/// The routes.
pub(crate) fn routes() -> Vec<UtoipaMethodRouter<AppState>> {
    vec![
        routes!(create::create, read::list),
        routes!(read::count),
        routes!(read::get, update::update, delete::delete),
        routes!(file::import::import),
        routes!(file::export::export, file::export::export_with_skills),
        routes!(prompt::reset),
        routes!(prompt::recompile),
        routes!(prompt::recompile_older),
        routes!(context::context),
        routes!(context::memory),
        routes!(blocks::list),
        routes!(blocks::get, blocks::update),
        routes!(blocks::attach),
        routes!(blocks::detach),
        routes!(tools::list),
        routes!(tools::attach),
        routes!(tools::detach),
        routes!(tools::approval),
        routes!(run::run),
        routes!(identities::attach),
        routes!(identities::detach),
        routes!(archives::attach),
        routes!(archives::detach),
        routes!(folders::list),
        routes!(folders::attach),
        routes!(folders::detach),
        routes!(folders::list_sources),
        routes!(folders::attach_source),
        routes!(folders::detach_source),
        routes!(files::list),
        routes!(files::open),
        routes!(files::close),
        routes!(files::close_all),
        routes!(archival::list, archival::create),
        routes!(archival::search),
        routes!(archival::delete),
    ]
}
