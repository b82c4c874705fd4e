//! The handle of the sandbox.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use bulkhead_domain::Digest;
use bulkhead_egress::Egress;

use crate::{
    Call, Component, Description, Failure, Fault, InstallError, Report, Runtime, Settings,
    SetupError, Source, SourceCall, SourceReport, Usage, engine::Core, install, run,
};

/// An engine with its slots and its cache. One a process; cheap to clone.
#[derive(Clone)]
pub struct Sandbox(pub(crate) Arc<Core>);

impl Sandbox {
    /// Sets the engine up: a few milliseconds, and address space for all slots.
    pub fn new(settings: Settings) -> Result<Self, SetupError> {
        Self::with_egress(settings, Egress::new(bulkhead_egress::Settings::default())?)
    }

    /// As [`Sandbox::new`], tools' requests leaving through `egress`.
    pub fn with_egress(settings: Settings, egress: Egress) -> Result<Self, SetupError> {
        Core::new(settings, egress).map(|core| Self(Arc::new(core)))
    }

    /// Validates, compiles and describes a component. `describe` runs without any capability
    /// and with a small budget; its result is pinned to the digest.
    ///
    /// Compiling is skipped when the cache holds an artifact of these bytes that this
    /// installation made with this engine. Safe to call at any time and from many tasks.
    pub async fn install(&self, bytes: impl Into<Arc<[u8]>>) -> Result<Component, InstallError> {
        install::install(Arc::clone(&self.0), bytes.into()).await
    }

    /// Calls a tool in a fresh instance. Never panics, never returns without a receipt, and
    /// stops within the call's deadline whatever the guest does. Dropping the future ends the
    /// call.
    pub async fn call(&self, component: &Component, call: Call) -> Report {
        run::call(&self.0, component, call).await
    }

    /// Validates and compiles the runtime of a language, as [`Sandbox::install`] does a component.
    pub async fn install_runtime(
        &self,
        bytes: impl Into<Arc<[u8]>>,
    ) -> Result<Runtime, InstallError> {
        install::install_runtime(Arc::clone(&self.0), bytes.into()).await
    }

    /// Whether installing these bytes finds them compiled in the cache, so that it takes milliseconds.
    /// An artifact that turns out to be damaged is compiled again all the same. Hashes the bytes and
    /// asks the disk, on the caller's thread.
    pub fn is_compiled(&self, bytes: &[u8]) -> bool {
        self.0.cache.has(&Digest::of(bytes))
    }

    /// What can be read in source without running it: parsed in the sandbox, without any
    /// capability and with a small budget. The inner error is the source's; the outer one says
    /// how the runtime was stopped.
    pub async fn describe_source(
        &self,
        runtime: &Runtime,
        source: &Source,
    ) -> Result<Result<Description, Fault>, Failure> {
        run::describe(&self.0, runtime, source).await
    }

    /// Calls a function of source, or runs it as a script, in a fresh instance of its runtime.
    /// Ends as [`Sandbox::call`] does.
    pub async fn call_source(&self, runtime: &Runtime, call: SourceCall) -> SourceReport {
        run::call_source(&self.0, runtime, call).await
    }

    /// How long a fresh store and instance of `component` take, and dropping them: what a call
    /// costs before the guest runs. For benchmarks.
    pub async fn probe_instantiate(&self, component: &Component) -> Result<Duration, InstallError> {
        let began = Instant::now();
        install::instantiate(&self.0, component).await?;
        Ok(began.elapsed())
    }

    /// Compiled artifacts that were found in the cache, and that were not, since the start.
    pub fn cache_counts(&self) -> (u64, u64) {
        self.0.cache.counts()
    }

    /// How busy it is.
    pub fn usage(&self) -> Usage {
        self.0.usage()
    }

    /// The settings that it runs with.
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }
}

impl std::fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sandbox")
            .field("usage", &self.usage())
            .finish_non_exhaustive()
    }
}
