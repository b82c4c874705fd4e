//! A component in a sandbox.

use std::{
    io,
    sync::{Arc, LazyLock, PoisonError},
};

use bulkhead_domain::Outcome;
use bulkhead_sandbox::{Authority, Call, Component, Event, Report, Sandbox, Services, Settings};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use crate::{Error, InMemoryBlocks, InMemoryState, Testkit, kit};

/// Runs the blocking calls of all tests of a process. It lives as long as the process, so that
/// a test inside another runtime never drops it there.
static RUNTIME: LazyLock<io::Result<Runtime>> = LazyLock::new(|| {
    Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
});

/// A component, ready to be called with what its [`Testkit`] allows.
#[derive(Debug)]
pub struct Loaded {
    sandbox: Sandbox,
    component: Component,
    kit: Testkit,
}

impl Loaded {
    pub(crate) fn install(
        kit: Testkit,
        settings: Settings,
        bytes: Arc<[u8]>,
    ) -> Result<Self, Error> {
        block_on(async move {
            let sandbox = kit::sandbox(settings)?;
            let component = sandbox.install(bytes).await?;
            Ok(Self {
                sandbox,
                component,
                kit,
            })
        })?
    }

    /// The component: its tools, wishes and digest.
    pub fn component(&self) -> &Component {
        &self.component
    }

    /// What tools wrote to `state`.
    pub fn state(&self) -> &InMemoryState {
        &self.kit.state
    }

    /// The memory blocks.
    pub fn blocks(&self) -> &InMemoryBlocks {
        &self.kit.blocks
    }

    /// Calls a tool and waits for it. Works inside an async test too.
    ///
    /// # Panics
    ///
    /// If this process can start no threads.
    pub fn call(&self, tool: &str, input: Value) -> Report {
        block_on(self.call_async(tool, input)).expect("a process that runs tests starts threads")
    }

    /// Calls a tool.
    pub async fn call_async(&self, tool: &str, input: Value) -> Report {
        self.sandbox
            .call(&self.component, self.prepare(tool, input))
            .await
    }

    /// Calls a tool, and gives what it reported on the way too.
    pub async fn call_with_events(&self, tool: &str, input: Value) -> (Report, Vec<Event>) {
        let events = Arc::new(std::sync::Mutex::new(Vec::new()));
        let sink = Arc::clone(&events);
        let push = move |event| {
            sink.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(event);
        };
        let call = self.prepare(tool, input).with_events(Arc::new(push));
        let report = self.sandbox.call(&self.component, call).await;
        let seen = std::mem::take(&mut *events.lock().unwrap_or_else(PoisonError::into_inner));
        (report, seen)
    }

    fn prepare(&self, tool: &str, input: Value) -> Call {
        let kit = &self.kit;
        let state_name = format!("testkit/{tool}");
        let credentials = kit.credentials.clone();
        let authority = Authority::for_tool(
            &self.component,
            tool,
            &kit.granted,
            None,
            credentials,
            state_name,
        );
        let services = Services {
            state: Some(Arc::<InMemoryState>::clone(&kit.state)),
            memory: Some(Arc::<InMemoryBlocks>::clone(&kit.blocks)),
            env: Arc::new(kit.env.clone()),
            ..Services::default()
        };
        // Without an authority there is no such tool, and the call says so.
        let mut call = Call::new(tool, input.to_string())
            .with_authority(authority.unwrap_or_else(Authority::none))
            .with_limits(kit.limits.clone())
            .with_services(services);
        call.agent_id.clone_from(&kit.agent_id);
        call
    }
}

/// Runs `work` to its end, on a thread of its own: the caller may be inside a runtime, where
/// nothing may block.
fn block_on<T: Send>(work: impl Future<Output = T> + Send) -> Result<T, Error> {
    let runtime = RUNTIME
        .as_ref()
        .map_err(|error| Error::Runtime(io::Error::new(error.kind(), error.to_string())))?;
    Ok(std::thread::scope(|scope| {
        match scope.spawn(|| runtime.block_on(work)).join() {
            Ok(value) => value,
            // The panic is the caller's own future's, and goes on where it was called.
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }))
}

/// The text of a call that succeeded.
///
/// # Panics
///
/// If it did not, with the reason and the receipt.
#[track_caller]
pub fn text(report: &Report) -> String {
    match &report.result {
        Ok(output) => output.text(),
        Err(failure) => panic!("the call failed: {failure}\n{:#?}", report.receipt),
    }
}

/// Asserts how a call ended.
///
/// # Panics
///
/// If it ended otherwise, with the reason and the receipt.
#[track_caller]
pub fn expect_outcome(report: &Report, outcome: Outcome) {
    assert!(
        report.receipt.outcome == outcome,
        "expected {outcome}, got {}: {:?}\n{:#?}",
        report.receipt.outcome,
        report.result.as_ref().err(),
        report.receipt
    );
}
