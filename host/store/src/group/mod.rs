//! Groups of agents, and what follows from one kind of them: agents that look after another one's
//! memory (sleeptime).
//!
//! - `row`: a group as a row, and what belongs to it; `write`: one group; `filter`: lists and counts.
//! - `pair`: an agent with the one that looks after its memory; `follow`: what that one has in common
//!   with it; `turn`: when it is its turn. `blocks`: what all agents of a group have.
//!
//! Whoever needs agents and a group locks the agents first, and whoever needs several agents by id.

mod blocks;
mod filter;
mod follow;
mod pair;
mod row;
mod turn;
mod write;

use bulkhead_domain::id::{AgentId, BlockId};

pub use filter::GroupFilter;
pub(crate) use follow::{lock_with_owned, mirror};
pub use pair::NewSleeptime;
pub(crate) use pair::insert_pair;
pub use turn::SleeptimeTurn;
pub(crate) use turn::count_turn;

/// Bytes of a group's document: its description and who leads it.
pub const GROUP_BYTES_MAX: usize = 256 << 10;
/// Agents, and blocks, of one group. Each agent may get a run at once.
pub const MEMBERS_MAX: usize = 50;

/// What is to belong to a group: exactly what is listed; what is none stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GroupRelations {
    /// Its agents, in order; [`MEMBERS_MAX`] at most.
    pub agent_ids: Option<Vec<AgentId>>,
    /// The blocks that they share, as many at most.
    pub shared_block_ids: Option<Vec<BlockId>>,
}
