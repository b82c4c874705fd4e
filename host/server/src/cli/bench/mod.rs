//! `bulkhead bench`: the promises of SPECIFICATION.md, measured on this machine.
//!
//! Everything is warmed up first, all samples count, the clock is monotonic. The server that is
//! measured over HTTP is a process of its own; the clients are in this one, so that both share
//! the machine as they would anywhere.

mod agents;
mod calls;
mod cancel;
mod child;
mod load;
mod rss;
mod sign_in;
mod source;
mod spawns;
mod stats;
mod table;
mod wire;

use std::{
    collections::BTreeMap,
    path::Path,
    time::{Duration, Instant},
};

use clap::Args;
use serde::Serialize;
use serde_json::json;

use self::{
    agents::AgentFigures,
    cancel::CancelFigures,
    child::Server,
    sign_in::SignInFigures,
    stats::{Middle, Samples, Spread, rounded},
};
use super::{
    client::Client,
    error::CliError,
    exit::Exit,
    screen::{Paint, Screen},
};

/// The name of the component on the measured server.
const COMPONENT: &str = "demo";
/// A measurement of --quick ends by then: there are fifteen such, beside the thousand calls and what
/// happens only once, and all have 20 s.
const QUICK_MOST: Duration = Duration::from_secs(1);
/// Any other measurement ends by then; ten thousand calls take that long at a millisecond each.
const FULL_MOST: Duration = Duration::from_secs(10);
/// A server is idle once its start is over.
const SETTLE: Duration = Duration::from_millis(500);

const EXAMPLES: &str = "\
Examples:
  bulkhead bench
  bulkhead bench --quick --json | jq .native_call_us

Measure a release build on an idle machine; `profile` and `cores` in the result say what it was.";

/// Measure what calls and agents cost on this machine
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BenchArgs {
    /// Fewer samples, done within 20 seconds; Python and JavaScript only where an earlier bench has
    /// compiled their runtimes
    #[arg(long)]
    quick: bool,
    /// Measure steps on this empty Postgres database too; what they leave stays in it
    #[arg(
        long,
        value_name = "URL",
        env = "BULKHEAD_BENCH_POSTGRES",
        hide_env_values = true
    )]
    postgres: Option<String>,
}

/// How much is measured.
#[derive(Debug, Clone, Copy)]
struct Effort {
    quick: bool,
}

impl Effort {
    fn of(self, quick: usize, full: usize) -> usize {
        if self.quick { quick } else { full }
    }

    /// Whether a measurement that began then goes on; on a slow machine fewer samples have to do.
    fn goes_on(self, start: Instant) -> bool {
        let most = if self.quick { QUICK_MOST } else { FULL_MOST };
        start.elapsed() < most
    }
}

/// A thousand calls at once.
#[derive(Debug, Serialize)]
struct WaitingCalls {
    calls: usize,
    ok: usize,
    longest_wait_ms: f64,
    all_done_ms: f64,
}

/// All figures. Later versions add keys and change none. A figure that this machine can't give
/// is null.
#[derive(Debug, Serialize)]
struct Figures {
    version: &'static str,
    profile: &'static str,
    cores: usize,
    quick: bool,
    native_call_us: Spread,
    native_call_http_us: Spread,
    http_calls_per_s_64: u64,
    instantiate_us: Middle,
    install_cold_ms: f64,
    install_cached_ms: f64,
    start_to_healthy_ms: f64,
    idle_rss_mb: Option<f64>,
    waiting_1000_ok: bool,
    waiting_1000: WaitingCalls,
    python_call_us: Option<Spread>,
    javascript_call_us: Option<Spread>,
    spawn_node_us: Option<Middle>,
    spawn_python_us: Option<Middle>,
    spawn_true_us: Option<Middle>,
    memory_per_idle_tool_kb: Option<f64>,
    memory_per_call_kb: Option<f64>,
    #[serde(flatten)]
    agents: AgentFigures,
    #[serde(flatten)]
    cancel: CancelFigures,
    #[serde(flatten)]
    sign_in: SignInFigures,
    /// Why figures are null that this machine could give, by their keys.
    notes: BTreeMap<&'static str, &'static str>,
}

/// What is measured on a server of its own.
struct OverHttp {
    calls: Spread,
    calls_per_s: u64,
    start_to_healthy_ms: f64,
    idle_rss_mb: Option<f64>,
}

pub(crate) async fn bench(args: BenchArgs, screen: Screen) -> Result<Exit, CliError> {
    let effort = Effort { quick: args.quick };
    let folder = tempfile::tempdir()
        .map_err(|error| CliError::host("no temporary folder could be made", error))?;
    let doing =
        |what: &str| screen.note(screen.paint_err(format_args!("measuring {what}"), Paint::Dim));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let cache = folder.path().join("cache");

    doing("install: compiling takes a moment");
    let (install_cold_ms, install_cached_ms) = calls::installs(&cache, effort).await?;
    doing("calls in this process");
    let sandbox = calls::sandbox(Some(&cache))?;
    let component = calls::install(&sandbox, bulkhead_tools::DEMO).await?;
    let native_call_us = calls::native(&sandbox, &component, effort).await?;
    let instantiate_us = calls::instantiate(&sandbox, &component, effort).await?;
    drop((component, sandbox));
    doing("a thousand calls at once");
    let waiting_1000 = calls::waiting(&cache, cores).await?;
    doing("memory");
    let memory_per_call_kb = calls::per_call(&cache).await?;
    let memory_per_idle_tool_kb = calls::per_idle_tool(&cache, effort).await?;
    doing("a server of its own and calls over HTTP");
    let over_http = over_http(&folder.path().join("data"), effort).await?;
    doing("agents: making them, their steps, a hundred conversations at once");
    let agents = agents::measure(
        &folder.path().join("agents"),
        args.postgres.as_deref(),
        effort,
    )
    .await?;
    doing(if effort.quick {
        "calls of source"
    } else {
        "calls of source: the first time, the runtimes are compiled"
    });
    let source = source::calls(effort).await?;
    doing("how soon a run ends that is cancelled");
    let python = source.python.as_ref().map(|_| ()).map_err(|why| *why);
    let (cancel, no_tool) = cancel::measure(&folder.path().join("cancel"), python, effort).await?;
    doing("people who sign in");
    let sign_in = sign_in::measure(&folder.path().join("people"), effort).await?;
    let notes = [
        (
            "step_postgres_us",
            args.postgres.is_none().then_some(agents::NO_POSTGRES),
        ),
        ("cancel_tool_ms", no_tool),
        ("python_call_us", source.python.err()),
        ("javascript_call_us", source.javascript.err()),
        (
            "rss_10000_agents_100_running_mb",
            effort.quick.then_some(agents::NOT_QUICK),
        ),
    ];
    let notes = notes.into_iter();
    let notes = notes.filter_map(|(key, missing)| Some((key, missing?)));
    doing("processes, for comparison");
    let spawns = tokio::task::spawn_blocking(move || {
        (
            spawns::python(effort),
            spawns::node(effort),
            spawns::nothing(effort),
        )
    });
    let (spawn_python_us, spawn_node_us, spawn_true_us) = spawns
        .await
        .map_err(|error| CliError::host("a measurement broke off", error))?;

    let figures = Figures {
        version: env!("CARGO_PKG_VERSION"),
        profile: if cfg!(debug_assertions) {
            "debug"
        } else {
            "release"
        },
        cores,
        quick: args.quick,
        native_call_us,
        native_call_http_us: over_http.calls,
        http_calls_per_s_64: over_http.calls_per_s,
        instantiate_us,
        install_cold_ms,
        install_cached_ms,
        start_to_healthy_ms: over_http.start_to_healthy_ms,
        idle_rss_mb: over_http.idle_rss_mb,
        waiting_1000_ok: waiting_1000.ok == waiting_1000.calls,
        waiting_1000,
        python_call_us: source.python.ok(),
        javascript_call_us: source.javascript.ok(),
        spawn_node_us,
        spawn_python_us,
        spawn_true_us,
        memory_per_idle_tool_kb,
        memory_per_call_kb,
        agents,
        cancel,
        sign_in,
        notes: notes.collect(),
    };
    if screen.json {
        screen.document(&figures);
    } else {
        table::show(&figures, &screen);
    }
    Ok(Exit::Done)
}

async fn over_http(data: &Path, effort: Effort) -> Result<OverHttp, CliError> {
    std::fs::create_dir_all(data)
        .map_err(|error| CliError::host("no data folder could be made", error))?;
    // The first server makes the database and compiles; it is not measured.
    let server = Server::start(data).await?;
    let client = Client::at(&format!("http://{}", server.address), None)?;
    client
        .push(COMPONENT, bulkhead_tools::DEMO.to_vec())
        .await?;
    client
        .post(
            &format!("/v1/components/{COMPONENT}/tools/{}/call", calls::TOOL),
            &json!({"input": {"name": "Ada"}}),
        )
        .await?;
    server.stop().await?;

    let mut starts = Samples::default();
    let begun = Instant::now();
    for turn in 0..effort.of(3, 10) {
        if turn > 0 && !effort.goes_on(begun) {
            break;
        }
        let server = Server::start(data).await?;
        starts.push(server.started_in);
        server.stop().await?;
    }
    let server = Server::start(data).await?;
    tokio::time::sleep(SETTLE).await;
    let idle = server.process().and_then(rss::of);
    let calls = load::latency(server.address, COMPONENT, effort).await?;
    let calls_per_s = load::throughput(server.address, COMPONENT, effort).await?;
    server.stop().await?;
    Ok(OverHttp {
        calls,
        calls_per_s,
        start_to_healthy_ms: starts.middle_ms(),
        idle_rss_mb: idle.map(|kb| rounded(kb as f64 / 1024.0)),
    })
}
