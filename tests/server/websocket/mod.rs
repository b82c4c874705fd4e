//! Agents over a WebSocket, with a client of another crate's protocol.
//!
//! - [`talk`]: streams, several at once, cancelled and answered on the same socket.
//! - [`leaving`]: sockets that end, by the client or by the server; [`protocol`]: those on which a
//!   client breaks the protocol. [`refused`]: what is no frame of this server, and who may open a
//!   socket. [`signed_out`]: sockets of people who may not use them any more; [`paused`]: of agents that
//!   take no messages.

mod leaving;
mod paused;
mod protocol;
mod refused;
mod signed_out;
mod talk;

use std::time::Duration;

use futures::{SinkExt as _, StreamExt as _};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        Error, Message,
        client::IntoClientRequest as _,
        handshake::client::Response,
        protocol::{CloseFrame, frame::coding::CloseCode},
    },
};

use crate::{messages::text, support::TestServer};

/// How long a frame may take: many times what it does.
const PATIENCE: Duration = Duration::from_secs(20);

/// A socket that is open.
struct Socket(WebSocketStream<TcpStream>);

impl Socket {
    /// Opens one to an agent.
    async fn of_agent(server: &TestServer, agent: &str) -> Self {
        Self::open(server, &format!("/v1/agents/{agent}/ws")).await
    }

    async fn open(server: &TestServer, path: &str) -> Self {
        shake_hands(server, path, &[]).await.unwrap().0
    }

    async fn send(&mut self, frame: Value) {
        self.send_as(Message::text(frame.to_string())).await;
    }

    async fn send_as(&mut self, message: Message) {
        self.0.send(message).await.unwrap();
    }

    /// The next frame of text, or why there is none.
    async fn try_next(&mut self) -> Result<Value, Option<CloseFrame>> {
        loop {
            let next = tokio::time::timeout(PATIENCE, self.0.next()).await;
            match next.expect("a frame comes, or the end") {
                Some(Ok(Message::Text(text))) => return Ok(serde_json::from_str(&text).unwrap()),
                Some(Ok(Message::Close(frame))) => return Err(frame),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return Err(None),
            }
        }
    }

    async fn next(&mut self) -> Value {
        let next = self.try_next().await;
        next.unwrap_or_else(|closed| panic!("the socket was closed: {closed:?}"))
    }

    /// Frames up to the first of this kind.
    async fn until(&mut self, kind: &str) -> Vec<Value> {
        let mut frames = Vec::new();
        loop {
            frames.push(self.next().await);
            if frames.last().unwrap()["message_type"] == kind {
                return frames;
            }
        }
    }

    /// The run that the next ping names.
    async fn run(&mut self) -> String {
        let ping = self.until("ping").await.pop().unwrap();
        text(&ping["run_id"]).to_owned()
    }

    /// What the server says when it closes, and what it said before.
    async fn closed(&mut self) -> (Vec<Value>, Option<CloseCode>) {
        let (frames, closed) = self.closed_for().await;
        (frames, closed.map(|frame| frame.code))
    }

    /// The same with its words.
    async fn closed_for(&mut self) -> (Vec<Value>, Option<CloseFrame>) {
        let mut frames = Vec::new();
        loop {
            match self.try_next().await {
                Ok(frame) => frames.push(frame),
                Err(closed) => return (frames, closed),
            }
        }
    }
}

/// Asks for a socket with further headers.
async fn shake_hands(
    server: &TestServer,
    path: &str,
    headers: &[(&'static str, &str)],
) -> Result<(Socket, Response), Error> {
    let address = server.address();
    let mut request = format!("ws://{address}{path}")
        .into_client_request()
        .unwrap();
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().unwrap());
    }
    let stream = TcpStream::connect(address).await.unwrap();
    let (socket, response) = tokio_tungstenite::client_async(request, stream).await?;
    Ok((Socket(socket), response))
}

fn kinds(frames: &[Value]) -> Vec<&str> {
    let kinds = frames.iter().map(|frame| text(&frame["message_type"]));
    kinds.collect()
}
