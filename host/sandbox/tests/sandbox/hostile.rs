//! Guests that want more than their share: time, memory, tables, handles, bytes. Each test shows the
//! typed outcome, and that a neighbour's call works afterwards. What concerns installing is in
//! `install.rs`, the network in `network.rs`, peers in `peers.rs`, files in `folders/`, and what
//! the host must not give away in `isolation.rs`.

use std::sync::{Arc, Mutex};

use crate::common::*;
use bulkhead_domain::Outcome;
use bulkhead_fixtures::text;
use bulkhead_policy::Limits;
use bulkhead_sandbox::{Call, Event};
use serde_json::json;

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

#[tokio::test]
async fn many_memories_are_summed() {
    let sandbox = sandbox();
    let component = install(&sandbox, &wat(&text::many_memories(3, 100))).await;
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
    assert!(
        install_attack(&wat(&text::many_memories(64, 1)))
            .await
            .is_err()
    );
}

#[tokio::test]
async fn a_memory_that_begins_over_the_limit_is_refused_by_type() {
    let sandbox = sandbox();
    let bytes = wat(text::BIG_MEMORY);
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
    let bytes = wat(text::TABLE_BOMB);
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
    let bytes = wat(text::STRING_LIST);
    let sandbox = sandbox();
    let component = install(&sandbox, &bytes).await;
    let report = sandbox
        .call(&component, call("f", json!({})).with_limits(tight()))
        .await;
    assert_eq!(outcome(&report), Outcome::LimitExceeded);
    let friendly = friendly(&sandbox).await;
    neighbour_is_unharmed(&sandbox, &friendly).await;
}

// values that break the rules of the component model

#[tokio::test]
async fn values_that_break_the_rules_end_the_call_as_a_trap() {
    let sandbox = sandbox();
    let component = install(&sandbox, &wat(text::BROKEN_ABI)).await;
    let friendly = friendly(&sandbox).await;
    for (tool, input) in [
        ("bad_utf8", json!({})),
        ("far_text", json!({})),
        ("long_text", json!({})),
        ("far_list", json!({})),
        ("crooked_list", json!({})),
        ("far_result", json!({})),
        ("no_char", json!({})),
        ("no_case", json!({})),
        ("take_text", json!({ "text": "some text" })),
    ] {
        let report = sandbox
            .call(&component, call(tool, input).with_limits(tight()))
            .await;
        let failure = report.result.expect_err(tool);
        assert_eq!(failure.outcome, Outcome::Trap, "{tool}: {failure:?}");
        neighbour_is_unharmed(&sandbox, &friendly).await;
    }
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
    let bytes = wat(text::HANDLE_FLOOD);
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
