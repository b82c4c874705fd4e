//! One call, from its arrival to its receipt.

mod draft;
mod ended;
mod guest;
mod source;

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use bulkhead_domain::{Digest, FuelByPhase, Outcome, Output, Problem, Timestamp, id::CallId};
use bulkhead_policy::Limits;
use futures::FutureExt;
use tokio::time::Instant;
use wasmtime::{Store, component::Val};

use self::{draft::Draft, source::SourceEnd};
pub(crate) use self::{ended::Ended, source::describe};
use crate::{
    Call, Component, Failure, Lineage, Report, Runtime, SourceCall, SourceReport,
    component::InstalledTool,
    engine::{Core, MAX_PEER_DEPTH},
    slots::Slot,
    state::{CallState, Context},
};

/// Bytes that a guest may hand over in one host call, beside what its limits name: room for
/// the encoding of many small values.
const HOSTCALL_SLACK: usize = 4 << 20;
/// Handles of component resources, with those inside of the guest.
const MAX_COMPONENT_HANDLES: usize = 16_384;

/// Calls a tool. Never panics; always gives a receipt.
pub(crate) async fn call(core: &Arc<Core>, component: &Component, call: Call) -> Report {
    let draft = Draft::new(component.digest(), &call);
    let installed = &component.0;
    let Some(tool) = installed.tool(&call.tool) else {
        let known: Vec<_> = installed
            .tools
            .iter()
            .map(|tool| tool.info.name.as_str())
            .collect();
        let message = format!(
            "there is no tool \"{}\"; there are {}",
            call.tool,
            known.join(", ")
        );
        return draft.refuse(Failure::new(Outcome::UnknownTool, message));
    };
    let limits = call.limits.within(&core.settings.ceiling);
    let arguments = match check_input(tool, &call, &limits) {
        Ok(arguments) => arguments,
        Err(failure) => return draft.refuse(failure),
    };
    let enter = async |store: &mut Store<CallState>, instantiated: &mut Option<u64>| {
        guest::enter(installed, tool, &call.input, arguments, store, instantiated).await
    };
    let output = |returned, state: &CallState| guest::output(returned, tool, state);
    run(core, draft, &call, limits, enter, output).await
}

/// Calls or runs source in a language's runtime. Never panics; always gives a receipt.
pub(crate) async fn call_source(
    core: &Arc<Core>,
    runtime: &Runtime,
    source: SourceCall,
) -> SourceReport {
    let SourceCall {
        source,
        job,
        environment,
        call,
    } = source;
    let draft = Draft::new(runtime.digest(), &call).of_source(&source.text);
    let limits = call.limits.within(&core.settings.ceiling);
    let mut end = SourceEnd::default();
    let checked = check_size(&call, &limits).and_then(|()| source::check(&source));
    let report = match checked {
        Err(failure) => draft.refuse(failure),
        Ok(()) => {
            let enter = async |store: &mut Store<CallState>, instantiated: &mut Option<u64>| {
                let input = &call.input;
                source::enter(
                    runtime,
                    &source,
                    &job,
                    input,
                    &environment,
                    store,
                    instantiated,
                )
                .await
            };
            let output = |execution, state: &CallState| source::output(execution, state, &mut end);
            run(core, draft, &call, limits, enter, output).await
        }
    };
    SourceReport {
        report,
        exception: end.exception,
        memory: end.memory,
    }
}

/// From the slot to the receipt: `enter` drives the guest and notes the fuel that was left after
/// the instance was made; `output` checks what it returned.
async fn run<T>(
    core: &Arc<Core>,
    mut draft: Draft,
    call: &Call,
    limits: Limits,
    enter: impl AsyncFnOnce(&mut Store<CallState>, &mut Option<u64>) -> wasmtime::Result<T>,
    output: impl FnOnce(T, &CallState) -> Result<Output, Failure>,
) -> Report {
    if call.lineage.depth() > MAX_PEER_DEPTH {
        let message = format!("tools call tools at most {MAX_PEER_DEPTH} deep");
        return draft.refuse(Failure::new(Outcome::LimitExceeded, message));
    }
    let slot = match slot(core, call, &mut draft).await {
        Ok(slot) => slot,
        Err(failure) => return draft.refuse(failure),
    };
    draft.running();

    let context = context(call, &draft, limits, &slot);
    let state = match CallState::new(core, context, call.events.clone()) {
        Ok(state) => state,
        Err(error) => {
            tracing::error!(%error, "a granted folder can't be opened");
            return draft.refuse(Failure::new(Outcome::HostError, error.to_string()));
        }
    };
    let mut store = match store(core, state) {
        Ok(store) => store,
        Err(error) => return draft.refuse(host_failure(&error)),
    };
    let mut instantiated = None;
    let guest = enter(&mut store, &mut instantiated);
    let deadline = draft.deadline(call_timeout(call, core));
    let ended = bounded(guest, &call.cancel, deadline).await;
    let report = finish(draft, store, instantiated, ended, output);
    // Only now that the store is gone is there room for another.
    drop(slot);
    report
}

fn call_timeout(call: &Call, core: &Core) -> Duration {
    Duration::from_millis(call.limits.timeout_ms.min(core.settings.ceiling.timeout_ms))
}

/// Checks the input. A plain tool gets it as values; a native one gets the text, and what was
/// parsed of it is not kept while the call waits.
fn check_input(
    tool: &InstalledTool,
    call: &Call,
    limits: &Limits,
) -> Result<Option<Vec<Val>>, Failure> {
    check_size(call, limits)?;
    let value = tool.input.check_text(&call.input).map_err(invalid_input)?;
    let plain = tool.plain.as_ref();
    plain
        .map(|plain| plain.arguments(&value))
        .transpose()
        .map_err(invalid_input)
}

fn check_size(call: &Call, limits: &Limits) -> Result<(), Failure> {
    let (bytes, limit) = (call.input.len() as u64, limits.input_bytes);
    if bytes > limit {
        let message = format!("the input has {bytes} bytes, more than the {limit} allowed");
        return Err(Failure::new(Outcome::InvalidInput, message));
    }
    Ok(())
}

fn invalid_input(problems: Vec<Problem>) -> Failure {
    let lines = problems.iter().map(|problem| {
        let at = if problem.at.is_empty() {
            "the input"
        } else {
            &problem.at
        };
        format!("{at}: {}", problem.message)
    });
    let message = lines.collect::<Vec<_>>().join("; ");
    Failure {
        problems,
        ..Failure::new(Outcome::InvalidInput, message)
    }
}

/// A slot, waited for where none is free. A call by a tool runs in the slot of the outermost call.
async fn slot(core: &Core, call: &Call, draft: &mut Draft) -> Result<Arc<Slot>, Failure> {
    if let Some(slot) = &call.lineage.slot {
        return Ok(Arc::clone(slot));
    }
    if let Some(slot) = core.slots.try_take() {
        return Ok(Arc::new(slot));
    }
    let slot = core.slots.take(&call.cancel).await?;
    draft.waited();
    Ok(Arc::new(slot))
}

fn context(call: &Call, draft: &Draft, limits: Limits, slot: &Arc<Slot>) -> Context {
    Context {
        call_id: draft.call_id(),
        idempotency_key: draft.idempotency_key(),
        agent_id: call.agent_id.clone(),
        deadline: draft.deadline(Duration::from_millis(limits.timeout_ms)),
        limits,
        authority: Arc::clone(&call.authority),
        services: call.services.clone(),
        cancel: call.cancel.clone(),
        lineage: call.lineage.with_call(draft.name()).in_slot(slot),
    }
}

/// A fresh store with all its limits set.
fn store(core: &Core, state: CallState) -> wasmtime::Result<Store<CallState>> {
    let fuel = state.context.limits.fuel;
    let bytes = usize::try_from(state.context.limits.output_bytes).unwrap_or(usize::MAX);
    let mut store = Store::new(&core.engine, state);
    store.limiter(|state| &mut state.limiter);
    store.set_fuel(fuel)?;
    store.fuel_async_yield_interval(Some(core.settings.yield_interval))?;
    store.set_hostcall_fuel(bytes.saturating_add(HOSTCALL_SLACK));
    store.set_max_component_handles(MAX_COMPONENT_HANDLES);
    Ok(store)
}

/// Drives `guest` until it returns, is cancelled, or its time is over; a panic of the host
/// under it ends this call alone.
async fn bounded<T>(
    guest: impl Future<Output = wasmtime::Result<T>>,
    cancel: &tokio_util::sync::CancellationToken,
    deadline: Instant,
) -> Result<T, Ended> {
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(Ended::cancelled()),
        () = tokio::time::sleep_until(deadline) => Err(Ended::deadline()),
        returned = AssertUnwindSafe(guest).catch_unwind() => match returned {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => Err(Ended::error(&error)),
            Err(_) => Err(Ended::panicked()),
        },
    }
}

fn host_failure(error: &wasmtime::Error) -> Failure {
    tracing::error!(%error, "a call could not be set up");
    Failure::new(
        Outcome::HostError,
        "the host could not set the call up; its log has the cause",
    )
}

fn finish<T>(
    mut draft: Draft,
    mut store: Store<CallState>,
    instantiated: Option<u64>,
    ended: Result<T, Ended>,
    output: impl FnOnce(T, &CallState) -> Result<Output, Failure>,
) -> Report {
    let left = store.get_fuel().unwrap_or(0);
    let state = store.data_mut();
    state.collect();
    let granted = state.context.limits.fuel;
    let after_instantiate = instantiated.unwrap_or(left);
    let fuel = FuelByPhase {
        instantiate: granted.saturating_sub(after_instantiate),
        call: after_instantiate.saturating_sub(left),
    };
    let refused = state.limiter.refused();
    let result = match ended {
        Ok(returned) => output(returned, state),
        Err(ended) => Err(ended
            .with_memory(refused)
            .into_failure(&state.context.limits)),
    };
    draft.consumed(fuel, state.limiter.peak_bytes());
    let (log, log_truncated) = state.capture.finish();
    let (host_calls, omitted, denials) = state.recorder.finish();
    draft.host(host_calls, omitted, denials);
    draft.finish(result, log, log_truncated)
}

/// Runs something of a component in a store of its own, without capabilities: `describe`, and
/// the probe of a benchmark.
pub(crate) async fn in_store<T>(
    core: &Arc<Core>,
    limits: Limits,
    digest: Digest,
    what: &str,
    enter: impl AsyncFnOnce(&mut Store<CallState>) -> wasmtime::Result<T>,
) -> Result<T, Ended> {
    let call = Call::new(what, "{}");
    let context = Context {
        call_id: CallId::random(),
        idempotency_key: Arc::from(what),
        agent_id: None,
        deadline: Instant::now() + Duration::from_millis(limits.timeout_ms),
        limits,
        authority: Arc::clone(&call.authority),
        services: call.services.clone(),
        cancel: call.cancel.clone(),
        lineage: Lineage::default().with_call(format!("{digest}/{what}")),
    };
    let deadline = context.deadline;
    let host = |message: String| Ended {
        outcome: Outcome::HostError,
        message,
    };
    let state = CallState::new(core, context, None).map_err(|error| host(error.to_string()))?;
    let mut store = store(core, state).map_err(|error| host(error.to_string()))?;
    let ended = bounded(enter(&mut store), &call.cancel, deadline).await;
    let refused = store.data().limiter.refused();
    let limits = &store.data().context.limits;
    ended.map_err(|ended| {
        let failure = ended.with_memory(refused).into_failure(limits);
        Ended {
            outcome: failure.outcome,
            message: failure.message,
        }
    })
}

/// When a call began; kept together so that receipts and deadlines agree.
#[derive(Debug, Clone, Copy)]
struct Clock {
    arrived: Instant,
    at: Timestamp,
}

impl Clock {
    fn start() -> Self {
        Self {
            arrived: Instant::now(),
            at: Timestamp::now(),
        }
    }
}
