//! Many calls at once: all get a slot in time, and memory stays within bounds.

use std::{
    fs,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bulkhead_sandbox::{Job, Language, Runtime, Sandbox, Settings};
use serde_json::json;

use crate::common::*;

const CALLS: usize = 200;
/// What the process may have resident at any time.
const MAX_RESIDENT_KIB: u64 = 2 << 20;
/// Set in the process that is measured: it runs this test and no other.
const ALONE: &str = "BULKHEAD_TEST_ALONE";

/// A line of `/proc/self/status`, in KiB.
fn status_kib(name: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim_matches([':', '\t', ' '])
        .split(' ')
        .next()?
        .parse()
        .ok()
}

/// Calls all at once; the tool holds its slot for a moment, as one that waits for the network.
async fn call_all(sandbox: &Sandbox, runtime: &Runtime) {
    let text = "import json, time\ndef t(n: int):\n    rows = [{'n': n, 'text': 'x' * 100} for _ in range(200)]\n    time.sleep(0.05)\n    return n if json.loads(json.dumps(rows)) == rows else None\n";
    let calls = (0..CALLS).map(|n| {
        let (sandbox, runtime) = (sandbox.clone(), runtime.clone());
        let job = Job::Call { order: Vec::new() };
        let call = Tool::python(text).into_call(job, json!({"n": n}).to_string());
        tokio::spawn(async move { sandbox.call_source(&runtime, call).await })
    });
    let calls: Vec<_> = calls.collect();
    let mut waited = 0;
    for (n, call) in calls.into_iter().enumerate() {
        let report = call.await.unwrap();
        waited = waited.max(report.report.receipt.queue_us);
        assert_eq!(value(report), json!(n), "call {n}");
    }
    eprintln!("the longest wait for a slot: {waited} µs");
}

/// Notes the most memory of the process's own, every few milliseconds until it is aborted. Pages of
/// the runtime's image are shared by all instances, but `VmRSS` counts them once for each.
fn watch_own_memory() -> (Arc<AtomicU64>, tokio::task::JoinHandle<()>) {
    let most = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&most);
    let watch = tokio::spawn(async move {
        loop {
            seen.fetch_max(status_kib("RssAnon").unwrap_or(0), Ordering::Relaxed);
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    (most, watch)
}

/// With as many slots as the settings say, and with one for each call.
async fn measured() {
    let bytes = python_bytes().unwrap();
    for slots in [Settings::default().slots, CALLS] {
        let settings = Settings {
            slots,
            cache_dir: settings().cache_dir,
            cache_key: settings().cache_key,
            ..Settings::default()
        };
        let sandbox = Sandbox::new(settings).unwrap();
        let runtime = sandbox.install_runtime(bytes).await.unwrap();
        let (own, watch) = watch_own_memory();
        call_all(&sandbox, &runtime).await;
        watch.abort();
        let own = own.load(Ordering::Relaxed);
        let resident = status_kib("VmHWM").unwrap_or(0);
        eprintln!("{slots} slots: at most {own} KiB of its own, {resident} KiB resident");
        assert!(own <= MAX_RESIDENT_KIB, "{slots} slots: {own} KiB");
        if slots < CALLS {
            assert!(resident <= MAX_RESIDENT_KIB, "{resident} KiB");
        }
        assert_eq!(sandbox.usage().running, 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_calls_at_once_fit_into_two_gibibytes() {
    if !has_python() {
        return;
    }
    if std::env::var_os(ALONE).is_some() {
        return measured().await;
    }
    // Compiled here, so that what compiling takes is not measured.
    runtime(Language::Python).await;
    let name = "many::two_hundred_calls_at_once_fit_into_two_gibibytes";
    let output = tokio::task::spawn_blocking(move || {
        let mut test = Command::new(std::env::current_exe().unwrap());
        test.args(["--exact", name, "--nocapture"])
            .env(ALONE, "1")
            .output()
    });
    let output = output.await.unwrap().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    eprintln!("{said}");
    assert!(output.status.success(), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_in_both_languages_do_not_mix() {
    let mut calls = Vec::new();
    for n in 0..40 {
        let javascript = Tool::javascript(
            "let kept = []; async function t(n) { kept.push(n); await null; return kept }",
        );
        calls.push((n, tokio::spawn(javascript.call(json!({"n": n})))));
        if has_python() {
            let python =
                Tool::python("kept = []\ndef t(n: int):\n    kept.append(n)\n    return kept\n");
            calls.push((n, tokio::spawn(python.call(json!({"n": n})))));
        }
    }
    for (n, call) in calls {
        assert_eq!(value(call.await.unwrap()), json!([n]));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_is_cancelled_gives_its_slot_back() {
    let mut tools = vec![Tool::javascript("function t() { for (;;); }")];
    if has_python() {
        tools.push(Tool::python("def t():\n    while True:\n        pass\n"));
        tools.push(Tool::python("import time\ndef t():\n    time.sleep(60)\n"));
    }
    for mut tool in tools {
        tool.limits.fuel = 50_000_000_000;
        let cancel = tokio_util::sync::CancellationToken::new();
        let language = tool.language();
        let mut call = tool.into_call(Job::Call { order: Vec::new() }, "{}".to_owned());
        call.call.cancel = cancel.clone();
        let runtime = runtime(language).await;
        let running = tokio::spawn(sandbox().call_source(runtime, call));
        tokio::time::sleep(Duration::from_millis(100)).await;
        cancel.cancel();
        let report = running.await.unwrap();
        assert_eq!(outcome(&report), bulkhead_domain::Outcome::Cancelled);
        assert!(report.report.receipt.wall_us < 5_000_000);
    }
    the_next_call_is_unharmed().await;
}
