//! `bulkhead demo`: the README's first command.

use crate::support::run;

#[test]
fn the_demo_goes_as_told_and_its_json_says_so() {
    let ended = run(&["demo", "--json"]).with(0);
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
    let progressed = |step: &&serde_json::Value| {
        let events = step["events"].as_array().expect("a list");
        events
            .iter()
            .filter(|event| event["type"] == "progress")
            .count()
            == 3
    };
    assert_eq!(steps.iter().filter(progressed).count(), 1);
}

#[test]
fn the_demo_is_readable_without_a_terminal() {
    let ended = run(&["demo"]).with(0);
    assert!(
        !ended.out.contains('\x1b'),
        "no colours where no terminal is"
    );
    assert!(
        ended.out.contains("compiling") && ended.out.contains("receipt:"),
        "{}",
        ended.out
    );
    assert!(ended.out.lines().count() < 100, "short");
}
