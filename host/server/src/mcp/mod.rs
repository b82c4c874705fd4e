//! Tools that MCP servers run: found there, stored beside all others, and called from here.
//!
//! Who registers a server allows requests to its origin; nothing else does. Private addresses are for
//! whoever runs this server to open ([`ranges`]).
//!
//! - [`endpoint`]: a stored server as one that can be asked. [`judge`]: whether the schemas of its
//!   tools can be used. [`schema`]: what it says of a tool as a tool of this server. [`sync`]: its
//!   tools as they are now.
//! - [`call`]: a call. [`arguments`]: what is checked of it before, against schemas that are kept
//!   ([`checks`]). [`image`]: images of its result. [`receipt`]: its receipt.

mod arguments;
pub(crate) mod call;
pub(crate) mod checks;
pub(crate) mod endpoint;
mod image;
pub(crate) mod judge;
mod receipt;
pub(crate) mod schema;
pub(crate) mod sync;

use bulkhead_mcp::PrivateRange;

/// Ranges of addresses of this machine.
const LOOPBACK: [&str; 2] = ["127.0.0.0/8", "::1/128"];

/// Private addresses that MCP servers may have. Where nobody says: those of this machine,
/// if whoever can ask this server is on it anyway, which is so without an access token.
pub(crate) fn ranges(configured: Option<&[PrivateRange]>, has_token: bool) -> Vec<PrivateRange> {
    match configured {
        Some(ranges) => ranges.to_vec(),
        None if has_token => Vec::new(),
        None => LOOPBACK
            .iter()
            .filter_map(|range| range.parse().ok())
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_open_where_only_this_machine_can_ask() {
        assert_eq!(ranges(None, false).len(), LOOPBACK.len());
        assert_eq!(ranges(None, true), []);
        assert_eq!(ranges(Some(&[]), false), []);
    }
}
