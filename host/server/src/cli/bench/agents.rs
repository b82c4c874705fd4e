//! Agents over HTTP, on a server of its own with SQLite and the offline model: what making one
//! costs, a step, and a hundred conversations at once.

use std::{
    net::SocketAddr,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use serde::Serialize;
use serde_json::{Value, json};
use tokio::{sync::Barrier, task::JoinSet};
use tokio_util::sync::CancellationToken;

use super::{
    Effort,
    child::Server,
    rss,
    stats::{Samples, Spread, hundredths, rounded},
    wire::{self, Connection},
};
use crate::cli::{client::Client, error::CliError};

/// Clients that make agents at once.
const MAKERS: usize = 8;
/// Agents in the database while memory is measured.
const AGENTS: usize = 10_000;
/// Making them ends by then on any machine.
const MAKING_MOST: Duration = Duration::from_secs(120);
/// Conversations at once.
const CONVERSATIONS: usize = 100;
/// Agents that are made in any case: those of the conversations, and some for steps.
const LEAST: usize = 2 * CONVERSATIONS;
/// What the model takes in each of them.
const MODEL: Duration = Duration::from_millis(200);
/// Messages to one agent: the steps that are measured have a conversation before them, and none has
/// a longer one than most people's.
const TURNS: usize = 10;
/// Between two looks at the memory.
const LOOK: Duration = Duration::from_millis(50);

/// What stands in an answer of a step that succeeded.
const ENDED: &str = r#""stop_reason":"end_turn""#;
/// What stands in the first event of a stream that the model said.
const FIRST_TOKEN: &str = r#""message_type":"assistant_message""#;

/// Why there is no figure of the memory in a quick bench.
pub(super) const NOT_QUICK: &str = "making 10,000 agents takes longer than --quick has";

/// Why there is no figure of Postgres.
pub(super) const NO_POSTGRES: &str = "no empty database was named with --postgres";

/// What agents cost.
#[derive(Debug, Serialize)]
pub(super) struct AgentFigures {
    /// A request to an agent whose model answers at once, on one connection after the other.
    pub(super) step_us: Spread,
    /// The same on Postgres.
    pub(super) step_postgres_us: Option<Spread>,
    /// From the request to the first piece of such an answer.
    pub(super) first_token_overhead_us: Spread,
    pub(super) agents_created_per_s: u64,
    /// Steps a second in a hundred conversations, of those that the model alone would allow.
    pub(super) conversations_100_efficiency: f64,
    pub(super) rss_10000_agents_100_running_mb: Option<f64>,
}

pub(super) async fn measure(
    data: &Path,
    postgres: Option<&str>,
    effort: Effort,
) -> Result<AgentFigures, CliError> {
    let step_postgres_us = match postgres {
        Some(database) => {
            let server = start(&data.join("postgres"), Some(database)).await?;
            let (agents, _) = make(server.address, LEAST, effort).await?;
            let steps = &agents[..effort.of(30, LEAST)];
            let spread = steps_one_by_one(server.address, steps, effort).await?;
            server.stop().await?;
            Some(spread)
        }
        None => None,
    };
    let server = start(data, None).await?;
    let (agents, agents_created_per_s) = make(server.address, AGENTS, effort).await?;
    let (steps, rest) = agents.split_at(agents.len().min(effort.of(30, 300)));
    let step_us = steps_one_by_one(server.address, steps, effort).await?;
    let (streams, _) = rest.split_at(rest.len().min(effort.of(10, 100)));
    let first_token_overhead_us = first_tokens(server.address, streams, effort).await?;

    let watch = (agents.len() >= AGENTS).then(|| server.process()).flatten();
    let talking = agents[agents.len() - CONVERSATIONS..].to_vec();
    let (conversations_100_efficiency, resident) =
        conversations(server.address, talking, effort.of(4, 20), watch).await?;
    server.stop().await?;
    Ok(AgentFigures {
        step_us,
        step_postgres_us,
        first_token_overhead_us,
        agents_created_per_s,
        conversations_100_efficiency,
        rss_10000_agents_100_running_mb: resident.map(|kb| rounded(kb as f64 / 1024.0)),
    })
}

/// A server with the tools that agents have by default.
async fn start(data: &Path, database: Option<&str>) -> Result<Server, CliError> {
    std::fs::create_dir_all(data)
        .map_err(|error| CliError::host("no data folder could be made", error))?;
    let server = Server::start_on(data, database).await?;
    let client = Client::at(&format!("http://{}", server.address), None)?;
    for (name, component) in [
        ("memory", bulkhead_tools::MEMORY),
        ("recall", bulkhead_tools::RECALL),
    ] {
        client.push(name, component.to_vec()).await?;
    }
    Ok(server)
}

/// Makes agents as clients do, with two blocks and the default tools. Gives their ids, [`LEAST`] to
/// `wanted` of them, and how many were made in a second.
async fn make(
    address: SocketAddr,
    wanted: usize,
    effort: Effort,
) -> Result<(Vec<String>, u64), CliError> {
    let most = if effort.quick {
        super::QUICK_MOST
    } else {
        MAKING_MOST
    };
    let made = Arc::new(AtomicUsize::new(0));
    let mut makers = JoinSet::new();
    let start = Instant::now();
    for _ in 0..MAKERS {
        let made = Arc::clone(&made);
        makers.spawn(async move {
            let body = json!({
                "model": "bulkhead/scripted",
                "memory_blocks": [
                    {"label": "persona", "value": "I am measured."},
                    {"label": "human", "value": "Name: Ada"},
                ],
            });
            let request = wire::post("/v1/agents/", &body.to_string());
            let mut connection = Connection::open(address).await.map_err(failed)?;
            let mut ids = Vec::new();
            loop {
                let number = made.fetch_add(1, Ordering::Relaxed);
                if number >= wanted || (number >= LEAST && start.elapsed() >= most) {
                    return Ok::<_, CliError>(ids);
                }
                let answer = connection.exchange(&request).await.map_err(failed)?;
                let agent: Value = serde_json::from_slice(answer).map_err(failed)?;
                let id = agent["id"].as_str().ok_or_else(|| failed("it has no id"))?;
                ids.push(id.to_owned());
            }
        });
    }
    let mut ids = Vec::new();
    while let Some(maker) = makers.join_next().await {
        ids.extend(maker.map_err(failed)??);
    }
    let rate = ids.len() as f64 / start.elapsed().as_secs_f64();
    Ok((ids, rate.round() as u64))
}

/// One client, one message after the other.
async fn steps_one_by_one(
    address: SocketAddr,
    agents: &[String],
    effort: Effort,
) -> Result<Spread, CliError> {
    let requests = requests(agents, &json!({"input": "say Hello, Ada."}), "messages");
    spawned(async move {
        let mut connection = Connection::open(address).await.map_err(failed)?;
        let mut samples = Samples::default();
        let begun = Instant::now();
        for (turn, request) in requests.iter().enumerate() {
            if turn > TURNS && !effort.goes_on(begun) {
                break;
            }
            let start = Instant::now();
            let body = connection.exchange(request).await.map_err(failed)?;
            let took = start.elapsed();
            check(body)?;
            // The first conversation warms everything up.
            if turn >= TURNS {
                samples.push(took);
            }
        }
        Ok(samples.spread())
    })
    .await
}

/// The same, streamed token by token: how long the first takes.
async fn first_tokens(
    address: SocketAddr,
    agents: &[String],
    effort: Effort,
) -> Result<Spread, CliError> {
    let body = json!({"input": "say Hello, Ada.", "stream_tokens": true});
    let requests = requests(agents, &body, "messages/stream");
    spawned(async move {
        let mut connection = Connection::open(address).await.map_err(failed)?;
        let mut samples = Samples::default();
        let begun = Instant::now();
        for (turn, request) in requests.iter().enumerate() {
            if turn > TURNS && !effort.goes_on(begun) {
                break;
            }
            let took = connection.first(request, FIRST_TOKEN.as_bytes()).await;
            let took = took.map_err(failed)?;
            if turn >= TURNS {
                samples.push(took);
            }
        }
        Ok(samples.spread())
    })
    .await
}

/// A hundred conversations at once: which part of the ideal they reach, and the most memory that
/// the process `watch` had meanwhile, in kilobytes. They begin one after the other within the time
/// of one answer: a hundred people do not write in the same millisecond.
async fn conversations(
    address: SocketAddr,
    agents: Vec<String>,
    turns: usize,
    watch: Option<u32>,
) -> Result<(f64, Option<u64>), CliError> {
    let body = json!({"input": format!("wait {}ms\nsay Done.", MODEL.as_millis())});
    let body = body.to_string();
    let gap = MODEL.div_f64(agents.len() as f64);
    let barrier = Arc::new(Barrier::new(agents.len()));
    let mut talks = JoinSet::new();
    for (number, agent) in (0_u32..).zip(agents) {
        let request = wire::post(&format!("/v1/agents/{agent}/messages"), &body);
        let barrier = Arc::clone(&barrier);
        talks.spawn(async move {
            let mut connection = Connection::open(address).await.map_err(failed)?;
            barrier.wait().await;
            tokio::time::sleep(gap * number).await;
            let start = Instant::now();
            for _ in 0..turns {
                check(connection.exchange(&request).await.map_err(failed)?)?;
            }
            Ok::<_, CliError>(start.elapsed())
        });
    }
    let over = CancellationToken::new();
    let watching = tokio::spawn(most_memory(watch, over.clone()));
    // However this ends, nobody watches any longer.
    let over = over.drop_guard();
    let mut reached = Vec::new();
    while let Some(talk) = talks.join_next().await {
        let took = talk.map_err(failed)??;
        reached.push(MODEL.as_secs_f64() * turns as f64 / took.as_secs_f64());
    }
    drop(over);
    let resident = watching.await.map_err(failed)?;
    let mean = reached.iter().sum::<f64>() / reached.len().max(1) as f64;
    Ok((hundredths(mean), resident))
}

async fn most_memory(process: Option<u32>, over: CancellationToken) -> Option<u64> {
    let process = process?;
    let mut most = None;
    loop {
        most = most.max(rss::of(process));
        let wait = over.run_until_cancelled(tokio::time::sleep(LOOK));
        if wait.await.is_none() {
            return most;
        }
    }
}

/// So many requests to each agent that its conversation grows, one agent after the other.
fn requests(agents: &[String], body: &Value, route: &str) -> Vec<Vec<u8>> {
    let body = body.to_string();
    let to_agent = |agent: &String| wire::post(&format!("/v1/agents/{agent}/{route}"), &body);
    let all = agents.iter().map(to_agent);
    all.flat_map(|request| std::iter::repeat_n(request, TURNS))
        .collect()
}

/// A step that failed would be measured as a fast one.
fn check(body: &[u8]) -> Result<(), CliError> {
    if body
        .windows(ENDED.len())
        .any(|part| part == ENDED.as_bytes())
    {
        return Ok(());
    }
    let text: String = String::from_utf8_lossy(body).chars().take(300).collect();
    Err(CliError::host(
        "a message to an agent did not succeed",
        text,
    ))
}

fn failed(error: impl std::fmt::Display) -> CliError {
    CliError::host("a request to an agent failed", error)
}

async fn spawned<T: Send + 'static>(
    work: impl Future<Output = Result<T, CliError>> + Send + 'static,
) -> Result<T, CliError> {
    tokio::spawn(work).await.map_err(failed)?
}
