//! What all requests share.

use std::{collections::BTreeMap, sync::Arc};

use bulkhead_agent::Engine;
use bulkhead_egress::Egress;
use bulkhead_sandbox::{Sandbox, services::StateService};
use bulkhead_store::{ReceiptWriter, Store};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    agents::models::AllModels,
    calls::Calls,
    http::{auth::Access, messages::background::Recordings},
    metrics::Metrics,
    platform::Platform,
    registry::Registry,
    source::{packages::Packages, runtimes::Runtimes},
};

/// The parts of a running server.
pub(crate) struct App {
    pub(crate) access: Access,
    pub(crate) platform: Platform,
    pub(crate) sandbox: Sandbox,
    pub(crate) store: Store,
    pub(crate) receipts: ReceiptWriter,
    pub(crate) registry: Registry,
    pub(crate) runtimes: Runtimes,
    pub(crate) packages: Packages,
    pub(crate) calls: Calls,
    pub(crate) metrics: Arc<Metrics>,
    /// Behind the interface `state`.
    pub(crate) state: Arc<dyn StateService>,
    /// Variables for tools that are granted them.
    pub(crate) env: Arc<BTreeMap<String, String>>,
    /// Which models agents can ask.
    pub(crate) models: Arc<AllModels>,
    /// Runs agents.
    pub(crate) engine: Engine,
    /// Runs in the background whose events this server stores.
    pub(crate) recordings: Recordings,
    /// Told of files whose text is to be read.
    pub(crate) file_work: tokio::sync::Notify,
    /// What goes on when nobody waits for it any more, and ends before the server does.
    pub(crate) tasks: TaskTracker,
    /// The way out for what the server itself fetches for clients.
    pub(crate) egress: Egress,
    /// Speaks to MCP servers.
    pub(crate) mcp: bulkhead_mcp::Client,
    /// Schemas of their tools that were called.
    pub(crate) mcp_checks: Arc<crate::mcp::checks::Checks>,
    pub(crate) ids: crate::http::observe::RequestIds,
    /// Cancelled when the server begins to shut down: sockets say good-bye.
    pub(crate) closing: CancellationToken,
    /// How long a socket may stay without a word of its client.
    pub(crate) client_timeout: std::time::Duration,
}
