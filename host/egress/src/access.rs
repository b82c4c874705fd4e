//! What one call may do on the network.

use std::sync::Arc;

use bulkhead_policy::HttpRule;

use crate::{Allowance, Credential};

/// What one call may do: made by whoever starts the call, read by its [`Session`](crate::Session).
#[derive(Debug, Clone)]
pub struct Access {
    /// Requests that may leave, by any one of these.
    pub rules: Arc<[HttpRule]>,
    /// Credentials that the host may add. Those that were revealed to the guest belong here too,
    /// so that they are searched for.
    pub credentials: Arc<[Credential]>,
    /// Requests of the call, redirects included.
    pub requests: u64,
    /// Bytes of all request bodies.
    pub request_bytes: u64,
    /// Bytes of all answers' bodies.
    pub response_bytes: u64,
    /// What is left to the call that made this one; both spend it.
    pub within: Option<Allowance>,
}

impl Access {
    /// No access at all.
    pub fn none() -> Self {
        Self {
            rules: Arc::new([]),
            credentials: Arc::new([]),
            requests: 0,
            request_bytes: 0,
            response_bytes: 0,
            within: None,
        }
    }
}
