//! What the tests of the sandbox share.

use std::sync::Arc;

use bulkhead_domain::{Outcome, Receipt};
use bulkhead_policy::{Capabilities, Limits};
use bulkhead_sandbox::{
    Authority, CacheKey, Call, Component, InstallError, Report, Sandbox, Settings,
};
use serde_json::{Value, json};

/// Few slots, and compiled fixtures kept between tests.
pub(crate) fn settings() -> Settings {
    Settings {
        slots: 8,
        cache_dir: Some(concat!(env!("CARGO_TARGET_TMPDIR"), "/sandbox-cache").into()),
        cache_key: Some(CacheKey::new([1; 32])),
        ..Settings::default()
    }
}

/// A sandbox of few slots; each test has its own.
pub(crate) fn sandbox() -> Sandbox {
    Sandbox::new(settings()).expect("the engine starts")
}

pub(crate) async fn friendly(sandbox: &Sandbox) -> Component {
    install(sandbox, bulkhead_fixtures::FRIENDLY).await
}

pub(crate) async fn hostile(sandbox: &Sandbox) -> Component {
    install(sandbox, bulkhead_fixtures::HOSTILE).await
}

pub(crate) async fn install(sandbox: &Sandbox, bytes: &[u8]) -> Component {
    sandbox.install(bytes).await.expect("the fixture installs")
}

pub(crate) fn call(tool: &str, input: Value) -> Call {
    Call::new(tool, input.to_string())
}

/// Limits that end a hostile call soon.
pub(crate) fn tight() -> Limits {
    Limits {
        fuel: 200_000_000,
        timeout_ms: 3_000,
        memory_bytes: 64 << 20,
        ..Limits::default()
    }
}

/// The authority of `tool` under a grant, as JSON.
pub(crate) fn granted(component: &Component, tool: &str, grant: Value) -> Arc<Authority> {
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

pub(crate) fn outcome(report: &Report) -> Outcome {
    report.receipt.outcome
}

/// A neighbour's call still works, and quickly: nothing that happened before harmed it.
pub(crate) async fn neighbour_is_unharmed(sandbox: &Sandbox, friendly: &Component) -> Receipt {
    let report = sandbox
        .call(friendly, call("add", json!({"left": 2, "right": 3})))
        .await;
    let output = report.result.expect("the neighbour's call works");
    assert_eq!(output.structured, Some(json!({"sum": 5})));
    report.receipt
}

/// Calls a hostile tool within tight limits, then shows that a neighbour is unharmed.
pub(crate) async fn attack(tool: &str, input: Value) -> Report {
    let sandbox = sandbox();
    let (hostile, friendly) = (hostile(&sandbox).await, friendly(&sandbox).await);
    let report = sandbox
        .call(&hostile, call(tool, input).with_limits(tight()))
        .await;
    neighbour_is_unharmed(&sandbox, &friendly).await;
    assert_eq!(sandbox.usage().running, 0);
    report
}

/// A component in the text format.
pub(crate) fn wat(text: &str) -> Vec<u8> {
    wat::parse_str(text).expect("valid text")
}

/// Installs what is no honest component, then shows that a neighbour is unharmed.
pub(crate) async fn install_attack(bytes: &[u8]) -> Result<Component, InstallError> {
    let sandbox = sandbox();
    let friendly = friendly(&sandbox).await;
    let installed = sandbox.install(bytes).await;
    neighbour_is_unharmed(&sandbox, &friendly).await;
    installed
}
