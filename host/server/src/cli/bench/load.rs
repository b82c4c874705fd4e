//! Calls over HTTP.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use tokio::task::JoinSet;

use super::{
    Effort, calls,
    stats::{Samples, Spread},
    wire::{self, Connection},
};
use crate::cli::error::CliError;

/// Clients of the throughput measurement.
const CLIENTS: usize = 64;

/// One client, one call after the other, on one connection.
pub(super) async fn latency(
    address: SocketAddr,
    component: &str,
    effort: Effort,
) -> Result<Spread, CliError> {
    let request = request(component);
    let (warm_up, count) = (effort.of(100, 500), effort.of(1_000, 10_000));
    tokio::spawn(async move {
        let mut connection = Connection::open(address).await.map_err(failed)?;
        let mut samples = Samples::default();
        let begun = Instant::now();
        for turn in 0..warm_up + count {
            if turn > warm_up && !effort.goes_on(begun) {
                break;
            }
            let start = Instant::now();
            let body = connection.exchange(&request).await.map_err(failed)?;
            let took = start.elapsed();
            check(body)?;
            if turn >= warm_up {
                samples.push(took);
            }
        }
        Ok(samples.spread())
    })
    .await
    .map_err(failed)?
}

/// Calls a second that 64 clients get through, each on its own connection.
pub(super) async fn throughput(
    address: SocketAddr,
    component: &str,
    effort: Effort,
) -> Result<u64, CliError> {
    let (warm_up, length) = (Duration::from_millis(300), effort.of(1_500, 5_000));
    let begin = Instant::now() + warm_up;
    let end = begin + Duration::from_millis(length as u64);
    let mut clients = JoinSet::new();
    for _ in 0..CLIENTS {
        let request = request(component);
        clients.spawn(async move {
            let mut connection = Connection::open(address).await.map_err(failed)?;
            let mut count = 0_u64;
            loop {
                let body = connection.exchange(&request).await.map_err(failed)?;
                check(body)?;
                let now = Instant::now();
                if now >= end {
                    return Ok::<u64, CliError>(count);
                }
                if now >= begin {
                    count += 1;
                }
            }
        });
    }
    let mut total = 0;
    while let Some(client) = clients.join_next().await {
        total += client.map_err(failed)??;
    }
    Ok((total as f64 / (end - begin).as_secs_f64()).round() as u64)
}

fn request(component: &str) -> Vec<u8> {
    let path = format!("/v1/components/{component}/tools/{}/call", calls::TOOL);
    wire::post(&path, &format!(r#"{{"input":{}}}"#, calls::INPUT))
}

/// A call that did not succeed would be measured as a fast one.
fn check(body: &[u8]) -> Result<(), CliError> {
    let expected = br#""outcome":"ok""#;
    if body.windows(expected.len()).any(|part| part == expected) {
        return Ok(());
    }
    let text: String = String::from_utf8_lossy(body).chars().take(300).collect();
    Err(CliError::host("a call over HTTP did not succeed", text))
}

fn failed(error: impl std::fmt::Display) -> CliError {
    CliError::host("a call over HTTP failed", error)
}
