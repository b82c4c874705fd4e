//! What is stored of a type of agents at most.

/// Bytes of all of it: a prompt of 200,000 characters of four bytes, and the rest. A page of a hundred
/// of the largest would be 100 MiB; people write some kilobytes.
pub const AGENT_TYPE_BYTES_MAX: usize = 1 << 20;
/// Words for what it is good at. A person reads them.
pub const EXPERTISE_MAX: usize = 100;
/// Models that are tried one after the other.
pub const FALLBACK_MODELS_MAX: usize = 16;
/// MCP servers; each brings many tools.
pub const MCP_SERVERS_MAX: usize = 64;
