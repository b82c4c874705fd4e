//! How fast receipts are queued and stored: `cargo run -p bulkhead-store --example
//! receipt_throughput [postgres]`.
#![allow(clippy::print_stdout, reason = "prints its measurement")]

use std::time::Instant;

use bulkhead_domain::{
    Digest, FuelByPhase, HostCall, HostCallOutcome, Outcome, Receipt, Timestamp,
    id::{CallId, ReceiptId},
};
use bulkhead_store::{
    ReceiptWriter, StateNamespace, StoreError,
    testing::{Kind, TestDatabase},
};

const RECEIPTS: u32 = 20_000;
const STATE_WRITES: u32 = 2_000;
/// Queued and waited for in parts, so that the cost of queuing is seen without backpressure.
const PART: u32 = 2_000;

fn receipt() -> Receipt {
    let host_call = HostCall {
        interface: "http".to_owned(),
        function: "fetch".to_owned(),
        target: Some("GET https://example.com".to_owned()),
        bytes_in: 120,
        bytes_out: 4096,
        outcome: HostCallOutcome::Ok,
        wall_us: 900,
    };
    Receipt {
        id: ReceiptId::random(),
        call_id: CallId::random(),
        idempotency_key: uuid::Uuid::new_v4().to_string(),
        digest: Digest::of(b"component"),
        source: None,
        tool: "fetch".to_owned(),
        agent_id: Some("agent-1".to_owned()),
        input_hash: Digest::of(b"input"),
        grant_hash: Digest::of(b"grant"),
        output_hash: Some(Digest::of(b"output")),
        outcome: Outcome::Ok,
        detail: None,
        fuel: FuelByPhase {
            instantiate: 10,
            call: 100,
        },
        peak_memory_bytes: 1 << 20,
        wall_us: 60,
        queue_us: 1,
        started_at: Timestamp::now(),
        host_calls: vec![host_call],
        host_calls_omitted: 0,
        denials: Vec::new(),
    }
}

#[tokio::main]
async fn main() -> Result<(), StoreError> {
    let kind = if std::env::args().any(|argument| argument == "postgres") {
        Kind::Postgres
    } else {
        Kind::Sqlite
    };
    let Some(database) = TestDatabase::create(kind).await else {
        return Ok(());
    };
    let store = database.open().await;
    let writer = ReceiptWriter::start(store.clone());
    let (mut queued, mut made) = (0.0, Vec::new());
    let started = Instant::now();
    for _ in 0..RECEIPTS / PART {
        made.extend((0..PART).map(|_| receipt()));
        let queuing = Instant::now();
        for receipt in made.drain(..) {
            writer.write(receipt).await?;
        }
        queued += queuing.elapsed().as_secs_f64();
        writer.flush().await?;
    }
    let seconds = started.elapsed().as_secs_f64();
    println!("{kind:?}, {RECEIPTS} receipts:");
    println!(
        "  queue  {:>8.2} µs each",
        queued * 1e6 / f64::from(RECEIPTS)
    );
    println!("  stored {:>8.0} a second", f64::from(RECEIPTS) / seconds);

    let space = StateNamespace::new("tool", None);
    let mut version = None;
    let started = Instant::now();
    for _ in 0..STATE_WRITES {
        version = Some(store.state_put(&space, "k", vec![0; 100], version).await?);
    }
    let put = started.elapsed().as_secs_f64() * 1e6 / f64::from(STATE_WRITES);
    let started = Instant::now();
    for _ in 0..STATE_WRITES {
        store.state_get(&space, "k").await?;
    }
    let get = started.elapsed().as_secs_f64() * 1e6 / f64::from(STATE_WRITES);
    println!("  tool state: put {put:.0} µs, get {get:.0} µs");
    Ok(())
}
