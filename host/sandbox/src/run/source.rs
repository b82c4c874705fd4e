//! Source text in the runtime of its language.

use std::collections::BTreeMap;

use bulkhead_domain::{Outcome, Output, Problem, ToolError};
use serde_json::Value;
use wasmtime::Store;

use super::{
    Ended,
    guest::{self, Returned},
    in_store,
};
use crate::{
    Exception, Failure, Runtime,
    engine::Core,
    interfaces::runtime::{self as wit, Execution},
    source::{Description, Environment, Fault, Job, MAX_SOURCE_BYTES, Source},
    state::CallState,
};

/// Memory blocks that one call may change.
const MAX_BLOCKS: usize = 256;

/// What a report of source says beside the ordinary one.
#[derive(Default)]
pub(super) struct SourceEnd {
    pub(super) exception: Option<Exception>,
    pub(super) memory: BTreeMap<String, String>,
}

/// Source that is too large is refused before a runtime parses it.
pub(super) fn check(source: &Source) -> Result<(), Failure> {
    let bytes = source.text.len();
    if bytes <= MAX_SOURCE_BYTES {
        return Ok(());
    }
    let message = format!("the source has {bytes} bytes, more than the {MAX_SOURCE_BYTES} allowed");
    Err(Failure::new(Outcome::InvalidInput, message))
}

/// Instantiates the runtime and does the job.
pub(super) async fn enter(
    runtime: &Runtime,
    source: &Source,
    job: &Job,
    input: &str,
    environment: &Environment,
    store: &mut Store<CallState>,
    after_instantiate: &mut Option<u64>,
) -> wasmtime::Result<Execution> {
    let instance = runtime.0.entry.instantiate_async(&mut *store).await?;
    *after_instantiate = Some(store.get_fuel()?);
    let guest = instance.bulkhead_tool_source_runtime();
    let (source, environment) = (wit::source(source), wit::environment(environment));
    match job {
        Job::Call { order } => {
            guest
                .call_call(store, &source, input, order, &environment)
                .await
        }
        Job::Run => guest.call_run(store, &source, &environment).await,
    }
}

/// Checks what the runtime returned.
pub(super) fn output(
    execution: Execution,
    state: &CallState,
    end: &mut SourceEnd,
) -> Result<Output, Failure> {
    let clean = |text: String| {
        state
            .context
            .authority
            .scrubber
            .redact_str(&text)
            .into_owned()
    };
    let returned = match execution.ended {
        wit::Ended::Returned(output) => {
            end.memory = memory(execution.memory)?;
            Ok(wit::output(output))
        }
        wit::Ended::InvalidInput(problems) => Err(ToolError::InvalidInput(
            problems
                .into_iter()
                .map(|problem| Problem {
                    at: problem.at,
                    message: problem.message,
                })
                .collect(),
        )),
        wit::Ended::Raised(exception) => {
            let exception = Exception {
                kind: clean(exception.kind),
                message: clean(exception.message),
                traceback: clean(exception.traceback),
            };
            let message = format!("{}: {}", exception.kind, exception.message);
            end.exception = Some(exception);
            Err(ToolError::Failed(message))
        }
        wit::Ended::Exited(code) => {
            let message =
                format!("the tool ended its program with status {code} and returned nothing");
            return Err(Failure::new(Outcome::Exited, message));
        }
    };
    guest::checked(Returned::Native(returned), None, state)
}

fn memory(changed: Option<String>) -> Result<BTreeMap<String, String>, Failure> {
    let broken = |message: String| {
        let message = format!("the runtime is broken: its memory changes are {message}");
        Failure::new(Outcome::InvalidOutput, message)
    };
    let Some(changed) = changed else {
        return Ok(BTreeMap::new());
    };
    let changed: BTreeMap<String, String> =
        serde_json::from_str(&changed).map_err(|error| broken(error.to_string()))?;
    if changed.len() > MAX_BLOCKS {
        return Err(broken(format!("more than {MAX_BLOCKS}")));
    }
    Ok(changed)
}

/// What can be read in `source` without running it.
pub(crate) async fn describe(
    core: &std::sync::Arc<Core>,
    runtime: &Runtime,
    source: &Source,
) -> Result<Result<Description, Fault>, Failure> {
    check(source)?;
    let permit = std::sync::Arc::clone(&core.load_jobs).acquire_owned().await;
    let _permit =
        permit.map_err(|_| Failure::new(Outcome::Overloaded, "the sandbox is shutting down"))?;
    let limits = crate::install::describe_limits(core);
    let found = in_store(core, limits, runtime.digest(), "describe", async |store| {
        let instance = runtime.0.entry.instantiate_async(&mut *store).await?;
        let guest = instance.bulkhead_tool_source_runtime();
        guest.call_describe(store, &wit::source(source)).await
    })
    .await;
    let found = found.map_err(|Ended { outcome, message }| {
        let message = format!("the source could not be described: {message}");
        Failure::new(outcome, message)
    })?;
    let description = match found {
        Err(fault) => return Ok(Err(wit::fault(fault))),
        Ok(description) => description,
    };
    let schema = match description.schema {
        Err(fault) => Err(wit::fault(fault)),
        Ok(text) => Ok(serde_json::from_str::<Value>(&text).map_err(|error| {
            let message = format!("the runtime is broken: its schema is no JSON: {error}");
            Failure::new(Outcome::InvalidOutput, message)
        })?),
    };
    let parameters = description.parameters.into_iter();
    Ok(Ok(Description {
        name: description.name,
        description: description.description,
        schema,
        parameters: parameters
            .map(|parameter| (parameter.name, parameter.required))
            .collect(),
        open: description.open,
    }))
}
