//! What the tests of the sandbox share.
#![allow(dead_code, unreachable_pub, reason = "each test uses some of it")]

use std::sync::Arc;

use bulkhead_domain::{Outcome, Receipt};
use bulkhead_policy::{Capabilities, Limits};
use bulkhead_sandbox::{Authority, Call, Component, Report, Sandbox, Settings};
use serde_json::{Value, json};

/// A sandbox of few slots; each test has its own.
pub fn sandbox() -> Sandbox {
    Sandbox::new(Settings {
        slots: 8,
        ..Settings::default()
    })
    .expect("the engine starts")
}

pub async fn friendly(sandbox: &Sandbox) -> Component {
    install(sandbox, bulkhead_fixtures::FRIENDLY).await
}

pub async fn hostile(sandbox: &Sandbox) -> Component {
    install(sandbox, bulkhead_fixtures::HOSTILE).await
}

pub async fn install(sandbox: &Sandbox, bytes: &[u8]) -> Component {
    sandbox.install(bytes).await.expect("the fixture installs")
}

pub fn call(tool: &str, input: Value) -> Call {
    Call::new(tool, input.to_string())
}

/// Limits that end a hostile call soon.
pub fn tight() -> Limits {
    Limits {
        fuel: 200_000_000,
        timeout_ms: 3_000,
        memory_bytes: 64 << 20,
        ..Limits::default()
    }
}

/// The authority of `tool` under a grant, as JSON.
pub fn granted(component: &Component, tool: &str, grant: Value) -> Arc<Authority> {
    let grant: Capabilities = serde_json::from_value(grant).expect("a valid grant");
    Authority::for_tool(
        component,
        tool,
        &grant,
        None,
        Vec::new(),
        format!("test/{tool}"),
    )
    .expect("the tool is there")
}

pub fn outcome(report: &Report) -> Outcome {
    report.receipt.outcome
}

/// A neighbour's call still works, and quickly: nothing that happened before harmed it.
pub async fn neighbour_is_unharmed(sandbox: &Sandbox, friendly: &Component) -> Receipt {
    let report = sandbox
        .call(friendly, call("add", json!({"left": 2, "right": 3})))
        .await;
    let output = report.result.expect("the neighbour's call works");
    assert_eq!(output.structured, Some(json!({"sum": 5})));
    report.receipt
}
