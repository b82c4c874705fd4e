//! Runs `describe` once, at install: no grants, a small budget.

use std::sync::Arc;

use bulkhead_domain::{Digest, Outcome, ToolInfo};
use bulkhead_policy::Limits;
use wasmtime::component::InstancePre;

use crate::{
    InstallError,
    engine::Core,
    interfaces::{NativeEntry, tool_info_from_guest},
    run::{self, Ended},
    state::CallState,
};

/// Fuel of `describe`: a runtime that starts up needs some 100 million.
const FUEL: u64 = 1_000_000_000;
/// Milliseconds of `describe`. It reads nothing and waits for nothing.
const TIMEOUT_MS: u64 = 5_000;

/// What a description may cost.
pub(crate) fn limits(core: &Core) -> Limits {
    Limits {
        fuel: FUEL,
        timeout_ms: TIMEOUT_MS,
        ..Limits::default()
    }
    .within(&core.settings.ceiling)
}

/// What the component's `describe` says.
pub(super) async fn describe(
    core: &Arc<Core>,
    entry: &NativeEntry<CallState>,
    digest: Digest,
) -> Result<Vec<ToolInfo>, InstallError> {
    let ended = run::in_store(core, limits(core), digest, "describe", async |store| {
        let instance = entry.instantiate_async(&mut *store).await?;
        instance
            .bulkhead_tool_tools()
            .call_describe(&mut *store)
            .await
    })
    .await;
    let infos = finished(ended)?;
    let mut tools = Vec::with_capacity(infos.len());
    let mut problems = Vec::new();
    for (at, info) in infos.into_iter().enumerate() {
        match tool_info_from_guest(info) {
            Ok(info) => tools.push(info),
            Err(mut problem) => {
                problem.at = format!("/{at}{}", problem.at);
                problems.push(problem);
            }
        }
    }
    if problems.is_empty() {
        Ok(tools)
    } else {
        Err(InstallError::Description(problems))
    }
}

/// Instantiates a component that has no `describe`, so that a start function that never ends
/// is found at install.
pub(super) async fn start(
    core: &Arc<Core>,
    pre: &InstancePre<CallState>,
    digest: Digest,
) -> Result<(), InstallError> {
    let ended = run::in_store(core, limits(core), digest, "describe", async |store| {
        pre.instantiate_async(&mut *store).await.map(|_| ())
    })
    .await;
    finished(ended)
}

fn finished<T>(ended: Result<T, Ended>) -> Result<T, InstallError> {
    ended.map_err(|ended| match ended.outcome {
        Outcome::HostError => InstallError::Host(ended.message),
        outcome => InstallError::Describe(format!("{outcome}: {}", ended.message)),
    })
}
