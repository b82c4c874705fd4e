//! The testkit, as a tool's author uses it, on a component that uses every interface.

mod built_in;

use bulkhead_testkit::{Event, Outcome, Testkit, expect_outcome, json, text};

fn friendly() -> &'static [u8] {
    bulkhead_fixtures::FRIENDLY
}

#[test]
fn a_tool_is_called_as_a_server_would_call_it() {
    let tool = Testkit::new().load_bytes(friendly()).expect("it loads");
    let report = tool.call("add", json!({"left": 2, "right": 3}));
    let output = report.result.expect("a sum");
    assert_eq!(output.structured, Some(json!({"sum": 5})));
    assert_eq!(report.receipt.tool, "add");
}

#[test]
fn nothing_is_allowed_that_the_test_does_not_allow() {
    let tool = Testkit::new().load_bytes(friendly()).expect("it loads");
    expect_outcome(&tool.call("counter", json!({})), Outcome::Denied);
    let url = json!({"url": "https://example.com"});
    expect_outcome(&tool.call("fetch", url), Outcome::Denied);
}

#[test]
fn state_and_memory_are_kept_and_can_be_looked_at() {
    let kit = Testkit::new().allow_state().block("human", "Ada");
    let tool = kit.load_bytes(friendly()).expect("it loads");
    tool.call("counter", json!({}));
    let second = tool.call("counter", json!({})).result.expect("a count");
    assert_eq!(second.structured, Some(json!({"count": 2})));
    assert_eq!(tool.state().entries().len(), 1);
    let remembered = tool.call("remember", json!({"label": "human", "line": "likes tea"}));
    assert_eq!(text(&remembered), "Ada\nlikes tea");
    assert_eq!(
        tool.blocks().value("human").as_deref(),
        Some("Ada\nlikes tea")
    );
}

#[test]
fn a_limit_of_the_test_stops_the_tool() {
    let kit = Testkit::new().timeout(std::time::Duration::from_millis(100));
    let tool = kit.load_bytes(friendly()).expect("it loads");
    expect_outcome(
        &tool.call("sleep", json!({"ms": 10_000})),
        Outcome::DeadlineExceeded,
    );
    let tool = Testkit::new()
        .fuel(1)
        .load_bytes(friendly())
        .expect("it loads");
    expect_outcome(&tool.call("now", json!({})), Outcome::OutOfFuel);
}

#[tokio::test]
async fn events_are_seen_and_blocking_calls_work_inside_a_runtime_too() {
    let tool = Testkit::new().load_bytes(friendly()).expect("it loads");
    let (report, events) = tool.call_with_events("greet", json!({"name": "Ada"})).await;
    assert_eq!(text(&report), "Hello, Ada!");
    assert!(
        events
            .iter()
            .any(|event| matches!(event, Event::Progress { message, .. } if message == "greeted"))
    );
    assert_eq!(
        text(&tool.call("greet", json!({"name": "Bo"}))),
        "Hello, Bo!"
    );
}

#[test]
fn what_is_wrong_with_the_test_is_told_when_it_loads() {
    let error = Testkit::new()
        .allow_host("no host")
        .load_bytes(friendly())
        .expect_err("no host");
    assert!(error.to_string().contains("no host"), "{error}");
    assert!(Testkit::new().load_bytes(b"nothing".to_vec()).is_err());
}
