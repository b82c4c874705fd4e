//! What one process has once.

use std::{fmt, sync::Arc, time::Duration};

use rustls::pki_types::CertificateDer;

use crate::{Resolver, SystemResolver};

/// Long enough for a far server, short enough that a dead address does not eat a call's time.
pub const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// A buffered request that names no time of its own; a chat's patience.
pub const DEFAULT_FETCH_TIMEOUT: Duration = Duration::from_secs(30);
/// What browsers allow is 20; an honest chain has two or three.
pub const DEFAULT_MAX_REDIRECTS: usize = 10;

/// How requests leave, for all calls of a process.
#[derive(Clone)]
pub struct Settings {
    /// Turns names into addresses.
    pub resolver: Arc<dyn Resolver>,
    /// What `user-agent` says where the guest does not.
    pub user_agent: String,
    /// Resolving, connecting and TLS together.
    pub connect_timeout: Duration,
    /// All of a buffered request, redirects and body included, where it names no time of its own.
    pub fetch_timeout: Duration,
    /// Redirects that a buffered request follows.
    pub max_redirects: usize,
    /// Certificate authorities to trust beside Mozilla's.
    pub extra_roots: Vec<CertificateDer<'static>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            resolver: Arc::new(SystemResolver),
            user_agent: concat!("bulkhead/", env!("CARGO_PKG_VERSION")).to_owned(),
            connect_timeout: DEFAULT_CONNECT_TIMEOUT,
            fetch_timeout: DEFAULT_FETCH_TIMEOUT,
            max_redirects: DEFAULT_MAX_REDIRECTS,
            extra_roots: Vec::new(),
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("user_agent", &self.user_agent)
            .field("connect_timeout", &self.connect_timeout)
            .field("fetch_timeout", &self.fetch_timeout)
            .field("max_redirects", &self.max_redirects)
            .field("extra_roots", &self.extra_roots.len())
            .finish_non_exhaustive()
    }
}
