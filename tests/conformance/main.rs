//! What others made, in the real sandbox: components of toolchains that nobody here wrote.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "tests"
)]

use std::{path::Path, process::Command};

use bulkhead_domain::{Outcome, ToolError};
use bulkhead_sandbox::{Call, Kind, Sandbox, Settings};
use serde_json::Value;

/// Set where the toolchains must be there, such as in continuous integration.
const REQUIRED: &str = "BULKHEAD_REQUIRE_CONFORMANCE";

/// Python made into a component by componentize-py; none where there is no python3 or no way to
/// its package, with a notice.
fn text_tools() -> Option<Vec<u8>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance/componentize/make.sh");
    let made = Command::new("sh").arg(script).output();
    match made {
        Ok(made) if made.status.success() => {
            let path = String::from_utf8(made.stdout).expect("a path");
            Some(std::fs::read(path.trim()).expect("the component that was just made"))
        }
        failed => {
            assert!(
                std::env::var_os(REQUIRED).is_none(),
                "componentize-py: {failed:?}"
            );
            eprintln!("skipped: python3 with a way to componentize-py's package is not there");
            None
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn python_made_into_a_component_by_others_runs_as_a_set_of_tools() {
    let Some(bytes) = text_tools() else { return };
    let sandbox = Sandbox::new(Settings {
        slots: 2,
        ..Settings::default()
    })
    .unwrap();
    let component = sandbox.install(bytes).await.unwrap();
    assert_eq!(component.kind(), Kind::Plain);
    assert!(
        !component.is_pure(),
        "it may read clocks and random numbers"
    );

    let cases = include_str!("componentize/calls.json");
    let cases: Vec<Value> = serde_json::from_str(cases).unwrap();
    assert!(cases.len() >= 7);
    for case in cases {
        let call = Call::new(case["tool"].as_str().unwrap(), case["input"].to_string());
        let report = sandbox.call(&component, call).await;
        if let Some(text) = case.get("text") {
            assert_eq!(
                report.result.unwrap().text(),
                text.as_str().unwrap(),
                "{case}"
            );
        } else if let Some(structured) = case.get("structured") {
            assert_eq!(
                report.result.unwrap().structured.as_ref(),
                Some(structured),
                "{case}"
            );
        } else if let Some(failed) = case.get("failed") {
            let failure = report.result.unwrap_err();
            assert_eq!(failure.outcome, Outcome::ToolError, "{case}");
            let failed = ToolError::Failed(failed.as_str().unwrap().to_owned());
            assert_eq!(failure.tool_error, Some(failed));
        } else {
            let failure = report.result.unwrap_err();
            assert_eq!(failure.outcome, Outcome::InvalidInput, "{case}");
            assert!(!failure.problems.is_empty());
        }
    }
}
