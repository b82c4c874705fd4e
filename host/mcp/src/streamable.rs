//! Streamable HTTP: each message is a POST, and answers come in its response, as one document or as
//! events.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use http::{HeaderMap, HeaderValue, Method, header};
use serde_json::{Value, json, value::RawValue};

use crate::{
    McpError,
    connection::{Heard, Patience},
    rpc,
    wire::{Outgoing, Reply, Wire, expect_success, text},
};

const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
/// Characters of a session's id.
const SESSION_MAX: usize = 1024;

/// What is kept of a server that was greeted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Session {
    /// Its name for the session, where it has sessions.
    pub(crate) id: Option<HeaderValue>,
    /// The version of the protocol that it speaks.
    pub(crate) version: Option<&'static str>,
    /// The last id of a request. No two of one session have the same, whoever makes them.
    last_id: Arc<AtomicU64>,
}

impl PartialEq for Session {
    fn eq(&self, other: &Self) -> bool {
        (&self.id, self.version) == (&other.id, other.version)
    }
}

impl Session {
    fn next_id(&self) -> u64 {
        self.last_id.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// A connection over streamable HTTP. Nothing stays open between messages.
pub(crate) struct HttpConnection<'a> {
    wire: Wire<'a>,
    pub(crate) session: Session,
    /// Whether the session is older than this connection, and may be forgotten there.
    is_kept: bool,
    /// The id of the next request, where somebody has to know it before.
    announced: Option<u64>,
}

impl<'a> HttpConnection<'a> {
    pub(crate) fn new(wire: Wire<'a>, session: Session) -> Self {
        Self {
            wire,
            is_kept: session != Session::default(),
            session,
            announced: None,
        }
    }

    /// Goes on in this version of the protocol.
    pub(crate) fn agreed(&mut self, version: &'static str) {
        self.session.version = Some(version);
    }

    /// The id that the next request will have.
    pub(crate) fn announce(&mut self) -> u64 {
        *self.announced.get_or_insert_with(|| self.session.next_id())
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn request(
        &mut self,
        method: &str,
        params: &Value,
    ) -> Result<Box<RawValue>, McpError> {
        let id = self.announce();
        self.announced = None;
        let reply = self.post(method, rpc::request(id, method, params)).await?;
        if !(200..300).contains(&reply.status) {
            return Err(self.refusal(reply, Some(id)).await);
        }
        if let Some(session) = text(&reply, SESSION).filter(|_| self.session.id.is_none()) {
            self.session.id = Some(session_id(session)?);
        }
        let mut patience = Patience::default();
        if reply.is("text/event-stream") {
            let mut events = reply.events();
            while let Some(event) = events.next().await? {
                if let Some(answer) = self.hear(&mut patience, event.data.as_bytes(), id).await? {
                    events.succeeded();
                    return answer;
                }
            }
            return Err(McpError::protocol("its stream ended before the answer"));
        }
        if !reply.is("application/json") {
            return Err(McpError::protocol(
                "the answer to a request is neither JSON nor events; is this the address of an MCP \
                 server?",
            ));
        }
        let body = reply.whole().await?;
        match self.hear(&mut patience, &body, id).await? {
            Some(answer) => answer,
            None => Err(McpError::protocol("it answers another request")),
        }
    }

    /// The answer, where a message is it. What the server asks meanwhile is answered.
    async fn hear(
        &self,
        patience: &mut Patience,
        text: &[u8],
        id: u64,
    ) -> Result<Option<Result<Box<RawValue>, McpError>>, McpError> {
        match patience.hear(text, id, self.wire.scrubber())? {
            Heard::Answer(answer) => Ok(Some(answer)),
            Heard::Other => Ok(None),
            Heard::Asks(asked, method) => {
                let answered = self.post("answer", rpc::answer(&asked, &method)).await?;
                expect_success(&answered);
                Ok(None)
            }
        }
    }

    /// Sends what needs no answer.
    pub(crate) async fn notify(
        &mut self,
        method: &str,
        params: Option<&Value>,
    ) -> Result<(), McpError> {
        let reply = self.post(method, rpc::notification(method, params)).await?;
        match expect_success(&reply) {
            true => Ok(()),
            false => Err(self.refusal(reply, None).await),
        }
    }

    /// Tells the server that the answer to a request is no longer waited for.
    pub(crate) async fn cancelled(&mut self, id: u64) -> Result<(), McpError> {
        let params = json!({ "requestId": id, "reason": "the call was cancelled" });
        self.notify("notifications/cancelled", Some(&params)).await
    }

    /// Ends the session, where the server has one.
    pub(crate) async fn close(&self) -> Result<(), McpError> {
        if self.session.id.is_none() {
            return Ok(());
        }
        let outgoing = Outgoing {
            function: "close",
            method: Method::DELETE,
            headers: self.headers(),
            body: None,
        };
        let reply = self.wire.send(&self.wire.endpoint.target, outgoing).await?;
        expect_success(&reply);
        Ok(())
    }

    async fn post(&self, function: &str, body: bytes::Bytes) -> Result<Reply, McpError> {
        let outgoing = Outgoing {
            function,
            method: Method::POST,
            headers: self.headers(),
            body: Some(body),
        };
        self.wire.send(&self.wire.endpoint.target, outgoing).await
    }

    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let both = HeaderValue::from_static("application/json, text/event-stream");
        headers.insert(header::ACCEPT, both);
        if let Some(session) = &self.session.id {
            headers.insert(SESSION, session.clone());
        }
        if let Some(version) = self.session.version {
            headers.insert(VERSION, HeaderValue::from_static(version));
        }
        headers
    }

    /// The error of an answer with a failing status to the message with this id.
    ///
    /// 404 says that the session is over, and nothing was done. Some servers say it with 400 instead,
    /// which may mean anything else too: it counts where they name the session and answer to no
    /// request, as what looks at messages before tools do.
    async fn refusal(&self, reply: Reply, id: Option<u64>) -> McpError {
        let in_session = self.session.id.is_some();
        match reply.status {
            404 if in_session => McpError::SessionExpired,
            400 if in_session && self.is_kept => {
                let refusal = reply.refusal(id).await;
                match refusal.names_session {
                    true => McpError::SessionExpired,
                    false => refusal.error,
                }
            }
            405 if self.session == Session::default() => McpError::Status {
                status: 405,
                text: ": it takes no messages at this address; a server of the older transport is \
                       registered as sse"
                    .to_owned(),
            },
            _ => reply.refusal(id).await.error,
        }
    }
}

fn session_id(text: &str) -> Result<HeaderValue, McpError> {
    let fits = text.len() <= SESSION_MAX && text.bytes().all(|byte| byte.is_ascii_graphic());
    let value = HeaderValue::from_str(text).ok().filter(|_| fits);
    value.ok_or_else(|| McpError::protocol("the id of its session is no visible ASCII text"))
}
