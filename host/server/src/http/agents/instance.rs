//! Agents that belong to a project of the platform: what `/v1` does not do to them.

use bulkhead_domain::id::AgentId;

use crate::{app::App, contract::Refusal};

/// Where what `/v1` refuses can be done.
const KEPT: &str = "The agent belongs to a project, where its history is kept: terminate it there, by \
                    DELETE /api/v1/projects/{project}/agents/{agent}.";
/// What is asked of its model alone would be in no sum of the project.
const COUNTED: &str = "The agent belongs to a project, where what it costs is counted: send it \
                       messages instead.";

/// Refuses to drop something of the history of an agent that belongs to a project.
pub(crate) async fn expect_not_kept(app: &App, id: AgentId) -> Result<(), Refusal> {
    expect_none(app, id, KEPT).await
}

/// Refuses to ask the model of an agent that belongs to a project past its steps.
pub(crate) async fn expect_not_counted(app: &App, id: AgentId) -> Result<(), Refusal> {
    expect_none(app, id, COUNTED).await
}

async fn expect_none(app: &App, id: AgentId, text: &str) -> Result<(), Refusal> {
    match app.store.instance_of(id).await? {
        Some(_) => Err(Refusal::conflict(text)),
        None => Ok(()),
    }
}
