//! How long things may take, and where servers may be.

use std::time::Duration;

use crate::PrivateRange;

/// Until a server was greeted and has answered: it may have to wake up first.
pub(crate) const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
/// Until a server has listed its tools, the greeting included; a person waits for it.
pub(crate) const DEFAULT_LIST_TIMEOUT: Duration = Duration::from_secs(40);
/// Until a call has ended, as tools from source have it.
pub(crate) const DEFAULT_CALL_TIMEOUT: Duration = Duration::from_secs(180);
/// Servers hold memory for each session; a conversation with pauses of minutes keeps its own.
pub(crate) const DEFAULT_SESSION_IDLE: Duration = Duration::from_secs(600);

/// How a client speaks to servers.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Until a server was greeted and has answered.
    pub connect_timeout: Duration,
    /// Until a server has listed its tools, the greeting included.
    pub list_timeout: Duration,
    /// Until a call has ended, the greeting included.
    pub call_timeout: Duration,
    /// How long a session is kept that nobody uses; it is ended then.
    pub session_idle: Duration,
    /// Addresses that are not public and may have servers.
    pub private: Vec<PrivateRange>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            connect_timeout: DEFAULT_CONNECT_TIMEOUT,
            list_timeout: DEFAULT_LIST_TIMEOUT,
            call_timeout: DEFAULT_CALL_TIMEOUT,
            session_idle: DEFAULT_SESSION_IDLE,
            private: Vec::new(),
        }
    }
}
