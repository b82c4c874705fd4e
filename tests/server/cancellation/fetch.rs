//! While a tool waits for an answer over HTTP: its request is dropped, and its receipt tells of it.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::{
    io::AsyncReadExt as _,
    net::{TcpListener, TcpStream},
    sync::mpsc,
};

use super::{cancel, ends_cancelled, is_cancelled, no_slot_is_taken};
use crate::{
    both::on_both,
    clients::read,
    live::Live,
    messages::{agent, text, tool},
    support::TestServer,
};

/// What the tool sends.
const BODY: &str = "an order of twelve";
/// Many times what the end of a connection takes to be seen.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a server sees.
#[derive(Debug, PartialEq, Eq)]
enum Seen {
    /// The whole of a request.
    Request,
    /// The end of the connection by which it came.
    Gone,
}

/// A server that takes requests with [`BODY`] and never answers.
async fn silent() -> (String, mpsc::UnboundedReceiver<Seen>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (sender, seen) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(watch(stream, sender.clone()));
        }
    });
    (url, seen)
}

async fn watch(mut stream: TcpStream, sender: mpsc::UnboundedSender<Seen>) {
    let mut request = Vec::new();
    let mut buffer = [0; 4_096];
    while let Ok(read @ 1..) = stream.read(&mut buffer).await {
        request.extend_from_slice(&buffer[..read]);
        if request.ends_with(BODY.as_bytes()) {
            let _ = sender.send(Seen::Request);
        }
    }
    let _ = sender.send(Seen::Gone);
}

async fn next(seen: &mut mpsc::UnboundedReceiver<Seen>) -> Seen {
    let next = tokio::time::timeout(PATIENCE, seen.recv()).await;
    next.expect("something is seen").unwrap()
}

/// An agent with a component's tool that sends a request, and one from source.
async fn sending_agent(server: &TestServer, url: &str) -> String {
    let pushed = server.push("friendly", bulkhead_fixtures::FRIENDLY).await;
    assert_eq!(pushed.status, 201, "{pushed:?}");
    for (component, tool) in [("friendly", "fetch"), ("source", "order")] {
        let capabilities = json!({ "http": [url] });
        let grant = json!({ "component": component, "tool": tool, "capabilities": capabilities });
        server.grant(grant).await;
    }
    let listed = read(server, "/v1/tools/?name=fetch").await;
    let body =
        "return fetch(a, { method: 'POST', body: 'an order of twelve' }).then((r) => r.text())";
    let tools = json!([listed[0]["id"], tool(server, "order", body).await]);
    agent(server, json!({ "tool_ids": tools })).await
}

/// Fails unless the receipt of a step's only call says that it was cancelled, and tells of the request
/// that it had sent.
async fn has_partial_effect(server: &TestServer, returned: &Value, url: &str) {
    let step = text(&returned["step_id"]);
    let receipts = read(server, &format!("/v1/steps/{step}/receipts")).await;
    let [of_call] = &receipts.as_array().unwrap()[..] else {
        panic!("one receipt: {receipts}")
    };
    assert_eq!(of_call["tool_call_id"], returned["tool_call_id"]);
    let receipt = &of_call["receipt"];
    assert_eq!(receipt["outcome"], "cancelled", "{receipt}");
    let [call] = &receipt["host_calls"].as_array().unwrap()[..] else {
        panic!("one host call: {receipt}")
    };
    assert_eq!(call["target"], format!("POST {url}/orders"), "{call}");
    assert_eq!(call["bytes_in"], BODY.len(), "{call}");
    assert_eq!(
        (&call["bytes_out"], &call["outcome"]),
        (&json!(0), &json!("failed"))
    );
    // It stands for itself, too.
    let one = format!("/v1/receipts/{}", text(&receipt["id"]));
    assert_eq!(read(server, &one).await["outcome"], "cancelled");
}

on_both! {
    async fn a_request_of_a_tool_is_dropped_and_its_receipt_tells_that_it_was_sent(server) {
        let (url, mut seen) = silent().await;
        let agent = sending_agent(&server, &url).await;
        let to = format!("{url}/orders");
        let fetch = json!({ "url": to, "method": "POST", "body": BODY });
        for (call, background) in [
            (format!("call fetch with {fetch}"), false),
            (format!("call fetch with {fetch}"), true),
            (format!("call order with {}", json!({ "a": to })), false),
        ] {
            let input = format!("{call}\nthen\nsay never");
            let body = json!({ "input": input, "background": background });
            let mut stream = Live::open(&server, &agent, &body).await;
            let run = stream.run().await;
            assert_eq!(next(&mut seen).await, Seen::Request, "{call}");
            assert_eq!(cancel(&server, &agent).await, json!({ &run: "cancelled" }));
            let events = stream.end().await;
            no_slot_is_taken(&server).await;
            ends_cancelled(&events);
            let returned = &events[events.len() - 2].1;
            assert_eq!((&returned["message_type"], &returned["status"]), (&json!("tool_return_message"), &json!("error")));
            has_partial_effect(&server, returned, &url).await;
            assert_eq!(next(&mut seen).await, Seen::Gone, "{call}");
            is_cancelled(&server, &agent, &run).await;
        }
        assert!(seen.try_recv().is_err(), "nothing is sent again");
    }
}
