//! What is no frame of this server, and who may open a socket.

use reqwest::Method;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::{Error, Message};

use super::{Socket, shake_hands};
use crate::{
    clients::NOBODY,
    consistency::Snapshot,
    messages::{agent, detail, path, text},
    support::{Answer, TestServer},
};

#[tokio::test]
async fn what_is_no_frame_is_refused_in_the_contract_s_words_and_changes_nothing() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({})).await;
    let before = Snapshot::of(&server, &agent).await;
    let mut socket = Socket::of_agent(&server, &agent).await;
    let expected = "'message', 'approval', 'tool_return', 'cancel', 'follow'";
    for (sent, status, words) in [
        ("{ nonsense", 422, "'type': 'json_invalid'"),
        ("", 422, "'msg': 'Field required'"),
        ("[1]", 422, "Input should be a valid dictionary or object"),
        (
            "{}",
            422,
            "Unable to extract tag using discriminator 'type'",
        ),
        (r#"{"type": "dance"}"#, 422, expected),
        (r#"{"type": "cancel", "run_ids": 7}"#, 422, "'run_ids'"),
        (
            r#"{"type": "cancel", "run_ids": ["x"]}"#,
            400,
            "Invalid run ID format: x",
        ),
        (
            r#"{"type": "message"}"#,
            422,
            "Must specify either 'input' or 'messages'.",
        ),
        (
            r#"{"type": "message", "messages": []}"#,
            422,
            "Messages must not be empty",
        ),
        (r#"{"type": "message", "input": 7}"#, 422, "'input'"),
        (
            r#"{"type": "approval", "messages": 7, "approve": true}"#,
            422,
            "'messages'",
        ),
        (
            r#"{"type": "approval", "input": "x"}"#,
            422,
            "Cannot specify both",
        ),
        (
            r#"{"type": "approval"}"#,
            400,
            "an approval needs approvals, or approve",
        ),
        (r#"{"type": "tool_return"}"#, 422, "'tool_returns'"),
        (
            r#"{"type": "follow", "run_id": "x"}"#,
            400,
            "Invalid run ID format: x",
        ),
        (
            r#"{"type": "follow", "starting_after": "soon"}"#,
            422,
            "'starting_after'",
        ),
        (
            r#"{"type": "cancel", "request_id": 7}"#,
            422,
            "'request_id'",
        ),
    ] {
        socket.send_as(Message::text(sent)).await;
        let refused = socket.next().await;
        assert_eq!(refused["message_type"], "refusal", "{sent}: {refused}");
        assert_eq!(refused["status"], status, "{sent}: {refused}");
        assert!(
            text(&refused["body"]["detail"]).contains(words),
            "{sent}: {refused}"
        );
    }
    socket.send_as(Message::binary(vec![1, 2, 3])).await;
    let refused = socket.next().await;
    assert_eq!(refused["status"], 415);
    assert_eq!(refused["body"]["error"]["code"], "unsupported_media_type");
    before.is_now(&server).await;

    // What is wrong is the same as over HTTP, and its answer says to which frame it belongs.
    let wrong = json!({ "messages": [{ "role": "king", "content": 7 }] });
    let answer = server.post(&path(&agent, "/stream"), &wrong).await;
    let mut frame = wrong;
    frame["type"] = json!("message");
    frame["request_id"] = json!("é\"1");
    socket.send(frame).await;
    let refused = socket.next().await;
    assert_eq!(
        (&refused["status"], &refused["body"]),
        (&json!(422), &answer.body)
    );
    assert_eq!(refused["request_id"], "é\"1");
    socket
        .send(json!({ "type": "message", "input": "say hi" }))
        .await;
    assert_eq!(socket.until("stream_end").await[1]["content"], "hi");
}

#[tokio::test]
async fn a_run_of_another_agent_or_conversation_is_not_there() {
    let server = TestServer::start().await;
    let (one, other) = (
        agent(&server, json!({})).await,
        agent(&server, json!({})).await,
    );
    let body = json!({ "input": "say private", "streaming": true, "background": true });
    let answer = server.post(&path(&one, ""), &body).await;
    assert!(answer.text.contains("private"), "{answer:?}");
    let runs = server.get(&format!("/v1/runs/?agent_id={one}")).await.body;
    let run = text(&runs[0]["id"]);
    let follow = json!({ "type": "follow", "run_id": run });
    let mut socket = Socket::of_agent(&server, &other).await;
    socket.send(follow.clone()).await;
    let refused = socket.next().await;
    assert_eq!(refused["status"], 404, "{refused}");
    let mut socket = Socket::of_agent(&server, &one).await;
    socket.send(follow).await;
    socket.until("stream_end").await;
    // A conversation of the same agent, and the agent of another one.
    let conversation = format!("/v1/conversations/?agent_id={one}");
    let conversation = server.post(&conversation, &json!({})).await.body;
    for (thread, status) in [
        (text(&conversation["id"]), 404),
        (&*other, 404),
        (&*one, 200),
    ] {
        let path = format!("/v1/conversations/{thread}/stream");
        let answer = server.post(&path, &json!({ "run_id": run })).await;
        assert_eq!(answer.status, status, "{answer:?}");
        assert_eq!(answer.text.contains("private"), status == 200);
    }
}

#[tokio::test]
async fn a_socket_has_so_many_streams_at_once() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({})).await;
    let mut socket = Socket::of_agent(&server, &agent).await;
    let body = json!({ "type": "message", "input": "wait 60s\nsay late", "background": true });
    socket.send(body).await;
    let run = socket.run().await;
    for _ in 0..15 {
        socket
            .send(json!({ "type": "follow", "run_id": run }))
            .await;
        socket.run().await;
    }
    socket
        .send(json!({ "type": "follow", "run_id": run, "request_id": "17" }))
        .await;
    let refused = socket.next().await;
    assert_eq!(
        (&refused["status"], &refused["request_id"]),
        (&json!(429), &json!("17"))
    );
    socket.send(json!({ "type": "cancel" })).await;
    // The end of each stream, and the answer.
    let mut awaited = 17;
    while awaited > 0 {
        let frame = socket.next().await;
        let is_awaited = ["stream_end", "cancelled"].contains(&text(&frame["message_type"]));
        awaited -= u32::from(is_awaited);
    }
    socket
        .send(json!({ "type": "follow", "run_id": run }))
        .await;
    let ended = socket.until("stream_end").await;
    assert_eq!(ended[1]["stop_reason"], "cancelled", "{ended:?}");
}

/// The status with which a handshake is refused.
async fn refused(server: &TestServer, path: &str, headers: &[(&'static str, &str)]) -> u16 {
    match shake_hands(server, path, headers).await {
        Err(Error::Http(response)) => response.status().as_u16(),
        Err(error) => panic!("{path}: {error}"),
        Ok(_) => 101,
    }
}

#[tokio::test]
async fn a_page_of_another_origin_opens_no_socket() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({})).await;
    let path = format!("/v1/agents/{agent}/ws");
    let own = server.url().to_owned();
    for (origin, expected) in [
        ("https://evil.example", 403),
        ("http://127.0.0.1:1", 403),
        ("null", 403),
        (own.as_str(), 101),
    ] {
        let status = refused(&server, &path, &[("origin", origin)]).await;
        assert_eq!(status, expected, "{origin}");
    }
    let rebound = refused(&server, &path, &[("host", "evil.example")]).await;
    assert_eq!(rebound, 403);
}

#[tokio::test]
async fn a_token_comes_in_a_header_or_among_the_subprotocols() {
    let server = TestServer::start_with(|config| config.token = Some("t0/ken=".to_owned())).await;
    let made = server
        .request(Method::POST, "/v1/agents/")
        .bearer_auth("t0/ken=");
    let made = made.json(&json!({ "name": "Ada", "model": "bulkhead/scripted" }));
    let made = Answer::read(made.send().await.unwrap()).await;
    let path = format!("/v1/agents/{}/ws", text(&made.body["id"]));
    let subprotocols = "sec-websocket-protocol";
    for (headers, expected) in [
        (&[][..], 401),
        (&[("authorization", "Bearer t0/ken")], 401),
        (&[("authorization", "Bearer t0/ken=")], 101),
        (&[(subprotocols, "bulkhead, bearer64.dDAva2VuPQ")], 101),
        (&[(subprotocols, "bulkhead, bearer64.dDAva2Vu")], 401),
        (&[(subprotocols, "bulkhead, bearer.t0ken")], 401),
    ] {
        let status = refused(&server, &path, headers).await;
        assert_eq!(status, expected, "{headers:?}");
    }
    // The token is not in the answer, and a browser gets one of what it offered.
    let offered = [(subprotocols, "bearer64.dDAva2VuPQ, bulkhead")];
    let (mut socket, response) = shake_hands(&server, &path, &offered).await.unwrap();
    assert_eq!(response.headers()[subprotocols], "bulkhead");
    socket
        .send(json!({ "type": "message", "input": "say hi" }))
        .await;
    assert_eq!(socket.until("stream_end").await[1]["content"], "hi");
}

#[tokio::test]
async fn what_is_wrong_before_there_is_a_socket_is_an_ordinary_refusal() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({})).await;
    let nobody = format!("agent-{NOBODY}");
    for (path, expected) in [
        (format!("/v1/agents/{nobody}/ws"), 404),
        ("/v1/agents/ada/ws".to_owned(), 422),
        (format!("/v1/conversations/{nobody}/ws"), 404),
        (format!("/v1/conversations/conv-{NOBODY}/ws"), 404),
        ("/v1/conversations/default/ws".to_owned(), 400),
    ] {
        assert_eq!(refused(&server, &path, &[]).await, expected, "{path}");
    }
    let path = format!("/v1/agents/{agent}/ws");
    let plain = server.get(&path).await;
    let expected = "This is a WebSocket: send a handshake of version 13.";
    assert_eq!(detail(&plain), (426, expected));
    assert_eq!(plain.headers["upgrade"], "websocket");
    let old = refused(&server, &path, &[("sec-websocket-version", "8")]).await;
    assert_eq!(old, 426);
    let key = refused(&server, &path, &[("sec-websocket-key", "short")]).await;
    assert_eq!(key, 400);
    let gone = server.post(&path, &Value::Null).await;
    assert_eq!(gone.status, 405);
}
