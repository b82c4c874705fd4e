//! What is printed, and what is seen of it while the call runs.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use bulkhead_domain::Outcome;
use bulkhead_sandbox::{Event, EventSink, LogLevel};
use serde_json::json;

use crate::common::*;

#[tokio::test]
async fn what_was_printed_before_a_failure_is_in_the_log() {
    if has_python() {
        let text = "import sys\ndef t():\n    print('one', 2)\n    print('to stderr', file=sys.stderr)\n\
                    \x20   sys.stdout.write('without end')\n    raise ValueError('bad')\n";
        let report = Tool::python(text).call(json!({})).await;
        assert_eq!(lines(&report, LogLevel::Stdout), ["one 2", "without end"]);
        assert_eq!(lines(&report, LogLevel::Stderr), ["to stderr"]);
        assert_eq!(raised(report).kind, "ValueError");
    }
    let text = "function t() { console.log('one', 2); console.error('to stderr'); throw new Error('bad') }";
    let report = Tool::javascript(text).call(json!({})).await;
    assert_eq!(lines(&report, LogLevel::Stdout), ["one 2"]);
    assert_eq!(lines(&report, LogLevel::Stderr), ["to stderr"]);
    assert_eq!(raised(report).kind, "Error");
}

#[tokio::test]
async fn what_was_printed_before_the_host_ended_the_call_is_in_the_log() {
    if has_python() {
        let text = "def t():\n    print('begun')\n    while True:\n        pass\n";
        let report = Tool::python(text).tight().call(json!({})).await;
        assert_eq!(outcome(&report), Outcome::OutOfFuel);
        assert_eq!(lines(&report, LogLevel::Stdout), ["begun"]);
    }
    let text = "function t() { console.log('begun'); for (;;); }";
    let report = Tool::javascript(text).tight().call(json!({})).await;
    assert_eq!(outcome(&report), Outcome::OutOfFuel);
    assert_eq!(lines(&report, LogLevel::Stdout), ["begun"]);
}

/// Events and when they came.
type Seen = Arc<Mutex<Vec<(Instant, Event)>>>;

/// Remembers events.
fn remembering() -> (EventSink, Seen) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&seen);
    let sink: EventSink = Arc::new(move |event| sink.lock().unwrap().push((Instant::now(), event)));
    (sink, seen)
}

#[tokio::test]
async fn printed_lines_are_seen_while_the_call_runs() {
    let python =
        "import time\ndef t():\n    print('first')\n    time.sleep(0.3)\n    print('last')\n";
    let javascript = "async function t() { console.log('first');\n\
                      await new Promise((done) => setTimeout(done, 300)); console.log('last') }";
    let mut tools = vec![Tool::javascript(javascript)];
    if has_python() {
        tools.push(Tool::python(python));
    }
    for tool in tools {
        let (sink, seen) = remembering();
        let report = tool.events(sink).call(json!({})).await;
        let ended = Instant::now();
        assert_eq!(outcome(&report), Outcome::Ok);
        let seen = seen.lock().unwrap();
        let log = |message: &str| Event::Log {
            level: LogLevel::Stdout,
            message: message.to_owned(),
        };
        assert_eq!(seen[0].1, log("first"));
        assert_eq!(seen[1].1, log("last"));
        assert!(ended - seen[0].0 >= Duration::from_millis(250));
    }
}

#[tokio::test]
async fn printing_without_end_is_cut_and_marked() {
    let python = "def t():\n    for n in range(20_000):\n        print('x' * 100)\n    return n\n";
    let javascript = "function t() { for (let n = 0; n < 20000; n++) console.log('x'.repeat(100)); return 19999 }";
    let mut tools = vec![Tool::javascript(javascript)];
    if has_python() {
        tools.push(Tool::python(python));
    }
    for tool in tools {
        let (sink, seen) = remembering();
        let report = tool.events(sink).call(json!({})).await;
        assert!(report.report.log_truncated);
        let bytes: usize = report
            .report
            .log
            .iter()
            .map(|line| line.message.len())
            .sum();
        assert!(bytes <= 64 << 10, "{bytes}");
        let seen = seen.lock().unwrap();
        assert!(matches!(&seen.last().unwrap().1, Event::Truncated { what } if what == "log"));
        drop(seen);
        assert_eq!(value(report), json!(19_999));
    }
    the_next_call_is_unharmed().await;
}

#[tokio::test]
async fn a_tool_may_do_what_it_likes_with_its_streams() {
    if !has_python() {
        return;
    }
    for (code, expected) in [
        ("sys.stdout.close()", json!(1)),
        ("sys.stdout = None", json!(1)),
        ("sys.stdout = io.StringIO(); print('x')", json!(1)),
        ("os.close(1)", json!(1)),
        ("sys.stdout.buffer.write(bytes(range(256)))", json!(1)),
        ("print('\\ud800 \\x00 \\x1b[31m')", json!(1)),
        ("sys.stderr.detach()", json!(1)),
    ] {
        let text = format!("import io, os, sys\ndef t():\n    {code}\n    return 1\n");
        let report = Tool::python(&text).call(json!({})).await;
        if outcome(&report) == Outcome::Ok {
            assert_eq!(value(report), expected, "{code}");
        } else {
            assert_eq!(raised(report).kind, "OSError", "{code}");
        }
    }
    the_next_call_is_unharmed().await;
}
