//! What is stored of an agent at most.

/// Bytes of an agent's document: its system prompt, its tool rules and all else that its owner
/// wrote. Thirty such agents fill a page.
pub const AGENT_BYTES_MAX: usize = 1 << 20;
/// Messages in the context of an agent. The largest windows hold some ten thousands.
pub const MESSAGE_IDS_MAX: usize = 100_000;
/// Blocks of one agent. All of them stand in its system prompt.
pub const BLOCKS_MAX: usize = 256;
/// Tools of one agent. A model is offered each with every request.
pub const TOOLS_MAX: usize = 1000;
/// Tags of one agent. A person reads them.
pub const TAGS_MAX: usize = 256;
/// Secrets of one agent. Every call of its tools gets all of them.
pub const SECRETS_MAX: usize = 256;
/// Identities of one agent.
pub const IDENTITIES_MAX: usize = 256;
/// Agents whose relations are asked for at once: as many as one page holds.
pub const AGENTS_AT_ONCE_MAX: usize = crate::PAGE_MAX as usize;
