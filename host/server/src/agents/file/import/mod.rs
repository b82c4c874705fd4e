//! A document as agents of this server.
//!
//! Everything is checked before anything is written: the document's shape and references, what this
//! server can't hold, models, tools with their source, names and settings. Then it is written: tools
//! first, then blocks, then the agents, each with its history in one transaction. Where that fails,
//! what was written is taken back.
//!
//! - [`options`]: what a client says beside the document. `unheld`: what this server can't hold.
//! - `tools`: which tools are there and which are saved. `history`: messages under ids of this
//!   server. `plan`: all that is to be written. `write`: writes it, or nothing.

mod history;
pub(crate) mod options;
mod plan;
mod tools;
mod unheld;
mod write;

use bulkhead_domain::id::AgentId;
use bytes::Bytes;

use self::options::Options;
use super::{read, references};
use crate::{app::App, contract::Refusal, http::error::Rejection};

/// Makes the agents of a file, in its order; all of them with all that belongs to them, or nothing.
///
/// 400 with everything that is wrong with the file, or with what this server can't hold of it; 404
/// where a model that the client names is not there.
pub(crate) async fn import(
    app: &App,
    file: Bytes,
    options: Options,
) -> Result<Vec<AgentId>, Refusal> {
    // Parsing as much as a file may be takes long: not on a thread that others wait for.
    let read = tokio::task::spawn_blocking(move || {
        let document = read::read(&file)?;
        references::check(&document)?;
        Ok::<_, Refusal>(document)
    });
    let document = read.await.map_err(|error| Rejection::host(&error))??;
    unheld::check(&document)?;
    let plan = plan::plan(app, document, &options).await?;
    write::write(app, plan).await
}
