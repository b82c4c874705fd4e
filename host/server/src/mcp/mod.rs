//! Tools that MCP servers run: found there, stored beside all others, and called from here.
//!
//! Who registers a server allows requests to its origin; nothing else does. Private addresses are for
//! whoever runs this server to open ([`ranges`]).
//!
//! - [`endpoint`]: a stored server as one that can be asked. [`schema`]: what a server says of a tool
//!   as a tool of this server. [`sync`]: the tools of a server as they are now. [`call`]: a call,
//!   with its receipt.

pub(crate) mod call;
pub(crate) mod endpoint;
pub(crate) mod schema;
pub(crate) mod sync;

use bulkhead_policy::Cidr;

/// Ranges of addresses of this machine.
const LOOPBACK: [&str; 2] = ["127.0.0.0/8", "::1/128"];

/// Ranges of private addresses that MCP servers may have. Where nobody says: those of this machine,
/// if whoever can ask this server is on it anyway, which is so without an access token.
pub(crate) fn ranges(configured: Option<&[Cidr]>, has_token: bool) -> Vec<Cidr> {
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
