//! Agents that belong to a project of the platform: what `/v1` does not do to them.

use bulkhead_domain::id::AgentId;

use crate::{app::App, contract::Refusal};

/// Where what `/v1` refuses can be done.
const KEPT: &str = "The agent belongs to a project, where its history is kept: terminate it there, by \
                    DELETE /api/v1/projects/{project}/agents/{agent}.";
/// What is asked of its model or of a tool by hand would be in no sum of the project, and go on when the
/// agent is paused.
const COUNTED: &str = "The agent belongs to a project, where what it costs is counted: send it \
                       messages instead.";

/// Refuses to drop something of the history of an agent that belongs to a project.
pub(crate) async fn expect_not_kept(app: &App, id: AgentId) -> Result<(), Refusal> {
    expect_none(app, id, KEPT).await
}

/// Whether an agent belongs to a project.
pub(crate) async fn is_instance(app: &App, id: AgentId) -> Result<bool, Refusal> {
    Ok(app.store.instance_of(id).await?.is_some())
}

/// Refuses to ask the model or to call a tool of an agent that belongs to a project past its steps.
pub(crate) async fn expect_not_counted(app: &App, id: AgentId) -> Result<(), Refusal> {
    expect_none(app, id, COUNTED).await
}

async fn expect_none(app: &App, id: AgentId, text: &str) -> Result<(), Refusal> {
    match is_instance(app, id).await? {
        true => Err(Refusal::conflict(text)),
        false => Ok(()),
    }
}
