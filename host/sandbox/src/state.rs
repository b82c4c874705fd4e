//! What one call's store holds.

use std::{sync::Arc, time::Duration};

use bulkhead_domain::id::CallId;
use bulkhead_egress::{Access, Session};
use bulkhead_policy::{Limits, capabilities::ANY};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use wasmtime::component::ResourceTable;
use wasmtime_wasi::{WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};
use wasmtime_wasi_http::{WasiHttpCtx, WasiHttpCtxView, WasiHttpView};

use crate::{
    Authority, Lineage, LogLevel, Services,
    capture::Capture,
    engine::Core,
    interfaces::{
        filesystem::{FolderError, Folders, FoldersCtx, FoldersView},
        wasi_http::CheckedHttp,
    },
    limiter::Limiter,
    recorder::Recorder,
    services::Namespace,
};

/// Handles that a guest may hold at once. A handle can hold as much as one host
/// call may hand over, so their number bounds the host's memory too.
const MAX_HANDLES: usize = 512;
/// Bytes of random numbers for one request; more are asked for in several, so that a guest
/// that asks without end still lets others run.
const MAX_RANDOM_BYTES: u64 = 64 << 10;
/// In-memory size of one set of HTTP header fields.
const MAX_FIELD_BYTES: usize = 32 * 1024;
/// What a host call costs beside the bytes that it moves.
const CALL_COST: usize = 256;
/// Work of host calls between two yields: well under a millisecond.
const YIELD_COST: usize = 64 * 1024;
/// Every guest gets the same seed for its hash maps, so that a pure tool is deterministic.
/// A flood of colliding keys costs the guest its own fuel and nobody else's.
const HASH_SEED: u128 = 0x6275_6c6b_6865_6164_2073_616e_6462_6f78;

/// What one call's store holds; dropped with it.
pub(crate) struct CallState {
    pub(crate) table: ResourceTable,
    wasi: WasiCtx,
    http: WasiHttpCtx,
    http_hooks: CheckedHttp,
    folders: Folders,
    pub(crate) limiter: Limiter,
    pub(crate) recorder: Recorder,
    pub(crate) capture: Capture,
    pub(crate) session: Session,
    pub(crate) context: Context,
    /// What host calls cost since the guest last let others run, in bytes.
    unyielded: usize,
}

/// What the interfaces need to know of the call.
pub(crate) struct Context {
    pub(crate) call_id: CallId,
    pub(crate) idempotency_key: Arc<str>,
    pub(crate) agent_id: Option<String>,
    pub(crate) deadline: Instant,
    pub(crate) limits: Limits,
    pub(crate) authority: Arc<Authority>,
    pub(crate) services: Services,
    pub(crate) cancel: CancellationToken,
    /// The calls that led here and this one.
    pub(crate) lineage: Lineage,
}

impl Context {
    /// What is left until the deadline.
    pub(crate) fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Whose durable state this call reaches.
    pub(crate) fn namespace(&self) -> Namespace {
        Namespace {
            tool: self.authority.state_name.clone(),
            agent: self.agent_id.clone().unwrap_or_default(),
        }
    }
}

impl CallState {
    pub(crate) fn new(
        core: &Core,
        context: Context,
        events: Option<crate::EventSink>,
    ) -> Result<Self, FolderError> {
        let authority = Arc::clone(&context.authority);
        let capture = Capture::new(&context.limits, Arc::clone(&authority), events);
        let session = core.egress.session(Access {
            rules: Arc::clone(&authority.rules),
            credentials: Arc::clone(&authority.credentials),
            requests: context.limits.http_requests,
            request_bytes: context.limits.http_request_bytes,
            response_bytes: context.limits.http_response_bytes,
            within: context.lineage.allowance.clone(),
        });
        let folders = if authority.capabilities.folders.is_empty() {
            Folders::none()
        } else {
            Folders::open(&authority.capabilities.folders, context.limits.folder_bytes)?
        };
        let mut table = ResourceTable::new();
        table.set_max_capacity(MAX_HANDLES);
        let mut http = WasiHttpCtx::new();
        http.set_field_size_limit(MAX_FIELD_BYTES);
        Ok(Self {
            table,
            wasi: wasi(&context, &capture),
            http,
            http_hooks: CheckedHttp::new(session.clone()),
            folders,
            limiter: Limiter::new(context.limits.memory_bytes, context.limits.table_elements),
            recorder: Recorder::new(authority),
            capture,
            session,
            context,
            unyielded: 0,
        })
    }

    /// Lets other tasks run, and deadline and cancellation be seen, after enough work of the host.
    /// A host call costs the guest no fuel, so its own yields come too late for it.
    pub(crate) async fn breathe(&mut self, bytes: usize) {
        self.unyielded += bytes + CALL_COST;
        if self.unyielded > YIELD_COST {
            self.unyielded = 0;
            tokio::task::yield_now().await;
        }
    }

    /// Moves what background tasks and open files recorded into the recorder.
    pub(crate) fn collect(&mut self) {
        self.http_hooks.collect(&mut self.recorder);
        self.folders.settle(&mut self.recorder);
    }
}

/// WASI without ambient authority: no arguments, no network, the granted variables, captured
/// output. Files come from our own host of `wasi:filesystem`.
fn wasi(context: &Context, capture: &Capture) -> WasiCtx {
    let mut builder = WasiCtxBuilder::new();
    builder
        .stdout(capture.stream(LogLevel::Stdout))
        .stderr(capture.stream(LogLevel::Stderr))
        .allow_tcp(false)
        .allow_udp(false)
        .allow_ip_name_lookup(false)
        .max_random_size(MAX_RANDOM_BYTES)
        .insecure_random_seed(HASH_SEED);
    let granted = &context.authority.capabilities.env;
    if granted.contains(ANY) {
        for (name, value) in context.services.env.iter() {
            builder.env(name, value);
        }
    } else {
        for name in granted {
            if let Some(value) = context.services.env.get(name) {
                builder.env(name, value);
            }
        }
    }
    builder.build()
}

impl WasiView for CallState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

impl WasiHttpView for CallState {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        WasiHttpCtxView {
            ctx: &mut self.http,
            table: &mut self.table,
            hooks: &mut self.http_hooks,
        }
    }
}

impl FoldersView for CallState {
    fn folders(&mut self) -> FoldersCtx<'_> {
        FoldersCtx {
            folders: &mut self.folders,
            table: &mut self.table,
            recorder: &mut self.recorder,
        }
    }
}
