//! Source that uses up what it can: each call ends in its typed outcome, and harms no other.
//!
//! `hostile` holds such tools by language; the first line of each says how its call ends, and, where
//! it raises something, of which kind that is.

use std::{fs, path::Path};

use bulkhead_domain::Outcome::*;
use bulkhead_policy::Limits;
use bulkhead_sandbox::SourceReport;
use serde_json::json;

use crate::common::*;

/// Calls every tool of a language within tight limits, compares how its call ended, and shows each
/// time that the next call is unharmed.
async fn attack(language: &str, tool: fn(&str) -> Tool) {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/source/hostile"));
    let mut wrong = Vec::new();
    let mut attacks = 0;
    for file in fs::read_dir(folder.join(language)).unwrap() {
        let file = file.unwrap().path();
        let text = fs::read_to_string(&file).unwrap();
        let (_, expected) = text.lines().next().unwrap().split_once(" ends: ").unwrap();
        let report = tool(&text).tight().call(json!({})).await;
        let ended = ended(&report);
        if !expected.split(", or ").any(|expected| expected == ended) {
            let name = file.file_name().unwrap().display();
            wrong.push(format!(
                "{name}: {ended} instead of {expected}: {:?}",
                report.report.result
            ));
        }
        the_next_call_is_unharmed().await;
        attacks += 1;
    }
    assert!(attacks > 30);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The outcome, and the kind of what was raised.
fn ended(report: &SourceReport) -> String {
    let kind = report
        .exception
        .iter()
        .map(|exception| exception.kind.clone());
    let outcome = outcome(report).to_string();
    [outcome]
        .into_iter()
        .chain(kind)
        .collect::<Vec<_>>()
        .join(" ")
}

#[tokio::test]
async fn hostile_python_ends_as_it_should() {
    if has_python() {
        attack("python", Tool::python).await;
    }
}

#[tokio::test]
async fn hostile_javascript_ends_as_it_should() {
    attack("javascript", Tool::javascript).await;
}

#[tokio::test]
async fn sleeping_ends_at_the_deadline() {
    let mut tools = vec![
        Tool::javascript(
            "async function t() { await new Promise((done) => setTimeout(done, 1e9)) }",
        ),
        Tool::javascript("function t() { return new Promise((done) => setInterval(() => 1, 10)) }"),
    ];
    if has_python() {
        tools.push(Tool::python("import time\ndef t():\n    time.sleep(1e6)\n"));
        tools.push(Tool::python(
            "import asyncio\ndef t():\n    asyncio.run(asyncio.sleep(1e6))\n",
        ));
    }
    for mut tool in tools {
        tool.limits = Limits {
            timeout_ms: 300,
            ..Limits::default()
        };
        let report = tool.call(json!({})).await;
        assert_eq!(outcome(&report), DeadlineExceeded, "{report:?}");
    }
    the_next_call_is_unharmed().await;
}

#[tokio::test]
async fn a_giant_result_is_refused() {
    let mut tools = vec![
        Tool::javascript("function t() { return 'x'.repeat(3e6) }"),
        Tool::javascript("function t() { return Array.from({ length: 3e5 }, (_, n) => n) }"),
    ];
    if has_python() {
        tools.push(Tool::python("def t():\n    return 'x' * 3_000_000\n"));
        tools.push(Tool::python("def t():\n    return list(range(300_000))\n"));
        tools.push(Tool::python(
            "def t():\n    return {str(n): 'x' * 1000 for n in range(10_000)}\n",
        ));
    }
    for mut tool in tools {
        tool.limits.fuel = 20_000_000_000;
        let report = tool.call(json!({})).await;
        assert_eq!(
            outcome(&report),
            LimitExceeded,
            "{:?}",
            report.report.result.is_ok()
        );
    }
    the_next_call_is_unharmed().await;
}

#[tokio::test]
async fn a_giant_error_stays_within_what_a_call_may_hand_over() {
    let mut tools = vec![
        Tool::javascript("function t() { throw new Error('x'.repeat(1e6)) }"),
        Tool::javascript("function t() { throw new Error('x'.repeat(3e6)) }"),
    ];
    if has_python() {
        for code in [
            "raise ValueError('x' * 1_000_000)",
            "raise ValueError('x' * 30_000_000)",
            "raise type('E' * 30_000_000, (Exception,), {})",
        ] {
            tools.push(Tool::python(&format!("def t():\n    {code}\n")));
        }
    }
    for mut tool in tools {
        tool.limits.fuel = 20_000_000_000;
        let report = tool.call(json!({})).await;
        let found = outcome(&report);
        let known = [ToolError, LimitExceeded, OutOfMemory];
        assert!(known.contains(&found), "{found}");
        let failure = report.report.result.unwrap_err();
        assert!(failure.message.len() <= (1 << 20) + 100);
    }
    the_next_call_is_unharmed().await;
}

#[tokio::test]
async fn input_that_is_hard_to_read_is_refused_or_read() {
    let nested = |open: &str, close: &str| {
        let depth = 100_000;
        format!("{{\"a\": {}1{}}}", open.repeat(depth), close.repeat(depth))
    };
    for input in [
        nested("[", "]"),
        nested("{\"a\": ", "}"),
        format!("{{\"a\": {}}}", "9".repeat(200_000)),
        format!("{{\"a\": 1e{}}}", "9".repeat(1_000)),
        "{\"a\": \"\\ud800\"}".to_owned(),
        "{\"a\": NaN}".to_owned(),
        "{\"a\": 1, \"a\": 2, \"__proto__\": {\"x\": 1}}".to_owned(),
        "\u{feff}{\"a\": 1}".to_owned(),
    ] {
        let start: String = input.chars().take(20).collect();
        let mut tools = vec![Tool::javascript("function t(a, ...rest) { return 1 }")];
        if has_python() {
            tools.push(Tool::python(
                "def t(a: Any = None, **more):\n    return 1\n",
            ));
            tools.push(Tool::python("def t(a: List[List[int]]):\n    return 1\n"));
        }
        for tool in tools {
            let report = tool.tight().call_text(input.clone()).await;
            let found = outcome(&report);
            assert!(
                matches!(found, Ok | ToolError),
                "{start}: {:?}",
                report.report.result
            );
        }
    }
    the_next_call_is_unharmed().await;
}
