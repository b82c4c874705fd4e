//! Calls as they should be: results, receipts, capabilities, events, cancellation, queueing.

use std::{
    sync::{Arc, Mutex},
    task::Poll,
    time::{Duration, Instant},
};

use crate::common::*;
use bulkhead_domain::{Digest, Outcome, ToolError};
use bulkhead_policy::Limits;
use bulkhead_sandbox::{Event, Kind, Sandbox, Settings};
use serde_json::json;
use tokio_util::sync::CancellationToken;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_gives_a_checked_result_and_a_receipt() {
    let sandbox = sandbox();
    let component = friendly(&sandbox).await;
    assert_eq!(component.kind(), Kind::Native);
    let input = json!({"left": 2, "right": 3});
    let report = sandbox.call(&component, call("add", input.clone())).await;
    let receipt = &report.receipt;
    assert_eq!(
        report.result.as_ref().unwrap().structured,
        Some(json!({"sum": 5}))
    );
    assert_eq!(receipt.outcome, Outcome::Ok);
    assert_eq!(receipt.digest, Digest::of(bulkhead_fixtures::FRIENDLY));
    assert_eq!(receipt.input_hash, Digest::of(input.to_string().as_bytes()));
    assert!(receipt.output_hash.is_some() && receipt.fuel.call > 0);
    assert!(receipt.peak_memory_bytes >= 64 << 10 && receipt.wall_us > 0);
}

#[tokio::test]
async fn equal_calls_have_equal_output_hashes_and_fuel() {
    let sandbox = sandbox();
    let component = friendly(&sandbox).await;
    let first = sandbox
        .call(&component, call("add", json!({"left": 2, "right": 3})))
        .await
        .receipt;
    let second = sandbox
        .call(&component, call("add", json!({"left": 2, "right": 3})))
        .await
        .receipt;
    assert_eq!(
        (first.output_hash, first.fuel),
        (second.output_hash, second.fuel)
    );
    assert_ne!(first.id, second.id);
}

#[tokio::test]
async fn a_wrong_input_names_every_problem_and_runs_nothing() {
    let sandbox = sandbox();
    let component = friendly(&sandbox).await;
    let report = sandbox
        .call(&component, call("add", json!({"left": "2", "x": 1})))
        .await;
    let failure = report.result.unwrap_err();
    assert_eq!(failure.outcome, Outcome::InvalidInput);
    assert!(failure.problems.iter().any(|problem| problem.at == "/left"));
    assert!(
        failure
            .problems
            .iter()
            .any(|problem| problem.message.contains("right"))
    );
    assert_eq!(report.receipt.fuel.total(), 0);
    // A receipt says where, and keeps nothing of what the input held.
    let detail = report.receipt.detail.unwrap();
    assert!(
        detail.contains("/left") && !detail.contains("\"2\""),
        "{detail}"
    );
}

#[tokio::test]
async fn an_unknown_tool_is_named_with_those_that_are_there() {
    let sandbox = sandbox();
    let component = friendly(&sandbox).await;
    let failure = sandbox
        .call(&component, call("ad", json!({})))
        .await
        .result
        .unwrap_err();
    assert_eq!(failure.outcome, Outcome::UnknownTool);
    assert!(failure.message.contains("add"));
}

#[tokio::test]
async fn a_tools_own_failure_is_no_host_outcome() {
    let sandbox = sandbox();
    let component = friendly(&sandbox).await;
    let input = json!({"left": i32::MAX, "right": 1});
    let report = sandbox.call(&component, call("add", input)).await;
    let failure = report.result.unwrap_err();
    assert_eq!(failure.outcome, Outcome::ToolError);
    assert!(matches!(
        failure.tool_error,
        Some(ToolError::InvalidInput(_))
    ));
}

#[tokio::test]
async fn progress_and_output_and_log_lines_arrive_in_order() {
    let sandbox = sandbox();
    let component = friendly(&sandbox).await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&seen);
    let call = call("greet", json!({"name": "Ann"}))
        .with_events(Arc::new(move |event| sink.lock().unwrap().push(event)));
    let report = sandbox.call(&component, call).await;
    assert_eq!(report.result.unwrap().text(), "Hello, Ann!");
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 7);
    assert!(matches!(&seen[0], Event::Progress { done: Some(done), .. } if *done == 0.5));
    assert!(matches!(&seen[1], Event::Emit { .. }));
    assert!(matches!(&seen[6], Event::Progress { done: Some(done), .. } if *done == 1.0));
    assert_eq!(report.log.len(), 4);
}

#[tokio::test]
async fn without_a_grant_state_is_denied_and_the_receipt_says_so() {
    let sandbox = sandbox();
    let component = friendly(&sandbox).await;
    let report = sandbox.call(&component, call("counter", json!({}))).await;
    assert_eq!(outcome(&report), Outcome::Denied);
    assert_eq!(report.receipt.denials[0].capability, "state");
    assert!(report.receipt.denials[0].message.contains("--state"));
    assert!(report.result.unwrap_err().tool_error.is_some());
}

#[tokio::test]
async fn a_grant_reaches_no_further_than_the_wish() {
    let sandbox = sandbox();
    let component = friendly(&sandbox).await;
    let authority = granted(&component, "add", json!({"state": true, "env": ["*"]}));
    assert!(authority.capabilities().is_empty());
}

#[tokio::test]
async fn a_cancelled_call_stops_at_once() {
    let sandbox = sandbox();
    let component = hostile(&sandbox).await;
    let cancel = CancellationToken::new();
    let call = call("spin", json!({}))
        .with_limits(Limits {
            fuel: u64::MAX,
            timeout_ms: 60_000,
            ..Limits::default()
        })
        .with_cancel(cancel.clone());
    let running = {
        let sandbox = sandbox.clone();
        tokio::spawn(async move { sandbox.call(&component, call).await })
    };
    tokio::time::sleep(Duration::from_millis(50)).await;
    let asked = Instant::now();
    cancel.cancel();
    let report = running.await.unwrap();
    assert_eq!(outcome(&report), Outcome::Cancelled);
    assert!(report.receipt.fuel.call > 0);
    assert!(
        asked.elapsed() < Duration::from_secs(2),
        "{:?}",
        asked.elapsed()
    );
    assert_eq!(sandbox.usage().running, 0);
}

/// What bounds the time from a cancel to a guest's end is not a clock but the fuel that it may use in
/// between: at a nanosecond or two each, these are far less than a millisecond.
#[tokio::test]
async fn a_guest_that_never_pauses_uses_little_fuel_after_it_is_cancelled() {
    let sandbox = sandbox();
    let component = hostile(&sandbox).await;
    let turn = settings().yield_interval;
    assert!(turn <= 100_000);
    for turns in [1, 10, 100] {
        let cancel = CancellationToken::new();
        let call = call("spin", json!({})).with_limits(Limits {
            fuel: u64::MAX,
            timeout_ms: 60_000,
            ..Limits::default()
        });
        let call = call.with_cancel(cancel.clone());
        let mut running = std::pin::pin!(sandbox.call(&component, call));
        // Its thread is its own for one turn at a time.
        for _ in 0..turns {
            assert!(futures::poll!(running.as_mut()).is_pending());
        }
        cancel.cancel();
        let Poll::Ready(report) = futures::poll!(running.as_mut()) else {
            panic!("it goes on after its cancel");
        };
        assert_eq!(outcome(&report), Outcome::Cancelled);
        let fuel = report.receipt.fuel.call;
        // An instruction or two more than the turn are used before it is looked at.
        assert!(
            fuel <= turns * (turn + turn / 100),
            "{fuel} in {turns} turns"
        );
    }
    assert_eq!(sandbox.usage().running, 0);
}

#[tokio::test]
async fn a_call_that_is_dropped_frees_its_slot() {
    let sandbox = sandbox();
    let component = hostile(&sandbox).await;
    let call = call("sleep_forever", json!({}));
    let timed =
        tokio::time::timeout(Duration::from_millis(50), sandbox.call(&component, call)).await;
    assert!(timed.is_err());
    assert_eq!(sandbox.usage().running, 0);
    let friendly = friendly(&sandbox).await;
    neighbour_is_unharmed(&sandbox, &friendly).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_calls_wait_their_turn_and_none_fails() {
    let settings = Settings {
        slots: 2,
        ..settings()
    };
    let sandbox = Sandbox::new(settings).unwrap();
    let component = friendly(&sandbox).await;
    let calls = (0..1_000).map(|n| {
        let (sandbox, component) = (sandbox.clone(), component.clone());
        tokio::spawn(async move {
            sandbox
                .call(&component, call("add", json!({"left": n, "right": 1})))
                .await
        })
    });
    for (n, report) in calls.collect::<Vec<_>>().into_iter().enumerate() {
        let report = report.await.unwrap();
        assert_eq!(
            report.result.unwrap().structured,
            Some(json!({"sum": n + 1}))
        );
    }
    assert_eq!((sandbox.usage().running, sandbox.usage().waiting), (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_pool_makes_calls_wait_and_then_refuses_by_type() {
    let settings = Settings {
        slots: 1,
        queue: 1,
        queue_timeout: Duration::from_millis(50),
        ..settings()
    };
    let sandbox = Sandbox::new(settings).unwrap();
    let component = hostile(&sandbox).await;
    let cancel = CancellationToken::new();
    let holder = {
        let (sandbox, component, cancel) = (sandbox.clone(), component.clone(), cancel.clone());
        tokio::spawn(async move {
            sandbox
                .call(
                    &component,
                    call("sleep_forever", json!({})).with_cancel(cancel),
                )
                .await
        })
    };
    while sandbox.usage().running == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let report = sandbox.call(&component, call("spin", json!({}))).await;
    assert_eq!(outcome(&report), Outcome::Overloaded);
    assert!(report.receipt.queue_us >= 50_000 && report.receipt.fuel.total() == 0);
    cancel.cancel();
    assert_eq!(outcome(&holder.await.unwrap()), Outcome::Cancelled);
    let friendly = friendly(&sandbox).await;
    neighbour_is_unharmed(&sandbox, &friendly).await;
}

#[tokio::test]
async fn instances_are_made_on_demand_where_slots_are_switched_off() {
    let settings = Settings {
        pooling: false,
        ..settings()
    };
    let sandbox = Sandbox::new(settings).unwrap();
    assert!(!sandbox.usage().pooling);
    let friendly = friendly(&sandbox).await;
    neighbour_is_unharmed(&sandbox, &friendly).await;
}

#[tokio::test]
async fn a_tool_that_imports_nothing_of_the_host_is_pure() {
    let sandbox = sandbox();
    let pure = install(&sandbox, bulkhead_fixtures::PLAIN).await;
    assert!(pure.is_pure(), "{:?}", pure.imports());
    // It sleeps in one of its modes: whoever reads a clock learns something.
    assert!(
        !install(&sandbox, bulkhead_fixtures::MISDESCRIBE)
            .await
            .is_pure()
    );
    assert!(!friendly(&sandbox).await.is_pure());
}
