//! What clients that read nothing of a long stream cost the process: little each, whatever the stream
//! is of.
#![cfg(target_os = "linux")]

use std::time::{Duration, Instant};

use futures::future::try_join_all;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpSocket, TcpStream},
};

use crate::program::{Client, Program};

/// Clients that read what is kept of one run.
const READERS: usize = 200;
/// Clients with a run of their own: each computes until nobody reads any more.
const RUNS: usize = 100;
/// Pieces of an answer: nine megabytes of events, many times what a client may hold.
const PIECES: usize = 20_000;
/// Bytes of memory that a client may hold which reads what is kept of a run in the background: the
/// events that were read last, and what the connection and a socket's queue hold.
const READER_BYTES: usize = 512 << 10;
/// Bytes of memory that a run may hold whose client reads nothing: as much, its input and its
/// answer, which are small here but for their pieces, and 256 events that wait.
const RUN_BYTES: usize = 1 << 20;
/// What the process may take for itself meanwhile: connections of the database and the like.
const OWN_BYTES: usize = 32 << 20;
/// Bytes by which memory still changes when nothing happens.
const STILL_BYTES: usize = 1 << 20;
/// So long nothing may happen until it counts as still.
const STILL: Duration = Duration::from_secs(2);
/// Clients that take nothing for longer are cut off, and would hold nothing.
const CUT_OFF: Duration = Duration::from_secs(50);

/// A server, and what has been asked of it.
struct Setting {
    program: Program,
    client: Client,
    agent: String,
}

impl Setting {
    async fn new() -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut program = Program::new(None);
        program.start().await;
        let client = program.client();
        let agent = agent(&client).await;
        Self {
            program,
            client,
            agent,
        }
    }

    /// A run in the background that has ended, and that was read once.
    async fn told(&self) -> String {
        let path = format!("/v1/agents/{}/messages/stream", self.agent);
        let mut body = long();
        body["background"] = json!(true);
        let request = self.client.request(Method::POST, &path).json(&body);
        let text = request.send().await.unwrap().text().await.unwrap();
        assert!(text.len() > 4 * READER_BYTES, "{} bytes", text.len());
        let run = text.split("\"run_id\":\"").nth(1).unwrap();
        run.split_once('"').unwrap().0.to_owned()
    }

    /// A connection that is sent this, and of which no more is read than the head of an answer.
    async fn stalled(&self, request: &str, status: &str) -> std::io::Result<TcpStream> {
        let socket = TcpSocket::new_v4()?;
        socket.set_recv_buffer_size(8 << 10)?;
        let mut stream = socket.connect(self.program.address()).await?;
        stream.write_all(request.as_bytes()).await?;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await?);
        }
        let head = String::from_utf8_lossy(&head);
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{head}");
        Ok(stream)
    }

    fn post(&self, path: &str, body: &Value) -> String {
        let (address, body) = (self.program.address(), body.to_string());
        let length = body.len();
        format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n\r\n{body}"
        )
    }

    /// Resident bytes of the process, once they are still.
    async fn memory(&self) -> usize {
        let begun = Instant::now();
        let mut still = (resident(self.program.id()), Instant::now());
        while still.1.elapsed() < STILL {
            assert!(begun.elapsed() < CUT_OFF, "memory is never still");
            tokio::time::sleep(Duration::from_millis(100)).await;
            let now = resident(self.program.id());
            if now.abs_diff(still.0) > STILL_BYTES {
                still = (now, Instant::now());
            }
        }
        still.0
    }

    /// Fails if the process has grown by more than this for each of so many clients, or serves nobody
    /// else.
    async fn has_grown_by_at_most(&self, before: usize, clients: usize, each: usize) {
        let after = self.memory().await;
        let grown = after.saturating_sub(before);
        eprintln!(
            "{} KiB for each of {clients} clients",
            (grown >> 10) / clients
        );
        assert!(
            grown <= each * clients + OWN_BYTES,
            "{before}, then {after} bytes"
        );
        let other = agent(&self.client).await;
        let path = format!("/v1/agents/{other}/messages");
        let answer = self.client.post(&path, &json!({ "input": "say hi" })).await;
        assert_eq!(answer["stop_reason"]["stop_reason"], "end_turn");
    }
}

async fn agent(client: &Client) -> String {
    let body = json!({ "model": "bulkhead/scripted", "include_base_tools": false });
    let made = client.post("/v1/agents/", &body).await;
    made["id"].as_str().unwrap().to_owned()
}

/// Asks for an answer in many pieces.
fn long() -> Value {
    json!({ "input": format!("say {}", "a ".repeat(PIECES)), "stream_tokens": true })
}

/// Resident bytes of a process.
fn resident(id: u32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.unwrap().trim().strip_suffix(" kB").unwrap();
    kilobytes.parse::<usize>().unwrap() << 10
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_of_a_run_in_the_background_that_read_nothing_hold_little_memory() {
    let setting = Setting::new().await;
    let run = setting.told().await;
    let request = setting.post(&format!("/v1/runs/{run}/stream"), &json!({}));
    let before = setting.memory().await;
    let readers = (0..READERS).map(|_| setting.stalled(&request, "200"));
    let readers = try_join_all(readers).await.unwrap();
    setting
        .has_grown_by_at_most(before, READERS, READER_BYTES)
        .await;
    drop(readers);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sockets_that_follow_a_run_and_read_nothing_hold_little_memory() {
    let setting = Setting::new().await;
    let run = setting.told().await;
    let (address, agent) = (setting.program.address(), &setting.agent);
    let request = format!(
        "GET /v1/agents/{agent}/ws HTTP/1.1\r\nhost: {address}\r\nconnection: upgrade\r\n\
         upgrade: websocket\r\nsec-websocket-version: 13\r\n\
         sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    let follow = json!({ "type": "follow", "run_id": run }).to_string();
    let length = u8::try_from(follow.len()).unwrap();
    assert!(length < 126, "one byte says how long it is");
    // A whole text whose mask is zero.
    let frame = [&[0x81, 0x80 | length, 0, 0, 0, 0], follow.as_bytes()].concat();
    let before = setting.memory().await;
    let readers = (0..READERS).map(|_| async {
        let mut socket = setting.stalled(&request, "101").await?;
        socket.write_all(&frame).await?;
        // The stream has begun.
        socket.read_u8().await?;
        Ok::<_, std::io::Error>(socket)
    });
    let readers = try_join_all(readers).await.unwrap();
    setting
        .has_grown_by_at_most(before, READERS, READER_BYTES)
        .await;
    drop(readers);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_whose_clients_read_nothing_wait_and_hold_little_memory() {
    let setting = Setting::new().await;
    setting.told().await;
    let mut agents = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        agents.push(agent(&setting.client).await);
    }
    let requests = agents.iter().map(|agent| {
        let path = format!("/v1/agents/{agent}/messages/stream");
        setting.post(&path, &long())
    });
    let requests: Vec<_> = requests.collect();
    let before = setting.memory().await;
    let mut readers = Vec::with_capacity(RUNS);
    for request in &requests {
        readers.push(setting.stalled(request, "200").await.unwrap());
    }
    setting.has_grown_by_at_most(before, RUNS, RUN_BYTES).await;
    // None of them has told all.
    let active = setting.client.get("/v1/runs/active").await;
    assert_eq!(active.as_array().unwrap().len(), RUNS);
    drop(readers);
}
