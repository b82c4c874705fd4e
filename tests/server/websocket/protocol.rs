//! What breaks the protocol of WebSockets, written by hand since no client's crate would send it: the
//! socket is closed with the code that says why, and nothing else is.

use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use super::{PATIENCE, Socket};
use crate::{consistency::Snapshot, messages::agent, support::TestServer};

/// The first byte of a whole text frame, and of a whole close.
const TEXT: u8 = 0x81;
const CLOSE: u8 = 0x88;
/// In the second byte: what follows is masked.
const MASKED: u8 = 0x80;

/// A socket to an agent, past its handshake.
async fn opened(server: &TestServer, agent: &str) -> TcpStream {
    let address = server.address();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!(
        "GET /v1/agents/{agent}/ws HTTP/1.1\r\nhost: {address}\r\nconnection: upgrade\r\n\
         upgrade: websocket\r\nsec-websocket-version: 13\r\n\
         sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    assert!(head.starts_with(b"HTTP/1.1 101 "), "{head:?}");
    stream
}

/// A frame whose mask is zero, so that its payload stands in it as it is.
fn masked(first: u8, payload: &[u8]) -> Vec<u8> {
    let length = u8::try_from(payload.len()).unwrap();
    assert!(length < 126, "one byte says how long it is");
    [&[first, MASKED | length, 0, 0, 0, 0], payload].concat()
}

/// The code with which the server closes, which says nothing else before.
async fn code(stream: &mut TcpStream) -> u16 {
    let closed = async {
        let (first, length) = (stream.read_u8().await, stream.read_u8().await);
        assert_eq!(first.unwrap(), CLOSE);
        assert!((2..126).contains(&length.unwrap()), "it says why");
        stream.read_u16().await.unwrap()
    };
    let closed = tokio::time::timeout(PATIENCE, closed).await;
    closed.expect("the server closes it")
}

#[tokio::test]
async fn what_breaks_the_protocol_closes_its_socket_with_the_code_that_says_why() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({})).await;
    let before = Snapshot::of(&server, &agent).await;
    let mut other = Socket::of_agent(&server, &agent).await;
    let message = br#"{"type":"message","input":"say hi"}"#;
    let length = u8::try_from(message.len()).unwrap();
    let unmasked = [&[TEXT, length][..], message].concat();
    let no_text = masked(TEXT, b"{\"type\":\"message\",\"input\":\"say \xff\xfe\"}");
    // An opcode that nobody has defined, a bit that nobody has asked for, half a control frame, and
    // the rest of a message that never began.
    let reserved = masked(0x83, b"");
    let extended = masked(TEXT | 0x40, message);
    let half_a_ping = masked(0x09, b"");
    let rest = masked(0x80, message);
    for (frame, expected) in [
        (no_text, 1007),
        (unmasked, 1002),
        (reserved, 1002),
        (extended, 1002),
        (half_a_ping, 1002),
        (rest, 1002),
    ] {
        let mut stream = opened(&server, &agent).await;
        stream.write_all(&frame).await.unwrap();
        assert_eq!(code(&mut stream).await, expected, "{frame:?}");
        before.is_now(&server).await;
    }
    other
        .send(json!({ "type": "message", "input": "say hi" }))
        .await;
    assert_eq!(other.until("stream_end").await[1]["content"], "hi");
}
