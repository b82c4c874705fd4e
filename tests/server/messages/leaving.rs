//! Clients that go away, and clients that read too slowly.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpSocket, TcpStream},
};

use super::{agent, path, say, stop, text, tool};
use crate::{
    both::on_both,
    clients::read,
    consistency::{agrees, ended},
    live::Live,
    support::TestServer,
};

on_both! {
    async fn a_client_that_leaves_in_mid_stream_cancels_its_run(server) {
        let spin = tool(&server, "spin", "while (true) {}").await;
        let twice = tool(&server, "twice", "return a + a").await;
        let agent = agent(&server, json!({ "tool_ids": [spin, twice] })).await;
        for (input, tokens, seen) in [
            ("wait 60s\nsay late", false, "ping"),
            ("pause 50ms\nsay a b c d e f g h i j k l m n o p q r s t", true, "assistant_message"),
            ("call twice with {\"a\":\"x\"}\nthen\nwait 60s", false, "tool_return_message"),
            ("call spin", true, "tool_call_message"),
        ] {
            let body = json!({ "input": input, "stream_tokens": tokens });
            let mut live = Live::open(&server, &agent, &body).await;
            let run = live.run().await;
            if seen != "ping" {
                live.until(seen).await;
            }
            drop(live);
            let run = ended(&server, &run).await;
            assert_eq!(
                (&run["status"], &run["stop_reason"]),
                (&json!("cancelled"), &json!("cancelled")),
                "{input}"
            );
            agrees(&server, &agent).await;
        }
        assert_eq!(stop(&say(&server, &agent, "say hi").await), "end_turn");
    }

    async fn a_client_that_leaves_in_mid_stream_leaves_a_run_in_the_background(server) {
        let twice = tool(&server, "twice", "return a + a").await;
        let agent = agent(&server, json!({ "tool_ids": [twice] })).await;
        for (input, tokens, seen) in [
            ("wait 200ms\nsay late", false, "ping"),
            ("pause 20ms\nsay a b c d e f g h", true, "assistant_message"),
            ("call twice with {\"a\":\"x\"}\nthen\nwait 200ms\nsay b", true, "tool_return_message"),
        ] {
            let body = json!({ "input": input, "stream_tokens": tokens, "background": true });
            let mut live = Live::open(&server, &agent, &body).await;
            let run = live.run().await;
            if seen != "ping" {
                live.until(seen).await;
            }
            drop(live);
            assert_eq!(ended(&server, &run).await["status"], "completed", "{input}");
            agrees(&server, &agent).await;
        }
    }
}

/// Pieces of an answer that no socket's buffers hold: some nine megabytes of events.
const PIECES: usize = 20_000;

/// An answer in so many pieces.
fn long() -> String {
    format!("say {}", "a ".repeat(PIECES))
}

/// A client that reads until it knows its run, and then no more.
async fn stalled(server: &TestServer, agent: &str, body: &Value) -> (TcpStream, String) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(8 << 10).unwrap();
    let mut stream = socket.connect(server.address()).await.unwrap();
    let (path, body) = (path(agent, "/stream"), body.to_string());
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        server.address(),
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut read = String::new();
    loop {
        let mut bytes = [0; 256];
        let length = stream.read(&mut bytes).await.unwrap();
        assert_ne!(length, 0, "{read}");
        read.push_str(std::str::from_utf8(&bytes[..length]).unwrap());
        let run = read.split("\"run_id\":\"").nth(1);
        if let Some((run, _)) = run.and_then(|rest| rest.split_once('"')) {
            return (stream, run.to_owned());
        }
    }
}

/// Whether the connection ends without the end of its stream.
async fn was_cut_off(stream: &mut TcpStream) -> bool {
    let mut rest = Vec::new();
    // An error says that it was reset.
    let read = tokio::time::timeout(Duration::from_secs(10), stream.read_to_end(&mut rest)).await;
    read.expect("the connection ends").is_err() || !rest.ends_with(b"data: [DONE]\n\n\r\n0\r\n\r\n")
}

#[tokio::test]
async fn a_client_that_reads_nothing_holds_up_its_own_run_alone_and_not_for_ever() {
    let server = TestServer::start_with(|config| {
        config.client_timeout = Duration::from_secs(3);
    })
    .await;
    let slow = agent(&server, json!({})).await;
    let quick = agent(&server, json!({})).await;
    let body = json!({ "input": long(), "stream_tokens": true });
    let (mut stream, run) = stalled(&server, &slow, &body).await;
    assert_eq!(stop(&say(&server, &quick, "say hi").await), "end_turn");
    // Nothing gathers what nobody reads: the run waits.
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    let waiting = read(&server, &format!("/v1/runs/{run}")).await;
    assert_eq!(waiting["status"], "running");
    let run = ended(&server, &run).await;
    assert_eq!(run["status"], "cancelled", "{run}");
    assert!(was_cut_off(&mut stream).await);
    agrees(&server, &slow).await;
    assert_eq!(stop(&say(&server, &slow, "say hi").await), "end_turn");
}

#[tokio::test]
async fn a_run_whose_client_reads_nothing_is_cancelled_as_any_other() {
    let mut server = TestServer::start().await;
    let agent = agent(&server, json!({})).await;
    let body = json!({ "input": long(), "stream_tokens": true });
    let (stream, run) = stalled(&server, &agent, &body).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let (cancel, nothing) = (path(&agent, "/cancel"), json!({}));
    let cancelled = server.post(&cancel, &nothing);
    let cancelled = tokio::time::timeout(Duration::from_secs(5), cancelled).await;
    let cancelled = cancelled.expect("nobody waits for the client");
    assert_eq!(cancelled.body, json!({ &run: "cancelled" }));
    agrees(&server, &agent).await;
    // Nor does a server that shuts down.
    let (other, run) = stalled(&server, &agent, &body).await;
    let stopped = tokio::time::timeout(Duration::from_secs(20), server.shutdown()).await;
    stopped.expect("the server shuts down");
    server.restart_in_place().await;
    let run = read(&server, &format!("/v1/runs/{run}")).await;
    assert_eq!(run["status"], "cancelled");
    drop((stream, other));
}

#[tokio::test]
async fn a_run_in_the_background_waits_for_no_reader_and_what_one_missed_is_kept() {
    let server = TestServer::start_with(|config| {
        config.client_timeout = Duration::from_secs(2);
    })
    .await;
    let agent = agent(&server, json!({})).await;
    let body = json!({ "input": long(), "stream_tokens": true, "background": true });
    let (mut stream, run) = stalled(&server, &agent, &body).await;
    assert_eq!(ended(&server, &run).await["status"], "completed");
    // It reads again when it is too late.
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert!(was_cut_off(&mut stream).await);
    let again = format!("/v1/runs/{run}/stream");
    let again = server.post(&again, &json!({ "starting_after": 1 })).await;
    let events = again
        .text
        .lines()
        .filter_map(|line| line.strip_prefix("data: "));
    let events: Vec<Value> = events
        .filter_map(|data| serde_json::from_str(data).ok())
        .collect();
    let pieces = &events[..PIECES];
    assert!(
        pieces
            .iter()
            .all(|piece| text(&piece["content"]).starts_with('a'))
    );
    assert_eq!(pieces[PIECES - 1]["seq_id"], PIECES + 1);
    assert_eq!(events[PIECES]["stop_reason"], "end_turn");
    agrees(&server, &agent).await;
}
