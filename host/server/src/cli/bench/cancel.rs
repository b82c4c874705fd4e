//! How long a stream goes on after somebody has asked to cancel it: while a Python tool computes, and
//! while the model speaks.

use std::{
    net::SocketAddr,
    path::Path,
    time::{Duration, Instant},
};

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    Effort,
    child::Server,
    source::{Missing, NO_CACHE},
    stats::{Samples, Tail},
    wire::{self, Connection},
};
use crate::cli::{client::Client, error::CliError, runtime_cache::RuntimeCache};

/// Computes until it is stopped.
const SPIN: &str = "def spin():\n    \"\"\"Computes.\"\"\"\n    while True:\n        pass\n";
/// What stands in the event after which the tool begins.
const CALLED: &str = r#""message_type":"tool_call_message""#;
/// What stands in the first event of an answer.
const SPOKEN: &str = r#""message_type":"assistant_message""#;
/// From the event to the request to cancel: many times what it takes to begin a call.
const MEANWHILE: Duration = Duration::from_millis(40);
/// Words of an answer that is never heard to its end.
const WORDS: usize = 2_000;

/// From the request to cancel to the end of the stream.
#[derive(Debug, Serialize)]
pub(super) struct CancelFigures {
    /// While a Python tool computes.
    pub(super) cancel_tool_ms: Option<Tail>,
    /// While the model streams.
    pub(super) cancel_model_ms: Tail,
}

/// Measures on a server of its own. `python` says why the runtime can't be used.
pub(super) async fn measure(
    data: &Path,
    python: Result<(), Missing>,
    effort: Effort,
) -> Result<(CancelFigures, Option<Missing>), CliError> {
    std::fs::create_dir_all(data)
        .map_err(|error| CliError::host("no data folder could be made", error))?;
    let python = python.and_then(|()| lent(data));
    let server = Server::start(data).await?;
    let client = Client::at(&format!("http://{}", server.address), None)?;
    let words = "word ".repeat(WORDS);
    let input = format!("pause 2ms\nsay {words}");
    let talks = agent(&client, Vec::new()).await?;
    let model = ends(server.address, &talks, &input, SPOKEN, effort).await?;
    let tool = match python {
        Err(_) => None,
        Ok(()) => {
            let source = json!({"source_code": SPIN});
            let saved = client.post("/v1/tools/", &source).await?;
            let computes = agent(&client, vec![saved["id"].clone()]).await?;
            Some(ends(server.address, &computes, "call spin", CALLED, effort).await?)
        }
    };
    server.stop().await?;
    let figures = CancelFigures {
        cancel_tool_ms: tool.map(Samples::tail_ms),
        cancel_model_ms: model.tail_ms(),
    };
    Ok((figures, python.err()))
}

/// The compiled runtime, for the server that will run on this folder.
fn lent(data: &Path) -> Result<(), Missing> {
    let cache = RuntimeCache::open().ok().flatten().ok_or(NO_CACHE)?;
    cache.lend_to(data).map_err(|_| NO_CACHE)
}

async fn agent(client: &Client, tools: Vec<Value>) -> Result<String, CliError> {
    let body = json!({
        "model": "bulkhead/scripted", "include_base_tools": false, "tool_ids": tools,
    });
    let made = client.post("/v1/agents/", &body).await?;
    let id = made["id"].as_str().ok_or_else(|| failed("it has no id"))?;
    Ok(id.to_owned())
}

/// Streams that are cancelled after `mark` was there, one after the other.
async fn ends(
    address: SocketAddr,
    agent: &str,
    input: &str,
    mark: &str,
    effort: Effort,
) -> Result<Samples, CliError> {
    let body = json!({"input": input, "stream_tokens": true});
    let path = format!("/v1/agents/{agent}/messages");
    let stream = wire::post(&format!("{path}/stream"), &body.to_string());
    let cancel = wire::post(&format!("{path}/cancel"), "{}");
    let mut listening = Connection::open(address).await.map_err(failed)?;
    let mut asking = Connection::open(address).await.map_err(failed)?;
    let mut samples = Samples::default();
    let begun = Instant::now();
    // The first warms everything up.
    for turn in 0..=effort.of(12, 60) {
        if turn > 1 && !effort.goes_on(begun) {
            break;
        }
        let begins = listening.until(&stream, mark.as_bytes());
        begins.await.map_err(failed)?;
        tokio::time::sleep(MEANWHILE).await;
        let start = Instant::now();
        let closed = async {
            listening.rest().await?;
            Ok(start.elapsed())
        };
        let (asked, closed) = tokio::join!(asking.exchange(&cancel), closed);
        asked.map_err(failed)?;
        let took: std::io::Result<Duration> = closed;
        let took = took.map_err(failed)?;
        if turn > 0 {
            samples.push(took);
        }
    }
    Ok(samples)
}

fn failed(error: impl std::fmt::Display) -> CliError {
    CliError::host("a run could not be cancelled", error)
}
