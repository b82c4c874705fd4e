//! Memory blocks: labelled texts that stand in the system prompts of agents, one block in those
//! of many where it is shared.
//!
//! - `row`: a block as a row; `write`: one block by its id; `filter`: lists and counts;
//!   `history`: the values that it had.
//! - `attach`: the blocks of an agent; `memory`: what an agent's tools write.
//!
//! Whoever changes a block or attaches it locks its row, before those of agents. So the label in
//! `agent_blocks` is always that of the block, and an agent has each label once.

mod attach;
mod filter;
mod history;
mod memory;
mod row;
mod write;

pub(crate) use attach::label_taken;
pub use filter::BlockFilter;
pub use history::HISTORY_MAX;
pub use row::expect_storable;
pub(crate) use row::{COLUMNS, insert, record};

/// Bytes of a block's value. It stands in a prompt: what is larger by far than a model's context
/// is a mistake.
pub const BLOCK_VALUE_MAX: usize = 1 << 20;
/// Bytes of all of a block but its value.
pub const BLOCK_BYTES_MAX: usize = 256 << 10;
/// Tags of one block. A person reads them.
pub const BLOCK_TAGS_MAX: usize = 256;
/// Blocks that are made at once.
pub const BLOCKS_AT_ONCE_MAX: usize = 1000;
