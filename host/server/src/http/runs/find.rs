//! The run that a path names.

use bulkhead_domain::{Run, id::RunId};

use crate::{app::App, contract::Refusal, http::missing};

/// The id of a run. The contract has another refusal for runs than for everything else.
pub(crate) fn id(text: &str) -> Result<RunId, Refusal> {
    text.parse().map_err(|_| {
        Refusal::bad_request(format!(
            "INVALID_ARGUMENT: Invalid run ID format: {text}. Expected format: 'run-<uuid4>'"
        ))
    })
}

/// The run with this id.
pub(crate) async fn run(app: &App, text: &str) -> Result<Run, Refusal> {
    let id = id(text)?;
    let run = app.store.run(&id).await?;
    run.ok_or_else(|| missing::object("Run", id))
}
