//! What a call and an install cost in this process.

use std::{path::Path, sync::Arc, time::Instant};

use bulkhead_sandbox::{CacheKey, Call, Component, Sandbox, Settings};
use tokio::{sync::Barrier, task::JoinSet};

use super::{
    Effort, WaitingCalls, rss,
    stats::{Middle, Samples, Spread, rounded},
};
use crate::cli::error::CliError;

/// The input of every measured call.
pub(super) const INPUT: &str = r#"{"name":"Ada"}"#;
/// The tool of every measured call, in the component that the demo uses too.
pub(super) const TOOL: &str = "greet";
/// Calls that wait at once.
const WAITING: usize = 1_000;
/// Words that each of them counts: enough fuel that calls take turns, so that the others do wait.
const WAITING_WORDS: usize = 5_000;
/// Calls that run at once while memory is measured: as many as the sandbox has slots.
const AT_ONCE: usize = 64;

/// A sandbox that keeps compiled artifacts in `folder`, or none of them.
pub(super) fn sandbox(folder: Option<&Path>) -> Result<Sandbox, CliError> {
    let settings = Settings {
        cache_dir: folder.map(Path::to_owned),
        // The folder is made for this run and goes with it, so any key will do.
        cache_key: folder.map(|_| CacheKey::new([7; 32])),
        ..Settings::default()
    };
    Sandbox::new(settings).map_err(|error| CliError::host("no sandbox could be set up", error))
}

pub(super) async fn install(sandbox: &Sandbox, bytes: &[u8]) -> Result<Component, CliError> {
    sandbox
        .install(bytes)
        .await
        .map_err(|error| CliError::install(&error))
}

/// Milliseconds of an install that compiles, and of one that finds the artifact.
pub(super) async fn installs(folder: &Path, effort: Effort) -> Result<(f64, f64), CliError> {
    let mut cold = Samples::default();
    let begun = Instant::now();
    for turn in 0..effort.of(1, 3) {
        if turn > 0 && !effort.goes_on(begun) {
            break;
        }
        let sandbox = sandbox(None)?;
        let start = Instant::now();
        install(&sandbox, bulkhead_tools::DEMO).await?;
        cold.push(start.elapsed());
    }
    install(&sandbox(Some(folder))?, bulkhead_tools::DEMO).await?;
    let mut cached = Samples::default();
    let begun = Instant::now();
    for turn in 0..effort.of(5, 20) {
        if turn > 0 && !effort.goes_on(begun) {
            break;
        }
        let sandbox = sandbox(Some(folder))?;
        let start = Instant::now();
        install(&sandbox, bulkhead_tools::DEMO).await?;
        cached.push(start.elapsed());
    }
    Ok((cold.middle_ms(), cached.middle_ms()))
}

/// Calls one after the other: a fresh instance, the input checked, a receipt made.
pub(super) async fn native(
    sandbox: &Sandbox,
    component: &Component,
    effort: Effort,
) -> Result<Spread, CliError> {
    let (sandbox, component) = (sandbox.clone(), component.clone());
    let (warm_up, count) = (effort.of(200, 1_000), effort.of(2_000, 20_000));
    // On a worker thread, as a server's calls are.
    spawned(async move {
        let call = Call::new(TOOL, INPUT);
        let mut samples = Samples::default();
        let begun = Instant::now();
        for turn in 0..warm_up + count {
            if turn > warm_up && !effort.goes_on(begun) {
                break;
            }
            let start = Instant::now();
            let report = sandbox.call(&component, call.clone()).await;
            let took = start.elapsed();
            report
                .result
                .map_err(|error| CliError::host("a call failed", error))?;
            if turn >= warm_up {
                samples.push(took);
            }
        }
        Ok(samples.spread())
    })
    .await
}

/// A fresh store and instance and its end, without a call.
pub(super) async fn instantiate(
    sandbox: &Sandbox,
    component: &Component,
    effort: Effort,
) -> Result<Middle, CliError> {
    let (sandbox, component) = (sandbox.clone(), component.clone());
    let (warm_up, count) = (effort.of(100, 500), effort.of(1_000, 10_000));
    spawned(async move {
        let mut samples = Samples::default();
        let begun = Instant::now();
        for turn in 0..warm_up + count {
            if turn > warm_up && !effort.goes_on(begun) {
                break;
            }
            let took = sandbox
                .probe_instantiate(&component)
                .await
                .map_err(|error| CliError::host("an instance could not be made", error))?;
            if turn >= warm_up {
                samples.push(took);
            }
        }
        Ok(samples.middle())
    })
    .await
}

/// A thousand calls at once on as many slots as there are cores: all but those wait.
pub(super) async fn waiting(folder: &Path, cores: usize) -> Result<WaitingCalls, CliError> {
    let settings = Settings {
        slots: cores,
        cache_dir: Some(folder.to_owned()),
        cache_key: Some(CacheKey::new([7; 32])),
        ..Settings::default()
    };
    let sandbox = Sandbox::new(settings)
        .map_err(|error| CliError::host("no sandbox could be set up", error))?;
    let component = install(&sandbox, bulkhead_tools::DEMO).await?;
    let barrier = Arc::new(Barrier::new(WAITING));
    let input: Arc<str> = serde_json::json!({"text": "word ".repeat(WAITING_WORDS)})
        .to_string()
        .into();
    let mut calls = JoinSet::new();
    let start = Instant::now();
    for _ in 0..WAITING {
        let (sandbox, component) = (sandbox.clone(), component.clone());
        let (barrier, input) = (Arc::clone(&barrier), Arc::clone(&input));
        calls.spawn(async move {
            barrier.wait().await;
            let report = sandbox
                .call(&component, Call::new("word_count", input))
                .await;
            (report.result.is_ok(), report.receipt.queue_us)
        });
    }
    let ended = calls.join_all().await;
    let longest = ended
        .iter()
        .map(|(_, queue_us)| *queue_us)
        .max()
        .unwrap_or(0);
    Ok(WaitingCalls {
        calls: WAITING,
        ok: ended.iter().filter(|(ok, _)| *ok).count(),
        longest_wait_ms: rounded(longest as f64 / 1e3),
        all_done_ms: rounded(start.elapsed().as_secs_f64() * 1e3),
    })
}

/// Kilobytes that an installed tool keeps resident, from artifacts that were compiled before.
pub(super) async fn per_idle_tool(folder: &Path, effort: Effort) -> Result<Option<f64>, CliError> {
    let components: Vec<Vec<u8>> = (0..effort.of(1, 8)).map(variant).collect();
    let sandbox = sandbox(Some(folder))?;
    for bytes in &components {
        install(&sandbox, bytes).await?;
    }
    drop(sandbox);
    let sandbox = self::sandbox(Some(folder))?;
    // The first one brings what all share.
    install(&sandbox, bulkhead_tools::DEMO).await?;
    let before = rss::own();
    let mut kept = Vec::new();
    for bytes in &components {
        kept.push(install(&sandbox, bytes).await?);
    }
    let after = rss::own();
    Ok(before
        .zip(after)
        .map(|(before, after)| rounded(after.saturating_sub(before) as f64 / kept.len() as f64)))
}

/// Kilobytes that a running call keeps resident, with every slot taken.
pub(super) async fn per_call(folder: &Path) -> Result<Option<f64>, CliError> {
    let sandbox = sandbox(Some(folder))?;
    let component = install(&sandbox, bulkhead_tools::DEMO).await?;
    let before = rss::own();
    let mut calls = JoinSet::new();
    let cancel = tokio_util::sync::CancellationToken::new();
    for _ in 0..AT_ONCE {
        let (sandbox, component) = (sandbox.clone(), component.clone());
        let mut call = Call::new("spin", "{}").with_cancel(cancel.clone());
        // Only the cancellation ends them.
        call.limits.fuel = u64::MAX;
        calls.spawn(async move { sandbox.call(&component, call).await.receipt.outcome });
    }
    while sandbox.usage().running < AT_ONCE.min(sandbox.usage().slots) {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        if calls.try_join_next().is_some() {
            return Err(CliError::host(
                "a call that spins ended",
                "before it was cancelled",
            ));
        }
    }
    // One turn of each, so that its memory is really there.
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    let after = rss::own();
    cancel.cancel();
    calls.join_all().await;
    Ok(before
        .zip(after)
        .map(|(before, after)| rounded(after.saturating_sub(before) as f64 / AT_ONCE as f64)))
}

/// The demo's component with another digest: a custom section more (name and number).
fn variant(number: usize) -> Vec<u8> {
    let name = b"bench";
    let payload = number.to_le_bytes();
    let mut bytes = bulkhead_tools::DEMO.to_vec();
    // Section 0, its length, the name's length; all below 128, so one byte each.
    bytes.extend([0, (1 + name.len() + payload.len()) as u8, name.len() as u8]);
    bytes.extend(name);
    bytes.extend(payload);
    bytes
}

async fn spawned<T: Send + 'static>(
    work: impl Future<Output = Result<T, CliError>> + Send + 'static,
) -> Result<T, CliError> {
    tokio::spawn(work)
        .await
        .map_err(|error| CliError::host("a measurement broke off", error))?
}
