//! `bulkhead demo`: the README's first command.

use std::{path::Path, sync::Mutex};

use serde_json::Value;

use crate::support::{Ended, bulkhead};

/// The second demo finds the runtimes that the first one has compiled; both at once would compile
/// them twice.
static ONE_BY_ONE: Mutex<()> = Mutex::new(());

fn demo(arguments: &[&str]) -> Ended {
    let _turn = ONE_BY_ONE.lock();
    let caches = Path::new(env!("CARGO_TARGET_TMPDIR")).join("caches");
    let mut command = bulkhead(arguments);
    let output = command.env("XDG_CACHE_HOME", caches).output();
    output.expect("the program runs").into()
}

#[test]
fn the_demo_goes_as_told_and_its_json_says_so() {
    let ended = demo(&["demo", "--json"]).with(0);
    let document = ended.json();
    assert_eq!(document["ok"], true);
    let steps = document["steps"].as_array().expect("steps");
    for (outcome, has_receipt) in [
        ("ok", true),
        ("denied", true),
        ("out_of_fuel", true),
        ("out_of_memory", true),
        ("invalid_input", false),
        ("pending", false),
        ("consent_required", false),
    ] {
        let step = steps.iter().find(|step| step["outcome"] == outcome);
        let step = step.unwrap_or_else(|| panic!("no step ended with {outcome}: {steps:#?}"));
        assert_eq!(step["as_told"], true);
        assert_eq!(step["receipt"].is_object(), has_receipt, "{outcome}");
    }
    let progressed = |step: &&Value| {
        let events = step["events"].as_array().expect("a list");
        events
            .iter()
            .filter(|event| event["type"] == "progress")
            .count()
            == 3
    };
    assert_eq!(steps.iter().filter(progressed).count(), 1);
    check_agent(&document["agent"]);
}

/// Three tools in three languages at once (two where this build has no Python), then one that
/// writes to the memory; all of them with a receipt.
fn check_agent(agent: &Value) {
    assert_eq!(agent["as_told"], true, "{agent:#}");
    let turns = agent["turns"].as_array().expect("turns");
    let first = turns[0]["calls"].as_array().expect("calls");
    let mut expected = vec![
        ("fetch_title", "The Daily Bulkhead"),
        ("sailing_time", "9 h 23 min"),
    ];
    if bulkhead_tools::PYTHON.is_ok() {
        expected.insert(1, ("days_between", "42"));
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let returned = first
        .iter()
        .map(|call| (text(&call["tool"]), text(&call["returned"])));
    let expected: Vec<_> = expected
        .iter()
        .map(|(tool, result)| ((*tool).to_owned(), (*result).to_owned()))
        .collect();
    assert_eq!(returned.collect::<Vec<_>>(), expected);
    let said = text(&turns[0]["said"]);
    assert!(
        expected.iter().all(|(_, result)| said.contains(result)),
        "the answer quotes what the tools returned: {said}"
    );
    for call in first {
        assert!(
            call["receipt"]["fuel"]["call"].as_u64() > Some(0),
            "{call:#}"
        );
    }
    assert_eq!(turns[1]["calls"][0]["tool"], "memory_insert");
    let host_calls = &turns[1]["calls"][0]["receipt"]["host_calls"];
    assert!(
        host_calls
            .as_array()
            .is_some_and(|calls| calls.iter().any(|call| call["interface"] == "memory")),
        "{host_calls:#}"
    );
    let block = &agent["memory"][0];
    assert_eq!(block["before"], "Name: Ada");
    assert!(text(&block["after"]).contains("Halcyon"), "{block:#}");
}

#[test]
fn the_demo_is_readable_without_a_terminal() {
    let ended = demo(&["demo"]).with(0);
    assert!(
        !ended.out.contains('\x1b'),
        "no colours where no terminal is"
    );
    assert!(
        ended.out.contains("compiling") && ended.out.contains("receipt:"),
        "{}",
        ended.out
    );
    let lines: Vec<&str> = ended.out.lines().collect();
    assert!(lines.len() < 140, "short");
    assert!(
        lines.iter().any(|line| line.starts_with("   agent "))
            && ended.out.contains("memory_insert"),
        "{}",
        ended.out
    );
    assert!(
        lines.iter().all(|line| !line.ends_with(' ')),
        "no line ends with a space"
    );
}
