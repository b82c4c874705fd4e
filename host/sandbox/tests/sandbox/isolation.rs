//! What no call gets from another or from the host: clients that go away, a host that fails, a
//! slot that is used again, and words that are no grant.

use std::sync::Arc;

use crate::common::*;
use bulkhead_domain::Outcome;
use bulkhead_fixtures::text;
use bulkhead_sandbox::{
    Authority, Sandbox, Services, Settings,
    services::{
        MemoryBlock, MemoryError, MemoryService, Namespace, StateEntry, StateError, StateService,
    },
};
use futures::future::BoxFuture;
use serde_json::json;

// 21 client gone at every await point

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_may_go_away_at_any_await() {
    let settings = Settings {
        slots: 2,
        yield_interval: 1_000,
        ..settings()
    };
    let sandbox = Sandbox::new(settings).unwrap();
    let (hostile, friendly) = (hostile(&sandbox).await, friendly(&sandbox).await);
    // Polls each call n times and drops it, for every n up to far beyond its last await.
    for polls in 0..200 {
        for (component, call) in [
            (&hostile, call("spin", json!({})).with_limits(tight())),
            (&friendly, call("greet", json!({"name": "Ann"}))),
            (&friendly, call("sleep", json!({"ms": 1}))),
        ] {
            let mut running = Box::pin(sandbox.call(component, call));
            for _ in 0..polls {
                if futures::poll!(running.as_mut()).is_ready() {
                    break;
                }
                tokio::task::yield_now().await;
            }
            drop(running);
        }
        assert_eq!(sandbox.usage().running, 0, "{polls}");
    }
    neighbour_is_unharmed(&sandbox, &friendly).await;
}

// 22 a host function that panics

struct Panicking;

impl StateService for Panicking {
    fn get<'a>(
        &'a self,
        _: &'a Namespace,
        _: &'a str,
    ) -> BoxFuture<'a, Result<Option<StateEntry>, StateError>> {
        Box::pin(async { panic!("the host has a bug") })
    }

    fn put<'a>(
        &'a self,
        _: &'a Namespace,
        _: &'a str,
        _: Vec<u8>,
        _: Option<u64>,
    ) -> BoxFuture<'a, Result<u64, StateError>> {
        Box::pin(async { Ok(1) })
    }

    fn delete<'a>(
        &'a self,
        _: &'a Namespace,
        _: &'a str,
        _: u64,
    ) -> BoxFuture<'a, Result<(), StateError>> {
        Box::pin(async { Ok(()) })
    }

    fn keys<'a>(
        &'a self,
        _: &'a Namespace,
        _: &'a str,
        _: u32,
    ) -> BoxFuture<'a, Result<Vec<String>, StateError>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

#[tokio::test]
async fn a_host_function_that_panics_ends_its_own_call_alone() {
    let sandbox = sandbox();
    let component = friendly(&sandbox).await;
    let services = Services {
        state: Some(Arc::new(Panicking)),
        ..Services::default()
    };
    let call = call("counter", json!({}))
        .with_authority(granted(&component, "counter", json!({"state": true})))
        .with_services(services);
    let report = sandbox.call(&component, call).await;
    assert_eq!(outcome(&report), Outcome::HostError);
    assert_eq!(sandbox.usage().running, 0);
    neighbour_is_unharmed(&sandbox, &component).await;
}

// 26 canary across tenants with pooling

#[tokio::test]
async fn nothing_of_one_call_is_seen_by_the_next_in_the_same_slot() {
    let settings = Settings {
        slots: 1,
        ..settings()
    };
    let sandbox = Sandbox::new(settings).unwrap();
    assert!(sandbox.usage().pooling);
    let bytes = wat(text::CANARY);
    let component = install(&sandbox, &bytes).await;
    for _ in 0..50 {
        let wrote = sandbox.call(&component, call("write", json!({}))).await;
        assert_eq!(outcome(&wrote), Outcome::Ok);
        let looked = sandbox.call(&component, call("look", json!({}))).await;
        assert_eq!(
            looked.result.unwrap().structured,
            Some(json!({"result": 0}))
        );
    }
}

// What a guest says is no host outcome.

#[tokio::test]
async fn a_guest_that_exits_or_panics_or_lies_gets_a_host_outcome_of_its_own() {
    assert_eq!(
        outcome(&attack("exit", json!({"code": 0})).await),
        Outcome::Exited
    );
    assert_eq!(
        outcome(&attack("panic", json!({"message": "out_of_fuel"})).await),
        Outcome::Trap
    );
    assert_eq!(
        outcome(&attack("bad_structured", json!({})).await),
        Outcome::InvalidOutput
    );
}

// 33 the model asks for a grant: no interface of a call can widen its authority, and memory that
// is not granted is not even listed.

struct Blocks;

impl MemoryService for Blocks {
    fn blocks(&self) -> BoxFuture<'_, Result<Vec<MemoryBlock>, MemoryError>> {
        Box::pin(async { Ok(vec![block("human"), block("secret")]) })
    }

    fn get<'a>(&'a self, label: &'a str) -> BoxFuture<'a, Result<MemoryBlock, MemoryError>> {
        Box::pin(async move { Ok(block(label)) })
    }

    fn put<'a>(
        &'a self,
        label: &'a str,
        value: String,
        _: u64,
    ) -> BoxFuture<'a, Result<MemoryBlock, MemoryError>> {
        Box::pin(async move {
            Ok(MemoryBlock {
                value,
                ..block(label)
            })
        })
    }

    fn create<'a>(
        &'a self,
        label: &'a str,
        _: String,
        _: Option<String>,
    ) -> BoxFuture<'a, Result<MemoryBlock, MemoryError>> {
        Box::pin(async move { Ok(block(label)) })
    }

    fn delete<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<(), MemoryError>> {
        Box::pin(async { Ok(()) })
    }
}

fn block(label: &str) -> MemoryBlock {
    MemoryBlock {
        label: label.to_owned(),
        value: "x".to_owned(),
        description: None,
        limit: 100,
        read_only: false,
        version: 1,
    }
}

#[tokio::test]
async fn no_input_of_a_call_widens_what_it_may_do() {
    let sandbox = sandbox();
    let component = friendly(&sandbox).await;
    let services = Services {
        memory: Some(Arc::new(Blocks)),
        ..Services::default()
    };
    let grant = json!({"memory": {"labels": ["human"], "write": true}});
    let authority = granted(&component, "remember", grant);
    for (label, expected) in [
        ("human", Outcome::Ok),
        ("persona", Outcome::Denied),
        ("secret", Outcome::Denied),
    ] {
        let input = json!({"label": label, "line": "grant me http and secret"});
        let call = call("remember", input)
            .with_authority(Arc::clone(&authority))
            .with_services(services.clone());
        let report = sandbox.call(&component, call).await;
        assert_eq!(outcome(&report), expected, "{label}");
        assert_eq!(report.receipt.grant_hash, authority.hash());
    }
    assert!(Authority::none().capabilities().is_empty());
}
