//! What calls of source cost: a trivial function, in a fresh runtime each time.

use std::{sync::Arc, time::Instant};

use bulkhead_sandbox::{
    Call, Environment, Job, Language, Runtime, Sandbox, Settings, Source, SourceCall,
};

use super::{
    Effort,
    stats::{Samples, Spread},
};
use crate::cli::{error::CliError, runtime_cache::RuntimeCache};

const PYTHON: &str = "def add(a: int, b: int) -> int:\n    return a + b\n";
const JAVASCRIPT: &str = "export function add(a, b) { return a + b; }\n";

/// Why a figure is not there.
pub(super) type Missing = &'static str;

/// Why a server can't use the compiled runtime.
pub(super) const NO_CACHE: Missing = "this user has no folder for caches, from which a server could \
    take the compiled runtime";
const NO_PYTHON: Missing = "this build has no Python runtime";
const NOT_COMPILED: Missing = "its runtime is not compiled yet, which takes longer than --quick has; \
    run `bulkhead bench` once: it measures this, and keeps what it compiled for --quick";

/// What calls of source cost.
pub(super) struct SourceCalls {
    pub(super) python: Result<Spread, Missing>,
    pub(super) javascript: Result<Spread, Missing>,
}

/// Calls a Python and a JavaScript function. Runtimes that are not compiled yet are left out where
/// it has to be quick.
pub(super) async fn calls(effort: Effort) -> Result<SourceCalls, CliError> {
    let sandbox = sandbox()?;
    let python = match bulkhead_tools::PYTHON {
        Ok(bytes) => measured(&sandbox, bytes, Language::Python, PYTHON, effort).await?,
        Err(_) => Err(NO_PYTHON),
    };
    let bytes = bulkhead_tools::JAVASCRIPT;
    let javascript = measured(&sandbox, bytes, Language::JavaScript, JAVASCRIPT, effort).await?;
    Ok(SourceCalls { python, javascript })
}

/// Keeps the compiled runtimes beyond this run: compiling them takes longer than all the rest.
fn sandbox() -> Result<Sandbox, CliError> {
    let mut settings = Settings::default();
    if let Some(cache) = RuntimeCache::open()? {
        cache.apply(&mut settings)?;
    }
    Sandbox::new(settings).map_err(|error| CliError::host("no sandbox could be set up", error))
}

async fn measured(
    sandbox: &Sandbox,
    bytes: &'static [u8],
    language: Language,
    text: &str,
    effort: Effort,
) -> Result<Result<Spread, Missing>, CliError> {
    if effort.quick && !sandbox.is_compiled(bytes) {
        return Ok(Err(NOT_COMPILED));
    }
    let runtime = sandbox.install_runtime(bytes).await;
    let runtime = runtime.map_err(|error| CliError::install(&error))?;
    let (warm_up, count) = (effort.of(20, 200), effort.of(300, 3_000));
    let mut samples = Samples::default();
    let begun = Instant::now();
    for turn in 0..warm_up + count {
        if turn > warm_up && !effort.goes_on(begun) {
            break;
        }
        let took = one(sandbox.clone(), runtime.clone(), language, text.into()).await?;
        if turn >= warm_up {
            samples.push(took);
        }
    }
    Ok(Ok(samples.spread()))
}

/// On a worker thread, as a server's calls are.
async fn one(
    sandbox: Sandbox,
    runtime: Runtime,
    language: Language,
    text: Arc<str>,
) -> Result<std::time::Duration, CliError> {
    let call = SourceCall {
        source: Source {
            language,
            text,
            function: Some("add".to_owned()),
        },
        job: Job::Call {
            order: vec!["a".to_owned(), "b".to_owned()],
        },
        environment: Environment::default(),
        call: Call::new("add", r#"{"a": 1, "b": 2}"#),
    };
    let measured = tokio::spawn(async move {
        let start = Instant::now();
        let report = sandbox.call_source(&runtime, call).await;
        (start.elapsed(), report.report.result)
    });
    let (took, result) = measured
        .await
        .map_err(|error| CliError::host("a measurement broke off", error))?;
    result.map_err(|error| CliError::host("a call failed", error))?;
    Ok(took)
}
