//! Sockets that end.

use std::time::Duration;

use futures::SinkExt as _;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::{
    Bytes, Message,
    protocol::frame::{
        Frame,
        coding::{CloseCode, Data, OpCode},
    },
};

use super::{Socket, kinds};
use crate::{
    both::on_both,
    consistency::{agrees, ended},
    messages::{agent, say, stop, text},
    support::TestServer,
};

on_both! {
    async fn a_run_in_the_background_is_left_and_followed_on_another_socket(server) {
        let agent = agent(&server, json!({})).await;
        let mut socket = Socket::of_agent(&server, &agent).await;
        socket.send(json!({
            "type": "message", "background": true, "stream_tokens": true,
            "input": "pause 50ms\nsay one two three four",
        })).await;
        let run = socket.run().await;
        let first = socket.next().await;
        assert_eq!(first["seq_id"], 2, "{first}");
        drop(socket);
        let mut socket = Socket::of_agent(&server, &agent).await;
        // The newest that goes on, and one that is named.
        socket.send(json!({ "type": "follow", "starting_after": 2, "request_id": "f" })).await;
        let rest = socket.until("stream_end").await;
        let said: String = rest.iter().filter_map(|frame| frame["content"].as_str()).collect();
        assert_eq!(said, "two three four");
        assert!(rest.iter().all(|frame| frame["request_id"] == "f"), "{rest:?}");
        let numbers: Vec<_> = rest.iter().filter_map(|frame| frame["seq_id"].as_i64()).collect();
        assert_eq!(numbers, [3, 4, 5]);
        assert_eq!(ended(&server, &run).await["status"], "completed");
        socket.send(json!({ "type": "follow", "run_id": run, "include_pings": false })).await;
        let all = socket.until("stream_end").await;
        assert_eq!(all[0]["seq_id"], 2);
        assert_eq!(kinds(&all)[4..], ["stop_reason", "usage_statistics", "stream_end"]);
        socket.send(json!({ "type": "follow" })).await;
        let none = socket.next().await;
        assert_eq!(none["body"]["detail"],
            "INVALID_ARGUMENT: No active runs found for this conversation.");
        agrees(&server, &agent).await;
    }

    async fn a_run_is_followed_by_its_client_s_id_of_a_message(server) {
        let agent = agent(&server, json!({})).await;
        let mut socket = Socket::of_agent(&server, &agent).await;
        let message = json!({ "role": "user", "content": "say one two", "otid": "one" });
        socket.send(json!({
            "type": "message", "background": true, "stream_tokens": true, "messages": [message],
        })).await;
        let first = socket.until("stream_end").await;
        socket.send(json!({ "type": "message", "background": true, "input": "say other" })).await;
        socket.until("stream_end").await;
        socket.send(json!({ "type": "follow", "otid": "one" })).await;
        assert_eq!(socket.until("stream_end").await, first);
        socket.send(json!({ "type": "follow", "otid": "two" })).await;
        let none = socket.next().await;
        assert_eq!((&none["message_type"], &none["status"]), (&json!("refusal"), &json!(400)));
    }

    async fn a_socket_that_closes_cancels_what_is_not_in_the_background(server) {
        for politely in [true, false] {
            let agent = agent(&server, json!({})).await;
            let mut socket = Socket::of_agent(&server, &agent).await;
            socket.send(json!({ "type": "message", "input": "wait 60s\nsay late" })).await;
            let run = socket.run().await;
            match politely {
                true => {
                    socket.send_as(Message::Close(None)).await;
                    let (frames, _) = socket.closed().await;
                    assert!(frames.is_empty(), "{frames:?}");
                }
                false => drop(socket),
            }
            assert_eq!(ended(&server, &run).await["status"], "cancelled");
            agrees(&server, &agent).await;
            assert_eq!(stop(&say(&server, &agent, "say hi").await), "end_turn");
        }
    }
}

#[tokio::test]
async fn a_server_that_shuts_down_ends_its_streams_and_says_good_bye() {
    let mut server = TestServer::start().await;
    let agent = agent(&server, json!({})).await;
    let mut idle = Socket::of_agent(&server, &agent).await;
    let mut busy = Socket::of_agent(&server, &agent).await;
    busy.send(json!({ "type": "message", "input": "wait 60s\nsay late" }))
        .await;
    let run = busy.run().await;
    server.handle().shutdown();
    let told = async { (idle.closed().await, busy.closed().await) };
    let ((nothing, left), (last, closed)) = told.await;
    assert!(nothing.is_empty(), "{nothing:?}");
    assert_eq!(
        (left, closed),
        (Some(CloseCode::Away), Some(CloseCode::Away))
    );
    assert_eq!(kinds(&last), ["stop_reason", "stream_end"]);
    assert_eq!(last[0]["stop_reason"], "cancelled");
    let stopping = tokio::time::timeout(Duration::from_secs(10), server.wait());
    stopping.await.expect("sockets do not hold the server up");
    server.restart_in_place().await;
    let run = server.get(&format!("/v1/runs/{run}")).await.body;
    assert_eq!(run["status"], "cancelled");
}

#[tokio::test]
async fn a_client_that_is_silent_is_gone_and_one_that_answers_pings_is_not() {
    let server = TestServer::start_with(|config| {
        config.client_timeout = Duration::from_secs(2);
    })
    .await;
    let agent = agent(&server, json!({})).await;
    let mut there = Socket::of_agent(&server, &agent).await;
    let mut silent = Socket::of_agent(&server, &agent).await;
    silent
        .send(json!({ "type": "message", "input": "wait 60s\nsay late" }))
        .await;
    let run = silent.run().await;
    // What reads answers pings.
    let reading = tokio::time::timeout(Duration::from_secs(6), there.next());
    let (still_open, run) = futures::join!(reading, ended(&server, &run));
    assert!(still_open.is_err(), "{still_open:?}");
    assert_eq!(run["status"], "cancelled");
    there
        .send(json!({ "type": "message", "input": "say hi" }))
        .await;
    assert_eq!(there.until("stream_end").await[1]["content"], "hi");
}

#[tokio::test]
async fn a_message_in_pieces_is_whole_in_time_or_ends_its_socket() {
    let server = TestServer::start_with(|config| {
        config.client_timeout = Duration::from_secs(2);
    })
    .await;
    let agent = agent(&server, json!({})).await;
    let mut socket = Socket::of_agent(&server, &agent).await;
    let piece = |text: String, of: Data, is_last| {
        Message::Frame(Frame::message(text, OpCode::Data(of), is_last))
    };
    let alive = || Message::Pong(Bytes::new());
    let spaces = " ".repeat(128 << 10);
    let half = format!("{{\"type\": \"message\",{spaces}");
    socket.send_as(piece(half, Data::Text, false)).await;
    socket.send_as(alive()).await;
    let rest = "\"input\": \"say hi\"}".to_owned();
    socket.send_as(piece(rest, Data::Continue, true)).await;
    assert_eq!(socket.until("stream_end").await[1]["content"], "hi");
    // Signs of life do not keep half a message for ever.
    socket.send_as(piece(spaces, Data::Text, false)).await;
    for _ in 0..100 {
        // An error says that the socket has ended; reading says why.
        let _ = socket.0.send(alive()).await;
        let next = tokio::time::timeout(Duration::from_millis(100), socket.try_next()).await;
        if let Ok(next) = next {
            let closed = next.unwrap_err().map(|frame| frame.code);
            assert_eq!(closed, Some(CloseCode::Policy));
            return;
        }
    }
    panic!("half a message is kept");
}

#[tokio::test]
async fn a_frame_that_is_too_large_closes_its_socket_alone() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({})).await;
    let mut other = Socket::of_agent(&server, &agent).await;
    let mut socket = Socket::of_agent(&server, &agent).await;
    let text = "a".repeat(9 << 20);
    socket
        .send(json!({ "type": "message", "input": text }))
        .await;
    let (frames, closed) = socket.closed().await;
    assert_eq!(
        (frames, closed),
        (Vec::<Value>::new(), Some(CloseCode::Size))
    );
    other
        .send(json!({ "type": "message", "input": "say hi" }))
        .await;
    let frames = other.until("stream_end").await;
    assert_eq!(frames[1]["content"], "hi");
}

#[tokio::test]
async fn a_socket_has_its_place_among_the_connections() {
    let server = TestServer::start_with(|config| config.max_connections = 3).await;
    let agent = agent(&server, json!({})).await;
    let first = Socket::of_agent(&server, &agent).await;
    let second = Socket::of_agent(&server, &agent).await;
    let third = Socket::of_agent(&server, &agent);
    let mut third = std::pin::pin!(third);
    // The client that made the agent keeps the third place.
    let early = tokio::time::timeout(Duration::from_millis(300), third.as_mut()).await;
    assert!(early.is_err(), "there is no place for another");
    drop(first);
    let mut third = third.await;
    third
        .send(json!({ "type": "message", "input": "say hi" }))
        .await;
    let frames = third.until("stream_end").await;
    assert_eq!(text(&frames[1]["content"]), "hi");
    drop(second);
}
