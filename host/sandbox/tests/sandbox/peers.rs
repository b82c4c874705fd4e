//! Tools that call tools: hostile guest 30 and what is wanted of it.

use std::sync::{Arc, Mutex};

use crate::common::*;
use bulkhead_domain::Outcome;
use bulkhead_policy::Limits;
use bulkhead_sandbox::{
    Authority, Call, Component, Report, Sandbox, Services,
    services::{PeerError, PeerReply, PeerRequest, PeersService},
};
use futures::future::BoxFuture;
use serde_json::{Value, json};

/// All tools of the friendly and the hostile fixture, as one caller's tools.
struct Peers {
    sandbox: Sandbox,
    components: Vec<Component>,
    reports: Mutex<Vec<Report>>,
}

impl Peers {
    async fn new(sandbox: &Sandbox) -> Arc<Self> {
        let components = vec![friendly(sandbox).await, hostile(sandbox).await];
        Arc::new(Self {
            sandbox: sandbox.clone(),
            components,
            reports: Mutex::default(),
        })
    }

    fn authority(component: &Component, tool: &str) -> Arc<Authority> {
        granted(component, tool, json!({"peers": ["*"]}))
    }

    /// Calls `ask_peer` from outside.
    async fn ask(self: &Arc<Self>, input: Value, limits: Limits) -> Report {
        let call = call("ask_peer", input)
            .with_authority(Self::authority(&self.components[0], "ask_peer"))
            .with_services(self.services())
            .with_limits(limits);
        self.sandbox.call(&self.components[0], call).await
    }

    fn services(self: &Arc<Self>) -> Services {
        Services {
            peers: Some(Arc::new(Shared(Arc::clone(self)))),
            ..Services::default()
        }
    }
}

struct Shared(Arc<Peers>);

impl PeersService for Shared {
    fn call(&self, request: PeerRequest) -> BoxFuture<'_, PeerReply> {
        Box::pin(async move {
            let peers = &self.0;
            let found = peers
                .components
                .iter()
                .find(|c| c.tool_wishes(&request.name).is_some());
            let Some(component) = found else {
                return PeerReply {
                    result: Err(PeerError::Unknown),
                    fuel: Default::default(),
                };
            };
            let mut call = Call::new(request.name.clone(), request.input)
                .with_authority(Peers::authority(component, &request.name))
                .with_services(peers.services())
                .with_limits(request.limits)
                .with_cancel(request.cancel);
            call.lineage = request.lineage;
            let report = peers.sandbox.call(component, call).await;
            peers.reports.lock().unwrap().push(report.clone());
            let fuel = report.receipt.fuel;
            let result = report.result.map_err(|failure| match failure.tool_error {
                Some(error) => PeerError::Tool(error),
                None => PeerError::Stopped(failure.outcome, failure.message),
            });
            PeerReply { result, fuel }
        })
    }
}

/// `ask_peer` asking itself `depth` times, and `add` at the end.
fn nested(depth: usize) -> Value {
    (0..depth).fold(
        json!({"name": "add", "input": {"left": 1, "right": 2}}),
        |inner, _| json!({"name": "ask_peer", "input": inner}),
    )
}

#[tokio::test]
async fn a_tool_calls_another_and_pays_for_it() {
    let sandbox = sandbox();
    let peers = Peers::new(&sandbox).await;
    let report = peers.ask(nested(0), Limits::default()).await;
    assert_eq!(report.result.unwrap().structured, Some(json!({"sum": 3})));
    let inner = peers.reports.lock().unwrap()[0].receipt.fuel.total();
    assert!(inner > 0 && report.receipt.fuel.total() > inner);
}

#[tokio::test]
async fn calls_without_end_stop_at_a_depth() {
    let sandbox = sandbox();
    let peers = Peers::new(&sandbox).await;
    assert!(peers.ask(nested(2), Limits::default()).await.result.is_ok());
    let report = peers.ask(nested(9), Limits::default()).await;
    assert!(report.result.is_err());
    assert!(peers.reports.lock().unwrap().len() <= 8);
    neighbour_is_unharmed(&sandbox, &peers.components[0]).await;
}

#[tokio::test]
async fn a_called_tool_spends_its_callers_budget() {
    let sandbox = sandbox();
    let peers = Peers::new(&sandbox).await;
    let limits = Limits {
        fuel: 50_000_000,
        ..Limits::default()
    };
    let report = peers
        .ask(json!({"name": "spin", "input": {}}), limits.clone())
        .await;
    let inner = &peers.reports.lock().unwrap()[0].receipt;
    assert_eq!(inner.outcome, Outcome::OutOfFuel);
    assert!(
        inner.fuel.total() < limits.fuel,
        "the caller had spent some before"
    );
    assert_eq!(
        outcome(&report),
        Outcome::OutOfFuel,
        "nothing was left for the caller"
    );
    assert_eq!(report.receipt.fuel.total(), limits.fuel);
}

#[tokio::test]
async fn a_called_tool_has_no_more_memory_and_time_than_its_caller() {
    let sandbox = sandbox();
    let peers = Peers::new(&sandbox).await;
    let limits = Limits {
        memory_bytes: 32 << 20,
        timeout_ms: 2_000,
        ..tight()
    };
    let report = peers
        .ask(json!({"name": "memory_bomb", "input": {}}), limits.clone())
        .await;
    assert!(report.result.is_err());
    let inner = peers.reports.lock().unwrap()[0].receipt.clone();
    assert_eq!(inner.outcome, Outcome::OutOfMemory);
    assert!(inner.peak_memory_bytes + report.receipt.peak_memory_bytes <= limits.memory_bytes);

    peers.reports.lock().unwrap().clear();
    let limits = Limits {
        timeout_ms: 200,
        ..tight()
    };
    let report = peers
        .ask(json!({"name": "sleep_forever", "input": {}}), limits)
        .await;
    // The caller may just have the time to say so.
    assert!(report.result.is_err());
    let inner = peers.reports.lock().unwrap().pop();
    let ended = inner.map_or(outcome(&report), |inner| outcome(&inner));
    assert_eq!(ended, Outcome::DeadlineExceeded);
}

#[tokio::test]
async fn a_tool_that_is_not_granted_is_not_called() {
    let sandbox = sandbox();
    let peers = Peers::new(&sandbox).await;
    let component = &peers.components[0];
    let call = call("ask_peer", nested(0))
        .with_authority(granted(component, "ask_peer", json!({"peers": ["other"]})))
        .with_services(peers.services());
    let report = sandbox.call(component, call).await;
    assert_eq!(outcome(&report), Outcome::Denied);
    assert!(peers.reports.lock().unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chains_never_wait_for_the_slot_that_they_hold() {
    let settings = bulkhead_sandbox::Settings {
        slots: 1,
        ..settings()
    };
    let sandbox = Sandbox::new(settings).unwrap();
    let peers = Peers::new(&sandbox).await;
    let asks: Vec<_> = (0..8)
        .map(|_| {
            let peers = Arc::clone(&peers);
            tokio::spawn(async move { peers.ask(nested(1), Limits::default()).await })
        })
        .collect();
    for ask in asks {
        assert_eq!(outcome(&ask.await.unwrap()), Outcome::Ok);
    }
}
