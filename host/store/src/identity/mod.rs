//! Identities: the persons, organisations and others that agents and blocks belong to.
//!
//! - `row`: an identity as a row, and what belongs to it; `write`: one identity; `filter`: lists
//!   and counts; `attach`: one agent or block of it.
//!
//! Whoever changes an identity locks its row first.

mod attach;
mod filter;
mod row;
mod write;

use bulkhead_domain::id::{AgentId, BlockId};

pub use filter::IdentityFilter;
pub(crate) use row::with_ids;

/// Bytes of an identity's document, its properties and names.
pub const IDENTITY_BYTES_MAX: usize = 256 << 10;
/// Agents, and blocks, that an identity lists, the first that came. The others are in the lists
/// of agents and blocks.
pub const LINKS_SHOWN: i64 = 1000;

/// What is to belong to an identity: exactly what is listed; what is none stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IdentityRelations {
    /// Its agents; [`LINKS_SHOWN`] at most are named at once.
    pub agent_ids: Option<Vec<AgentId>>,
    /// Its blocks; [`LINKS_SHOWN`] at most are named at once.
    pub block_ids: Option<Vec<BlockId>>,
}
