//! Calls: the one way by which tools run here, from a request or from another tool.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bulkhead_domain::Receipt;
use bulkhead_policy::{Capabilities, Limits};
use bulkhead_sandbox::{
    Authority, Call, EventSink, Lineage, Report, Services,
    services::{AgentsService, FilesService, MemoryService, RecallService},
};
use futures::{FutureExt as _, future::BoxFuture};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    app::App,
    registry::{peers::Peers, plan::Plan},
};

/// A cancelled call ends within milliseconds; its receipt is queued behind at most some seconds
/// of others.
const CANCEL_GRACE: Duration = Duration::from_secs(5);

/// All calls that are running.
pub(crate) struct Calls {
    tracker: TaskTracker,
    /// Parent of every call's own token.
    root: CancellationToken,
}

/// What a caller asks for.
pub(crate) struct CallRequest {
    /// JSON text.
    pub(crate) input: Arc<str>,
    pub(crate) limits: Limits,
    pub(crate) authority: Arc<Authority>,
    pub(crate) agent_id: Option<String>,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) events: Option<EventSink>,
    /// Made by [`Calls::token`], or by another call.
    pub(crate) cancel: CancellationToken,
    /// What it inherits from the call that made it.
    pub(crate) lineage: Lineage,
    pub(crate) behalf: Behalf,
}

/// What a call that is made by an agent reaches of it, and who stores its receipt. The default is
/// a call that no agent makes.
#[derive(Clone, Default)]
pub(crate) struct Behalf {
    /// Behind the interface `memory`.
    pub(crate) memory: Option<Arc<dyn MemoryService>>,
    /// Behind the interface `recall`.
    pub(crate) recall: Option<Arc<dyn RecallService>>,
    /// Behind the interface `files`.
    pub(crate) files: Option<Arc<dyn FilesService>>,
    /// Behind the interface `agents`.
    pub(crate) agents: Option<Arc<dyn AgentsService>>,
    /// Whether whoever makes the call stores its receipt, with the step that it belongs to.
    pub(crate) keeps_receipt: bool,
}

impl Behalf {
    /// The same for the calls that this one makes: their receipts are nobody else's to store.
    fn of_peers(&self) -> Self {
        Self {
            keeps_receipt: false,
            ..self.clone()
        }
    }
}

impl Calls {
    pub(crate) fn new() -> Self {
        Self {
            tracker: TaskTracker::new(),
            root: CancellationToken::new(),
        }
    }

    /// A token for a new call; cancelled with all of them.
    pub(crate) fn token(&self) -> CancellationToken {
        self.root.child_token()
    }

    /// Waits for all calls; those that still run after `grace` are cancelled. Each has handed
    /// over its receipt then.
    pub(crate) async fn finish(&self, grace: Duration) {
        self.tracker.close();
        if tokio::time::timeout(grace, self.tracker.wait())
            .await
            .is_ok()
        {
            return;
        }
        tracing::info!(
            calls = self.tracker.len(),
            "calls that are still running are cancelled"
        );
        self.root.cancel();
        if tokio::time::timeout(CANCEL_GRACE, self.tracker.wait())
            .await
            .is_err()
        {
            tracing::error!(
                calls = self.tracker.len(),
                "calls did not end when they were cancelled"
            );
        }
    }
}

impl App {
    /// Runs a tool. The result carries the receipt, which is queued for the store by then.
    ///
    /// The call goes on where the future that is given here is dropped, cancelled, until its
    /// receipt is handed over: a client that goes away stops its call and leaves a trace.
    pub(crate) fn call(self: &Arc<Self>, plan: &Plan, request: CallRequest) -> Running<Report> {
        let cancel = request.cancel.clone();
        let component = plan.component.clone();
        let capabilities = request.authority.capabilities();
        let services = self.services(
            capabilities,
            &plan.name,
            request.agent_id.as_deref(),
            &request.behalf,
        );
        let keeps_receipt = request.behalf.keeps_receipt;
        let call = Call {
            tool: plan.tool.clone(),
            input: request.input,
            authority: request.authority,
            limits: request.limits,
            services,
            agent_id: request.agent_id,
            idempotency_key: request.idempotency_key,
            events: request.events,
            cancel: request.cancel,
            lineage: request.lineage,
        };
        let sandbox = self.sandbox.clone();
        self.tracked(
            cancel,
            async move { sandbox.call(&component, call).await },
            |report| &report.receipt,
            keeps_receipt,
        )
    }

    /// Runs a call to its end and hands over its receipt, whether or not anybody still waits; with
    /// `keeps_receipt`, whoever waits stores it.
    pub(crate) fn tracked<R: Send + 'static>(
        self: &Arc<Self>,
        cancel: CancellationToken,
        call: impl Future<Output = R> + Send + 'static,
        receipt: fn(&R) -> &Receipt,
        keeps_receipt: bool,
    ) -> Running<R> {
        let app = Arc::clone(self);
        let tracked = self.calls.tracker.token();
        let call = async move {
            let report = call.await;
            let receipt = receipt(&report);
            app.metrics.call_ended(receipt);
            tracing::debug!(
                tool = receipt.tool,
                outcome = receipt.outcome.as_str(),
                wall_us = receipt.wall_us,
                fuel = receipt.fuel.total(),
                "a call ended"
            );
            if !keeps_receipt && let Err(error) = app.receipts.write(receipt.clone()).await {
                tracing::error!(%error, receipt = %receipt.id, "a receipt was not stored");
            }
            drop(tracked);
            report
        };
        Running {
            call: Some(call.boxed()),
            cancel,
        }
    }

    /// What is behind the interfaces of a call that may do `capabilities`. `caller`: its component.
    pub(crate) fn services(
        self: &Arc<Self>,
        capabilities: &Capabilities,
        caller: &str,
        agent_id: Option<&str>,
        behalf: &Behalf,
    ) -> Services {
        let peers = || {
            Arc::new(Peers {
                app: Arc::clone(self),
                caller: caller.to_owned(),
                agent_id: agent_id.map(str::to_owned),
                behalf: behalf.of_peers(),
            }) as _
        };
        Services {
            state: capabilities.state.then(|| Arc::clone(&self.state)),
            memory: behalf.memory.clone(),
            recall: behalf.recall.clone(),
            files: behalf.files.clone(),
            agents: behalf.agents.clone(),
            peers: (!capabilities.peers.is_empty()).then(peers),
            env: Arc::clone(&self.env),
        }
    }
}

/// A running call. Dropping it cancels the call and lets it end by itself.
pub(crate) struct Running<R: Send + 'static> {
    call: Option<BoxFuture<'static, R>>,
    cancel: CancellationToken,
}

impl<R: Send + 'static> Future for Running<R> {
    type Output = R;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<R> {
        let call = self
            .call
            .as_mut()
            .expect("a call is not polled after its end");
        let report = std::task::ready!(call.poll_unpin(context));
        self.call = None;
        Poll::Ready(report)
    }
}

impl<R: Send + 'static> Drop for Running<R> {
    fn drop(&mut self) {
        let Some(call) = self.call.take() else { return };
        self.cancel.cancel();
        // Without a runtime the process is ending, and nothing could finish anyway.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(call);
        }
    }
}
