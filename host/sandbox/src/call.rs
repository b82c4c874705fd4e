//! What goes into a call.

use std::{fmt, sync::Arc};

use bulkhead_policy::Limits;
use tokio_util::sync::CancellationToken;

use crate::{Authority, EventSink, Lineage, Services};

/// One call of a tool. [`Call::new`] gives a call without any capability.
#[derive(Clone)]
pub struct Call {
    /// The tool's name.
    pub tool: String,
    /// The input as JSON text; the guest of a native component gets exactly this text.
    pub input: Arc<str>,
    /// What the call may do, made by [`Authority::for_tool`] and shared between calls.
    pub authority: Arc<Authority>,
    /// The call's limits, clamped to the sandbox's ceiling.
    pub limits: Limits,
    /// The parts of the host behind the interfaces that reach beyond the sandbox.
    pub services: Services,
    /// The agent on whose behalf the call is made.
    pub agent_id: Option<String>,
    /// Equal across retries of one logical call; none for a new one.
    pub idempotency_key: Option<String>,
    /// Gets progress, partial output and log lines while the call runs.
    pub events: Option<EventSink>,
    /// Cancels the call at any await; the guest stops within milliseconds.
    pub cancel: CancellationToken,
    /// What the call inherits from the one that made it through `peers`.
    pub lineage: Lineage,
}

impl Call {
    /// A call of `tool` with `input` (JSON text), without capabilities, with default limits.
    pub fn new(tool: impl Into<String>, input: impl Into<Arc<str>>) -> Self {
        Self {
            tool: tool.into(),
            input: input.into(),
            authority: Authority::none(),
            limits: Limits::default(),
            services: Services::default(),
            agent_id: None,
            idempotency_key: None,
            events: None,
            cancel: CancellationToken::new(),
            lineage: Lineage::default(),
        }
    }

    /// The same call under `authority`.
    #[must_use]
    pub fn with_authority(mut self, authority: Arc<Authority>) -> Self {
        self.authority = authority;
        self
    }

    /// The same call within `limits`.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The same call with `services` behind its interfaces.
    #[must_use]
    pub fn with_services(mut self, services: Services) -> Self {
        self.services = services;
        self
    }

    /// The same call, its events going to `sink`.
    #[must_use]
    pub fn with_events(mut self, sink: EventSink) -> Self {
        self.events = Some(sink);
        self
    }

    /// The same call, ended by `cancel`.
    #[must_use]
    pub fn with_cancel(mut self, cancel: CancellationToken) -> Self {
        self.cancel = cancel;
        self
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Inputs may hold what nobody wants in a log.
        f.debug_struct("Call")
            .field("tool", &self.tool)
            .finish_non_exhaustive()
    }
}
