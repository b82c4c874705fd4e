//! A document as agents of this server.
//!
//! Everything is checked before anything is written: the document's shape and references, what this
//! server can't hold, models, tools with their source, names and settings. Then it is written: tools
//! first, then blocks and folders, then the agents, each with its history in one transaction, then groups. Where that fails or
//! takes too long, what was written is taken back; a server that is killed meanwhile leaves it.
//!
//! - [`options`]: what a client says beside the document. `unheld`: what this server can't hold.
//! - `folders`: folders and their files. `tools`: which tools are there and which are saved. `history`: messages under ids of this
//!   server. `plan`: all that is to be written. `write`: writes it, or nothing.

mod folders;
mod history;
pub(crate) mod options;
mod plan;
mod tools;
mod unheld;
mod write;

use std::time::Duration;

use bulkhead_domain::id::AgentId;
use bytes::Bytes;
use tokio::time::Instant;

use self::options::Options;
use super::{read, references};
use crate::{
    app::App,
    contract::Refusal,
    http::error::{self, Rejection},
};

/// How long an import may take once its file is read: a few tools fetch their packages meanwhile.
const TIME_MAX: Duration = Duration::from_secs(300);

/// Makes the agents of a file, in its order; all of them with all that belongs to them, or nothing.
///
/// 400 with everything that is wrong with the file, or with what this server can't hold of it; 404
/// where a model that the client names is not there; 503 where it takes longer than [`TIME_MAX`].
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
    unheld::check(app, &document).await?;
    let deadline = Instant::now() + TIME_MAX;
    // Nothing is written by then, so that it can end anywhere.
    let plan = tokio::time::timeout_at(deadline, plan::plan(app, document, &options));
    let plan = plan.await.map_err(|_| late())??;
    write::write(app, plan, deadline).await
}

/// 503 for an import that took too long.
fn late() -> Refusal {
    let seconds = TIME_MAX.as_secs();
    let text = format!(
        "the import took longer than {seconds} s, and nothing of it was kept; where its tools have \
         many pip_requirements, save some of them before, and import the file with \
         override_existing_tools=false"
    );
    Rejection::with(&error::OVERLOADED, text).into()
}
