//! Guests that try to do harm. Each test shows the typed outcome, and that a neighbour's call
//! works afterwards. What concerns installing is in
//! `install.rs`, the network in `network.rs`, peers in `peers.rs`, files in `folders/`.

use std::{
    fmt::Write as _,
    sync::{Arc, Mutex},
};

use crate::common::*;
use bulkhead_domain::Outcome;
use bulkhead_policy::Limits;
use bulkhead_sandbox::{
    Authority, Call, Event, Report, Sandbox, Services, Settings,
    services::{
        MemoryBlock, MemoryError, MemoryService, Namespace, StateEntry, StateError, StateService,
    },
};
use futures::future::BoxFuture;
use serde_json::{Value, json};

/// Calls a hostile tool within tight limits, then shows that a neighbour is unharmed.
async fn attack(tool: &str, input: Value) -> Report {
    let sandbox = sandbox();
    let (hostile, friendly) = (hostile(&sandbox).await, friendly(&sandbox).await);
    let report = sandbox
        .call(&hostile, call(tool, input).with_limits(tight()))
        .await;
    neighbour_is_unharmed(&sandbox, &friendly).await;
    assert_eq!(sandbox.usage().running, 0);
    report
}

// 1 loop in call

#[tokio::test]
async fn a_loop_in_call_runs_out_of_fuel() {
    let report = attack("spin", json!({})).await;
    assert_eq!(outcome(&report), Outcome::OutOfFuel);
    assert_eq!(report.receipt.fuel.total(), tight().fuel);
}

#[tokio::test]
async fn a_loop_with_fuel_without_end_meets_its_deadline() {
    let sandbox = sandbox();
    let hostile = hostile(&sandbox).await;
    let limits = Limits {
        fuel: u64::MAX,
        timeout_ms: 100,
        ..Limits::default()
    };
    let report = sandbox
        .call(&hostile, call("spin", json!({})).with_limits(limits))
        .await;
    assert_eq!(outcome(&report), Outcome::DeadlineExceeded);
    assert!(report.receipt.wall_us >= 100_000);
}

#[tokio::test(flavor = "current_thread")]
async fn a_spinning_guest_shares_its_thread() {
    let sandbox = sandbox();
    let (hostile, friendly) = (hostile(&sandbox).await, friendly(&sandbox).await);
    let limits = Limits {
        fuel: u64::MAX,
        timeout_ms: 2_000,
        ..Limits::default()
    };
    let spin = sandbox.call(&hostile, call("spin", json!({})).with_limits(limits));
    let neighbours = async {
        for _ in 0..20 {
            neighbour_is_unharmed(&sandbox, &friendly).await;
        }
    };
    tokio::select! {
        biased;
        report = spin => panic!("the neighbours waited for {:?}", report.receipt.outcome),
        () = neighbours => {}
    }
}

// 4 one memory bomb, 5 many memories

#[tokio::test]
async fn a_memory_bomb_stops_at_its_limit() {
    let report = attack("memory_bomb", json!({})).await;
    assert_eq!(outcome(&report), Outcome::OutOfMemory);
    assert!(report.receipt.peak_memory_bytes <= tight().memory_bytes);
}

/// A component of several modules that each grow a memory of their own.
fn many_memories(count: usize, pages: usize) -> Vec<u8> {
    let mut text = String::from("(component\n");
    for at in 0..count {
        write!(
            text,
            r#"(core module $m{at} (memory 1)
                (func (export "f")
                    (if (i32.eq (memory.grow (i32.const {pages})) (i32.const -1)) (then unreachable))))
               (core instance $i{at} (instantiate $m{at}))
               (func (export "grow{at}") (canon lift (core func $i{at} "f")))"#
        )
        .unwrap();
    }
    text.push(')');
    wat(&text)
}

#[tokio::test]
async fn many_memories_are_summed() {
    let sandbox = sandbox();
    let component = install(&sandbox, &many_memories(3, 100)).await;
    let limits = Limits {
        memory_bytes: 90 * 65_536,
        ..tight()
    };
    let report = sandbox
        .call(&component, call("grow0", json!({})).with_limits(limits))
        .await;
    assert_eq!(outcome(&report), Outcome::OutOfMemory);
    let limits = Limits {
        memory_bytes: 103 * 65_536,
        ..tight()
    };
    let report = sandbox
        .call(&component, call("grow0", json!({})).with_limits(limits))
        .await;
    assert_eq!(outcome(&report), Outcome::Ok);
    assert_eq!(report.receipt.peak_memory_bytes, 103 * 65_536);
}

#[tokio::test]
async fn more_memories_than_a_component_may_have_are_refused() {
    assert!(install_attack(&many_memories(64, 1)).await.is_err());
}

#[tokio::test]
async fn a_memory_that_begins_over_the_limit_is_refused_by_type() {
    let sandbox = sandbox();
    let bytes = wat(r#"(component
        (core module $m (memory 512) (func (export "f")))
        (core instance $i (instantiate $m))
        (func (export "f") (canon lift (core func $i "f"))))"#);
    let component = install(&sandbox, &bytes).await;
    let limits = Limits {
        memory_bytes: 1 << 20,
        ..tight()
    };
    let report = sandbox
        .call(&component, call("f", json!({})).with_limits(limits))
        .await;
    assert_eq!(outcome(&report), Outcome::OutOfMemory);
}

// 6 table bomb

#[tokio::test]
async fn a_table_bomb_stops_at_its_limit() {
    let sandbox = sandbox();
    let bytes = wat(r#"(component
        (core module $m
            (table $t 1 funcref)
            (func (export "f")
                (if (i32.eq (table.grow $t (ref.null func) (i32.const 90000000)) (i32.const -1))
                    (then unreachable))))
        (core instance $i (instantiate $m))
        (func (export "f") (canon lift (core func $i "f"))))"#);
    let component = install(&sandbox, &bytes).await;
    let report = sandbox
        .call(&component, call("f", json!({})).with_limits(tight()))
        .await;
    assert_eq!(outcome(&report), Outcome::OutOfMemory);
    let friendly = friendly(&sandbox).await;
    neighbour_is_unharmed(&sandbox, &friendly).await;
}

// 8 deep recursion

#[tokio::test]
async fn deep_recursion_overflows_the_guests_stack_alone() {
    assert_eq!(outcome(&attack("recurse", json!({})).await), Outcome::Trap);
}

// 9 deep JSON in, deep value out

#[tokio::test]
async fn deep_json_in_is_refused_before_the_guest() {
    let sandbox = sandbox();
    let component = friendly(&sandbox).await;
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let report = sandbox.call(&component, Call::new("echo", deep)).await;
    assert_eq!(outcome(&report), Outcome::InvalidInput);
    neighbour_is_unharmed(&sandbox, &component).await;
}

#[tokio::test]
async fn a_deep_value_out_is_refused_by_type() {
    let report = attack("deep_value", json!({"depth": 100_000})).await;
    assert_ne!(outcome(&report), Outcome::Ok);
    assert!(report.result.is_err());
    let report = attack("deep_value", json!({"depth": 500})).await;
    assert_eq!(outcome(&report), Outcome::InvalidOutput);
}

// 10 1 GiB result

#[tokio::test]
async fn a_result_over_the_limit_is_cut_and_marked() {
    let report = attack("big_result", json!({"bytes": 3 << 20})).await;
    let output = report.result.unwrap();
    assert!(output.truncated);
    let text = output.text();
    assert!(
        text.len() < (1 << 20) + 200 && text.contains("cut by the host"),
        "{}",
        text.len()
    );
}

#[tokio::test]
async fn an_endless_result_costs_the_host_nothing() {
    let sandbox = sandbox();
    let component = hostile(&sandbox).await;
    let limits = Limits {
        memory_bytes: 512 << 20,
        fuel: 5_000_000_000,
        ..tight()
    };
    let big = call("big_result", json!({"bytes": 200 << 20})).with_limits(limits.clone());
    assert_eq!(
        outcome(&sandbox.call(&component, big).await),
        Outcome::LimitExceeded
    );
    let endless = call("big_result", json!({"bytes": 1_u64 << 30})).with_limits(limits);
    let found = outcome(&sandbox.call(&component, endless).await);
    assert!(
        matches!(found, Outcome::OutOfMemory | Outcome::LimitExceeded),
        "{found}"
    );
}

#[tokio::test]
async fn an_error_of_any_size_is_cut() {
    let report = attack("big_error", json!({"bytes": 3 << 20})).await;
    let failure = report.result.unwrap_err();
    assert_eq!(failure.outcome, Outcome::ToolError);
    assert!(failure.message.len() < (1 << 20) + 200);
}

// 11 quadratic list<string>

#[tokio::test]
async fn a_list_that_names_one_string_a_million_times_is_refused() {
    // 100,000 list entries that all point at the same 60 kB string: 6 GB on the host.
    let bytes = wat(r#"(component
        (core module $m
            (memory (export "memory") 40)
            (global $next (mut i32) (i32.const 131072))
            (func (export "realloc") (param i32 i32 i32 i32) (result i32) (global.get $next))
            (func (export "f") (result i32)
                (local $at i32)
                (local.set $at (i32.const 131072))
                (loop $fill
                    (i32.store (local.get $at) (i32.const 16))
                    (i32.store offset=4 (local.get $at) (i32.const 60000))
                    (local.set $at (i32.add (local.get $at) (i32.const 8)))
                    (br_if $fill (i32.lt_u (local.get $at) (i32.const 931072))))
                (i32.store (i32.const 0) (i32.const 131072))
                (i32.store (i32.const 4) (i32.const 100000))
                (i32.const 0)))
        (core instance $i (instantiate $m))
        (func (export "f") (result (list string))
            (canon lift (core func $i "f") (memory $i "memory") (realloc (func $i "realloc")))))"#);
    let sandbox = sandbox();
    let component = install(&sandbox, &bytes).await;
    let report = sandbox
        .call(&component, call("f", json!({})).with_limits(tight()))
        .await;
    assert_eq!(outcome(&report), Outcome::LimitExceeded);
    let friendly = friendly(&sandbox).await;
    neighbour_is_unharmed(&sandbox, &friendly).await;
}

#[tokio::test]
async fn any_number_of_parts_and_problems_is_bounded() {
    for tool in ["many_parts", "many_problems"] {
        let report = attack(tool, json!({"count": 1_000_000})).await;
        assert_ne!(outcome(&report), Outcome::Ok, "{tool}");
        if let Err(failure) = report.result {
            assert!(
                failure.message.len() < 2 << 20 && failure.problems.len() <= 100,
                "{tool}"
            );
        }
    }
}

// 12 log, progress and emit flood, 13 stdout flood

#[tokio::test]
async fn floods_are_cut_said_once_and_end_with_the_fuel() {
    for (tool, what) in [
        ("log_flood", "log"),
        ("stdout_flood", "log"),
        ("progress_flood", "events"),
        ("emit_flood", "events"),
    ] {
        let sandbox = sandbox();
        let component = hostile(&sandbox).await;
        let seen = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&seen);
        let flood = call(tool, json!({}))
            .with_limits(tight())
            .with_events(Arc::new(move |event| sink.lock().unwrap().push(event)));
        let report = sandbox.call(&component, flood).await;
        let found = outcome(&report);
        assert!(
            matches!(found, Outcome::OutOfFuel | Outcome::DeadlineExceeded),
            "{tool}: {found}"
        );
        let seen = seen.lock().unwrap();
        let bytes = serde_json::to_string(&*seen).unwrap().len() as u64;
        assert!(bytes < 3 * tight().event_bytes, "{tool}: {bytes}");
        let marks = seen
            .iter()
            .filter(|event| matches!(event, Event::Truncated { .. }))
            .count();
        assert_eq!(marks, 1, "{tool}");
        assert_eq!(
            seen.last(),
            Some(&Event::Truncated {
                what: what.to_owned()
            })
        );
        let log: usize = report.log.iter().map(|line| line.message.len()).sum();
        assert!(log as u64 <= tight().log_bytes);
        assert_eq!(report.log_truncated, what == "log");
    }
}

// 14 handle flood

#[tokio::test]
async fn a_flood_of_handles_ends_in_a_typed_outcome() {
    let bytes = wat(r#"(component
        (import "wasi:io/poll@0.2.0" (instance $poll
            (export "pollable" (type (sub resource)))))
        (alias export $poll "pollable" (type $pollable))
        (import "wasi:clocks/monotonic-clock@0.2.0" (instance $clock
            (alias outer 1 $pollable (type $p))
            (export "pollable" (type (eq $p)))
            (export "subscribe-duration" (func (param "when" u64) (result (own $p))))))
        (core func $subscribe (canon lower (func $clock "subscribe-duration")))
        (core module $m
            (import "" "subscribe" (func $subscribe (param i64) (result i32)))
            (func (export "f")
                (loop (drop (call $subscribe (i64.const 1000000000))) (br 0))))
        (core instance $i (instantiate $m
            (with "" (instance (export "subscribe" (func $subscribe))))))
        (func (export "f") (canon lift (core func $i "f"))))"#);
    let sandbox = sandbox();
    let component = install(&sandbox, &bytes).await;
    let report = sandbox
        .call(&component, call("f", json!({})).with_limits(tight()))
        .await;
    assert_eq!(outcome(&report), Outcome::LimitExceeded);
    let friendly = friendly(&sandbox).await;
    neighbour_is_unharmed(&sandbox, &friendly).await;
}

// 15 32,769 headers

#[tokio::test]
async fn thirty_two_thousand_headers_end_in_a_typed_outcome() {
    let sandbox = sandbox();
    let component = friendly(&sandbox).await;
    let headers: Vec<_> = (0..32_769).map(|n| json!([format!("h{n}"), "v"])).collect();
    let authority = granted(&component, "fetch", json!({"http": ["example.com"]}));
    let input = json!({"url": "https://example.com/", "headers": headers});
    let report = sandbox
        .call(&component, call("fetch", input).with_authority(authority))
        .await;
    assert_eq!(outcome(&report), Outcome::ToolError);
    assert!(report.receipt.host_calls.len() == 1);
    neighbour_is_unharmed(&sandbox, &component).await;
}

// 16 2 GiB of random

#[tokio::test]
async fn random_bytes_are_given_in_small_portions() {
    let report = attack("random", json!({"bytes": 2_u64 << 30})).await;
    assert_ne!(outcome(&report), Outcome::Ok);
}

// 17 sleeping forever in a poll

#[tokio::test]
async fn a_guest_that_sleeps_forever_meets_its_deadline() {
    let sandbox = sandbox();
    let component = hostile(&sandbox).await;
    let limits = Limits {
        timeout_ms: 100,
        ..tight()
    };
    let report = sandbox
        .call(
            &component,
            call("sleep_forever", json!({})).with_limits(limits),
        )
        .await;
    assert_eq!(outcome(&report), Outcome::DeadlineExceeded);
    assert!(report.receipt.fuel.call < 10_000_000);
}

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
    // Writes a canary over all its memory and globals, or looks for one.
    let bytes = wat(r#"(component
        (core module $m
            (memory 64)
            (global $g (mut i32) (i32.const 0))
            (func (export "write")
                (memory.fill (i32.const 0) (i32.const 0xca) (i32.const 4194304))
                (global.set $g (i32.const 0xca)))
            (func (export "look") (result i32)
                (local $at i32) (local $found i32)
                (loop $next
                    (if (i32.load8_u (local.get $at)) (then (local.set $found (i32.const 1))))
                    (local.set $at (i32.add (local.get $at) (i32.const 1)))
                    (br_if $next (i32.lt_u (local.get $at) (i32.const 4194304))))
                (i32.or (local.get $found) (global.get $g))))
        (core instance $i (instantiate $m))
        (func (export "write") (canon lift (core func $i "write")))
        (func (export "look") (result u32) (canon lift (core func $i "look"))))"#);
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

// 30 peer recursion, cycles, budget inheritance: see `peers.rs`

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
