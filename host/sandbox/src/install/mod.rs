//! From bytes to a component that can be called: validate, compile, describe once, pin.

mod describe;
mod inspect;
mod rules;
mod wishes;

use std::sync::Arc;

use bulkhead_domain::{Digest, ToolInfo};
use bulkhead_policy::Capabilities;
use tokio::sync::Semaphore;
use wasmtime::component::{Component as Compiled, InstancePre};

use self::inspect::Inspected;
use crate::{
    Component, InstallError, Kind, Runtime,
    adapter::{self, PlainTool},
    component::{Entry, Installed, InstalledTool},
    engine::Core,
    interfaces::{NativeEntry, RUNTIME_INTERFACE, RuntimeEntry},
    schema::InputCheck,
    source::InstalledRuntime,
    state::CallState,
};

pub(crate) use self::describe::limits as describe_limits;

pub(crate) async fn install(core: Arc<Core>, bytes: Arc<[u8]>) -> Result<Component, InstallError> {
    let size = bytes.len() as u64;
    let (inspected, digest, pre) = prepare(&core, bytes).await?;
    if inspected.runtime {
        let message = "it is the runtime of a language, which the server brings; push tools";
        return Err(InstallError::NoTools(message.to_owned()));
    }

    let describing = Arc::clone(&core.load_jobs).acquire_owned().await;
    let _describing =
        describing.map_err(|_| InstallError::Host("the sandbox is shutting down".to_owned()))?;
    let (kind, entry, found) = match inspected.kind {
        Kind::Native => {
            let entry = NativeEntry::new(pre.clone())
                .map_err(|error| InstallError::Invalid(text(&error)))?;
            let tools = describe::describe(&core, &entry, digest).await?;
            let tools = tools.into_iter().map(|info| (info, None)).collect();
            (
                Kind::Native,
                Entry::Native(Box::new(entry)),
                (tools, Vec::new()),
            )
        }
        Kind::Plain => {
            let found = plain_tools(pre.component())?;
            describe::start(&core, &pre, digest).await?;
            (Kind::Plain, Entry::Plain, found)
        }
    };
    let (tools, skipped) = found;
    // Compiling schemas takes milliseconds to seconds: not on a thread that runs calls.
    let assembled = tokio::task::spawn_blocking(move || {
        assemble(inspected, digest, size, kind, entry, pre, tools, skipped)
    });
    assembled
        .await
        .map_err(|error| InstallError::Host(error.to_string()))?
}

/// Installs the runtime of a language.
pub(crate) async fn install_runtime(
    core: Arc<Core>,
    bytes: Arc<[u8]>,
) -> Result<Runtime, InstallError> {
    let (inspected, digest, pre) = prepare(&core, bytes).await?;
    if !inspected.runtime {
        let message = format!("a runtime exports {RUNTIME_INTERFACE}");
        return Err(InstallError::NoTools(message));
    }
    describe::start(&core, &pre, digest).await?;
    let entry = RuntimeEntry::new(pre).map_err(|error| InstallError::Invalid(text(&error)))?;
    Ok(Runtime(Arc::new(InstalledRuntime { digest, entry })))
}

/// Inspects, compiles and links.
async fn prepare(
    core: &Arc<Core>,
    bytes: Arc<[u8]>,
) -> Result<(Inspected, Digest, InstancePre<CallState>), InstallError> {
    let (actual, limit) = (bytes.len() as u64, core.settings.max_component_bytes);
    if actual > limit {
        return Err(InstallError::TooLarge { actual, limit });
    }
    let (inspected, digest, compiled) = compile(core, bytes).await?;
    let pre = core
        .linker
        .instantiate_pre(&compiled)
        .map_err(|error| InstallError::UnknownImports(vec![text(&error)]))?;
    Ok((inspected, digest, pre))
}

/// Makes an instance and drops it.
pub(crate) async fn instantiate(
    core: &Arc<Core>,
    component: &Component,
) -> Result<(), InstallError> {
    describe::start(core, &component.0.pre, component.digest()).await
}

type Found = (Vec<(ToolInfo, Option<PlainTool>)>, Vec<(String, String)>);

fn plain_tools(compiled: &Compiled) -> Result<Found, InstallError> {
    let exports = adapter::exports(compiled);
    let skipped: Vec<_> = exports
        .skipped
        .into_iter()
        .map(|skipped| (skipped.path, skipped.reason))
        .collect();
    if exports.tools.is_empty() {
        let reasons = skipped
            .iter()
            .map(|(path, reason)| format!("{path}: {reason}"));
        let reasons = reasons.collect::<Vec<_>>().join("; ");
        return Err(InstallError::NoTools(if reasons.is_empty() {
            "export bulkhead:tool/tools (with the SDK), or functions on plain values".to_owned()
        } else {
            reasons
        }));
    }
    let tools = exports
        .tools
        .into_iter()
        .map(|tool| (tool.info.clone(), Some(tool)));
    Ok((tools.collect(), skipped))
}

/// Inspects and hashes in a bounded pool of blocking threads; takes the artifact from the cache
/// where it can, and compiles where it can't.
async fn compile(
    core: &Arc<Core>,
    bytes: Arc<[u8]>,
) -> Result<(Inspected, Digest, Compiled), InstallError> {
    let (worker, loaded) = (Arc::clone(core), Arc::clone(&bytes));
    let (inspected, digest, cached) = blocking(core, &core.load_jobs, move || {
        let inspected = inspect::inspect(&loaded)?;
        let digest = Digest::of(&loaded);
        let cached = worker.cache.load(&worker.engine, &digest);
        Ok((inspected, digest, cached))
    })
    .await?;
    if let Some(compiled) = cached {
        return Ok((inspected, digest, compiled));
    }
    let worker = Arc::clone(core);
    let compiled = blocking(core, &core.compile_jobs, move || {
        inspect::validate(&bytes)?;
        let compiled = Compiled::new(&worker.engine, &bytes[..])
            .map_err(|error| InstallError::Compile(text(&error)))?;
        worker.cache.store(&digest, &compiled);
        Ok(compiled)
    })
    .await?;
    Ok((inspected, digest, compiled))
}

/// Runs `work` on a blocking thread under a permit of `jobs`, for as long as compiling may take.
async fn blocking<T: Send + 'static>(
    core: &Core,
    jobs: &Arc<Semaphore>,
    work: impl FnOnce() -> Result<T, InstallError> + Send + 'static,
) -> Result<T, InstallError> {
    let timeout = core.settings.compile_timeout;
    let permit = tokio::time::timeout(timeout, Arc::clone(jobs).acquire_owned())
        .await
        .map_err(|_| InstallError::Busy)?
        .map_err(|_| InstallError::Host("the sandbox is shutting down".to_owned()))?;
    let job = tokio::task::spawn_blocking(move || {
        // Held by the thread: work that was given up still counts as running.
        let _permit = permit;
        work()
    });
    match tokio::time::timeout(timeout, job).await {
        Ok(Ok(result)) => result,
        Ok(Err(error)) => {
            tracing::error!(%error, "the compiler failed");
            let message = "the compiler failed on this component".to_owned();
            Err(InstallError::Compile(message))
        }
        Err(_) => Err(InstallError::CompileTimeout(timeout.as_secs())),
    }
}

#[allow(
    clippy::too_many_arguments,
    reason = "each is a different fact about one component"
)]
fn assemble(
    inspected: Inspected,
    digest: Digest,
    size: u64,
    kind: Kind,
    entry: Entry,
    pre: InstancePre<CallState>,
    found: Vec<(ToolInfo, Option<PlainTool>)>,
    skipped: Vec<(String, String)>,
) -> Result<Component, InstallError> {
    let infos: Vec<_> = found.iter().map(|(info, _)| info).collect();
    rules::check(&infos)?;
    let mut wishes = wishes::of_tools(&inspected, &infos)?;
    let mut all = Capabilities::default();
    for wish in &wishes {
        all.union(wish);
    }
    let imports = inspected.described_imports();
    let mut tools = Vec::with_capacity(found.len());
    for (at, (info, plain)) in found.into_iter().enumerate() {
        let schema = |schema, which: &str| {
            InputCheck::new(schema).map_err(|message| {
                InstallError::Description(vec![bulkhead_domain::Problem {
                    at: format!("/{at}/{which}"),
                    message,
                }])
            })
        };
        let input = schema(&info.input_schema, "input_schema")?;
        let output = info
            .output_schema
            .as_ref()
            .map(|found| schema(found, "output_schema"))
            .transpose()?;
        let wishes = std::mem::take(&mut wishes[at]);
        tools.push(InstalledTool {
            info,
            wishes,
            input,
            output,
            plain,
        });
    }
    let pure = imports.iter().all(|import| !import.effect);
    Ok(Component(Arc::new(Installed {
        digest,
        size,
        kind,
        imports,
        pure,
        tools,
        skipped,
        wishes: all,
        pre,
        entry,
    })))
}

/// The text of a wasmtime error with its causes, bounded: it may quote the guest.
pub(crate) fn text(error: &wasmtime::Error) -> String {
    const MAX: usize = 600;
    let mut text = format!("{error:#}");
    if text.len() > MAX {
        text.truncate(text.floor_char_boundary(MAX));
        text.push('…');
    }
    text
}
