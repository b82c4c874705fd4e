//! The older transport: a stream of events is opened first; it names the address that messages are
//! posted to, and brings the answers.

use bulkhead_policy::Target;
use http::{HeaderMap, HeaderValue, Method, header};
use serde_json::{Value, value::RawValue};

use crate::{
    McpError,
    connection::{Heard, Patience},
    error::excerpt,
    rpc,
    wire::{Events, Outgoing, Wire, expect_success},
};

/// A connection whose stream is open.
pub(crate) struct SseConnection<'a> {
    wire: Wire<'a>,
    events: Events,
    /// Where messages are posted to.
    target: Target,
    last_id: u64,
}

impl<'a> SseConnection<'a> {
    /// Opens the stream and waits for the address of messages.
    pub(crate) async fn open(wire: Wire<'a>) -> Result<Self, McpError> {
        let mut headers = HeaderMap::new();
        let events = HeaderValue::from_static("text/event-stream");
        headers.insert(header::ACCEPT, events);
        let outgoing = Outgoing {
            function: "open",
            method: Method::GET,
            headers,
            body: None,
        };
        let opened = &wire.endpoint.target;
        let reply = wire.send(opened, outgoing).await?;
        if !(200..300).contains(&reply.status) {
            return Err(reply.refusal(None).await.error);
        }
        if !reply.is("text/event-stream") {
            return Err(McpError::protocol(
                "it opens no stream of events; a server of the newer transport is registered as \
                 streamable_http",
            ));
        }
        let mut events = reply.events();
        let target = loop {
            let event = events.next().await?;
            let event = event.ok_or_else(|| McpError::protocol("its stream ended at once"))?;
            if event.name.as_deref() == Some("endpoint") {
                break address(opened, event.data.trim())?;
            }
        };
        events.succeeded();
        Ok(Self {
            wire,
            events,
            target,
            last_id: 0,
        })
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn request(
        &mut self,
        method: &str,
        params: &Value,
    ) -> Result<Box<RawValue>, McpError> {
        self.last_id += 1;
        let id = self.last_id;
        self.post(method, rpc::request(id, method, params)).await?;
        let mut patience = Patience::default();
        while let Some(event) = self.events.next().await? {
            if !matches!(event.name.as_deref(), None | Some("message")) {
                continue;
            }
            match patience.hear(event.data.as_bytes(), id, self.wire.scrubber())? {
                Heard::Answer(answer) => return answer,
                Heard::Other => {}
                Heard::Asks(asked, method) => {
                    self.post("answer", rpc::answer(&asked, &method)).await?;
                }
            }
        }
        Err(McpError::protocol("its stream ended before the answer"))
    }

    /// Sends what needs no answer.
    pub(crate) async fn notify(&mut self, method: &str) -> Result<(), McpError> {
        self.post(method, rpc::notification(method, None)).await
    }

    async fn post(&mut self, function: &str, body: bytes::Bytes) -> Result<(), McpError> {
        let outgoing = Outgoing {
            function,
            method: Method::POST,
            headers: HeaderMap::new(),
            body: Some(body),
        };
        let reply = self.wire.send(&self.target, outgoing).await?;
        match expect_success(&reply) {
            true => Ok(()),
            false => Err(reply.refusal(None).await.error),
        }
    }
}

/// The address of messages: at the origin that was registered, and at no other.
fn address(opened: &Target, text: &str) -> Result<Target, McpError> {
    let target = opened
        .join(text)
        .map_err(|_| McpError::protocol("the address that it names for messages is none"))?;
    if !target.same_origin(opened) {
        return Err(McpError::Redirect(excerpt(&target.origin().to_string())));
    }
    Ok(target)
}
