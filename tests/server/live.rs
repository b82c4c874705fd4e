//! A stream that is read while it goes on.

use std::time::Duration;

use reqwest::Method;
use serde_json::Value;

use crate::{
    messages::{Event, event, path, text},
    support::TestServer,
};

/// How long an event may take: many times what it does, so that only a stream that hangs fails.
const PATIENCE: Duration = Duration::from_secs(20);

/// A stream that goes on, and what came of it so far.
pub(crate) struct Live {
    response: reqwest::Response,
    /// What came after the last whole event.
    rest: Vec<u8>,
    seen: Vec<Event>,
}

impl Live {
    /// Sends a body to an agent whose answer is a stream.
    pub(crate) async fn open(server: &TestServer, agent: &str, body: &Value) -> Self {
        Self::post(server, &path(agent, "/stream"), body).await
    }

    /// Sends a body to a path whose answer is a stream.
    pub(crate) async fn post(server: &TestServer, path: &str, body: &Value) -> Self {
        let request = server.request(Method::POST, path).json(body);
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        Self {
            response,
            rest: Vec::new(),
            seen: Vec::new(),
        }
    }

    /// The next event; none after the last.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        loop {
            let end = self.rest.windows(2).position(|pair| pair == b"\n\n");
            if let Some(end) = end {
                let whole: Vec<u8> = self.rest.drain(..end + 2).collect();
                let event = event(std::str::from_utf8(&whole).unwrap().trim_end());
                self.seen.push(event.clone());
                return Some(event);
            }
            let chunk = tokio::time::timeout(PATIENCE, self.response.chunk()).await;
            let chunk = chunk.unwrap_or_else(|_| panic!("nothing came after {:?}", self.seen));
            match chunk.unwrap() {
                Some(chunk) => self.rest.extend_from_slice(&chunk),
                None => {
                    assert!(self.rest.is_empty(), "half an event at the end");
                    return None;
                }
            }
        }
    }

    /// Reads until an event of this kind has come.
    pub(crate) async fn until(&mut self, kind: &str) -> Value {
        while let Some((_, data)) = self.next().await {
            if data["message_type"] == kind {
                return data;
            }
        }
        panic!("no {kind} came, but {:?}", self.seen);
    }

    /// Reads the ping that comes first, and gives the run that it names.
    pub(crate) async fn run(&mut self) -> String {
        text(&self.until("ping").await["run_id"]).to_owned()
    }

    /// Reads to the end; all events since the beginning.
    pub(crate) async fn end(mut self) -> Vec<Event> {
        while self.next().await.is_some() {}
        self.seen
    }
}
