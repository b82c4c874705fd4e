//! What stands behind the interfaces of a tool's sandbox that reach the agent: its memory, its
//! archive and conversation, its files, other agents. Grants were checked before anything here is asked.

mod agents;
mod files;
mod memory;
mod recall;
mod waits;

pub(crate) use agents::OtherAgents;
pub(crate) use files::AgentFiles;
pub(crate) use memory::AgentMemory;
pub(crate) use recall::AgentRecall;
pub(crate) use waits::Waits;

/// A failure of the database, for a guest: what exactly happened is for the log alone.
fn unavailable(error: &bulkhead_store::StoreError) -> String {
    tracing::warn!(%error, "an interface of a tool could not reach the database");
    "the database is not available now".to_owned()
}
