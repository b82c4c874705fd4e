//! Operations: listing a server's tools, and calling one.

use std::{
    future::Future,
    sync::{Arc, Weak},
    time::Duration,
};

use bulkhead_egress::Egress;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::{
    Endpoint, McpError, RemoteTool, Settings, ToolResult, Trail, Transport,
    connection::Connection,
    places::{Place, Places},
    result,
    sessions::{Kept, Sessions},
    sse::SseConnection,
    streamable::{HttpConnection, Session},
    tools,
    wire::Wire,
};

/// How long what is only a courtesy may take: saying that a call was given up, ending a session.
const COURTESY_TIMEOUT: Duration = Duration::from_secs(2);
/// How often idle sessions are looked for at most.
const SWEEP_MIN: Duration = Duration::from_millis(100);

/// Speaks to MCP servers. Cheap to clone; clones share the sessions.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    egress: Egress,
    settings: Settings,
    sessions: Mutex<Sessions>,
    places: Places,
}

/// A call of a tool.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// What the server calls the tool.
    pub tool: &'a str,
    /// Its arguments.
    pub arguments: &'a Map<String, Value>,
    /// The agent that calls it, by any name that no other one has: it has its own session and its own
    /// places. None for a call that is no agent's.
    pub agent: Option<&'a str>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client")
            .field("settings", &self.0.settings)
            .finish_non_exhaustive()
    }
}

impl Client {
    /// A client whose requests leave through `egress`.
    pub fn new(egress: Egress, settings: Settings) -> Self {
        Self(Arc::new(Inner {
            egress,
            settings,
            sessions: Mutex::default(),
            places: Places::new(),
        }))
    }

    /// How it speaks to servers.
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// All tools of a server.
    pub async fn list_tools(
        &self,
        endpoint: &Endpoint,
        trail: &Trail,
    ) -> Result<Vec<RemoteTool>, McpError> {
        let _place = self.0.places.take(&endpoint.id, None).await?;
        within(self.0.settings.list_timeout, async {
            let (mut connection, is_kept) = self.connect(endpoint, trail, None).await?;
            let listed = tools::list(&mut connection).await;
            if !(is_kept && listed.as_ref().is_err_and(is_expired)) {
                return listed;
            }
            self.forget(endpoint, None, &connection);
            let (mut connection, _) = self.connect(endpoint, trail, None).await?;
            tools::list(&mut connection).await
        })
        .await
    }

    /// Calls a tool. Where the call is cancelled or takes too long, its request is dropped and the
    /// server is told.
    pub async fn call_tool(
        &self,
        endpoint: &Endpoint,
        trail: &Trail,
        call: Call<'_>,
        cancel: &CancellationToken,
    ) -> Result<Option<ToolResult>, McpError> {
        let place = self.0.places.take(&endpoint.id, call.agent);
        let place = match cancel.run_until_cancelled(place).await {
            None => return Ok(None),
            Some(place) => place?,
        };
        // Filled while a request is on its way.
        let open = Mutex::new(None);
        let called = within(
            self.0.settings.call_timeout,
            self.called(endpoint, trail, call, &open),
        );
        let ended = cancel.run_until_cancelled(called).await;
        let given_up = match &ended {
            None => true,
            Some(Err(error)) => error.is_timeout(),
            Some(Ok(_)) => false,
        };
        if let Some((session, id)) = open.lock().take().filter(|_| given_up) {
            self.say_cancelled(endpoint, session, id, place);
        }
        ended.transpose()
    }

    async fn called(
        &self,
        endpoint: &Endpoint,
        trail: &Trail,
        call: Call<'_>,
        open: &Mutex<Option<(Session, u64)>>,
    ) -> Result<ToolResult, McpError> {
        let params = json!({ "name": call.tool, "arguments": call.arguments });
        let mut is_again = false;
        loop {
            let (mut connection, is_kept) = self.connect(endpoint, trail, call.agent).await?;
            if let Connection::Http(connection) = &mut connection {
                *open.lock() = Some((connection.session.clone(), connection.announce()));
            }
            let answer = connection.request("tools/call", &params).await;
            if is_kept && !is_again && answer.as_ref().is_err_and(is_expired) {
                *open.lock() = None;
                self.forget(endpoint, call.agent, &connection);
                is_again = true;
                continue;
            }
            // With a timeout the request is still open.
            if !answer.as_ref().is_err_and(McpError::is_timeout) {
                *open.lock() = None;
            }
            return result::read(&answer?);
        }
    }

    /// Forgets the sessions with a server, and ends them there, which nobody waits for.
    pub fn end_sessions(&self, server: &str) {
        let kept = self.0.sessions.lock().take_all(server);
        self.end(kept);
    }

    /// Ends sessions that were taken out of those that are kept.
    fn end(&self, kept: Vec<Kept>) {
        let known = kept.into_iter().filter(|kept| kept.session.id.is_some());
        let known: Vec<Kept> = known.collect();
        if known.is_empty() {
            return;
        }
        // Where there is much to do, the server ends them by itself some day.
        let Some(place) = self.0.places.spare() else {
            return;
        };
        let client = self.clone();
        tokio::spawn(async move {
            let _place = place;
            for Kept {
                endpoint, session, ..
            } in known
            {
                let trail = Trail::default();
                let wire = client.wire(&endpoint, &trail, COURTESY_TIMEOUT);
                let connection = HttpConnection::new(wire, session);
                if let Ok(Err(error)) = timeout(COURTESY_TIMEOUT, connection.close()).await {
                    tracing::debug!(%error, "a session with an MCP server was not ended there");
                }
            }
        });
    }

    /// A connection to a server that was greeted; whether its session is one that was kept.
    async fn connect<'a>(
        &self,
        endpoint: &'a Endpoint,
        trail: &'a Trail,
        agent: Option<&str>,
    ) -> Result<(Connection<'a>, bool), McpError> {
        let wire = self.wire(endpoint, trail, self.0.settings.call_timeout);
        if endpoint.transport == Transport::Sse {
            let connected = within(self.0.settings.connect_timeout, async {
                let opened = SseConnection::open(wire).await?;
                let mut connection = Connection::Sse(Box::new(opened));
                connection.initialize().await?;
                Ok(connection)
            });
            let connection = connected.await.map_err(McpError::connecting)?;
            return Ok((connection, false));
        }
        let kept = self.0.sessions.lock().find(endpoint, agent);
        if let Some(session) = kept {
            let connection = HttpConnection::new(wire, session);
            return Ok((Connection::Http(connection), true));
        }
        let mut connection = Connection::Http(HttpConnection::new(wire, Session::default()));
        let greeted = within(self.0.settings.connect_timeout, connection.initialize());
        greeted.await.map_err(McpError::connecting)?;
        if let Connection::Http(connection) = &connection {
            self.keep(endpoint, agent, connection.session.clone());
        }
        Ok((connection, false))
    }

    fn wire<'a>(&self, endpoint: &'a Endpoint, trail: &'a Trail, patience: Duration) -> Wire<'a> {
        // The operation's own time ends first, and says which it was.
        Wire::new(endpoint, trail, &self.0.egress, patience + COURTESY_TIMEOUT)
    }

    fn keep(&self, endpoint: &Endpoint, agent: Option<&str>, session: Session) {
        let mut sessions = self.0.sessions.lock();
        sessions.keep(endpoint, agent, session);
        if !std::mem::replace(&mut sessions.has_keeper, true) {
            let idle = self.0.settings.session_idle;
            tokio::spawn(end_idle(Arc::downgrade(&self.0), idle));
        }
    }

    fn forget(&self, endpoint: &Endpoint, agent: Option<&str>, connection: &Connection<'_>) {
        if let Connection::Http(connection) = connection {
            let mut sessions = self.0.sessions.lock();
            sessions.forget(endpoint, agent, &connection.session);
        }
    }

    /// Tells a server that nobody waits for an answer any more. It keeps the place of the call.
    fn say_cancelled(&self, endpoint: &Endpoint, session: Session, id: u64, place: Place) {
        let (client, endpoint) = (self.clone(), endpoint.clone());
        tokio::spawn(async move {
            let _place = place;
            let trail = Trail::default();
            let wire = client.wire(&endpoint, &trail, COURTESY_TIMEOUT);
            let mut connection = HttpConnection::new(wire, session);
            if let Ok(Err(error)) = timeout(COURTESY_TIMEOUT, connection.cancelled(id)).await {
                tracing::debug!(%error, "an MCP server did not learn of a cancelled call");
            }
        });
    }
}

/// Ends sessions that nobody uses, as long as there are any.
async fn end_idle(client: Weak<Inner>, idle: Duration) {
    loop {
        sleep((idle / 2).max(SWEEP_MIN)).await;
        let Some(client) = client.upgrade().map(Client) else {
            return;
        };
        let (gone, is_over) = {
            let mut sessions = client.0.sessions.lock();
            let gone = sessions.take_idle(idle);
            sessions.has_keeper = !sessions.is_empty();
            (gone, !sessions.has_keeper)
        };
        client.end(gone);
        if is_over {
            return;
        }
    }
}

/// An operation that ends within its time.
async fn within<T>(
    time: Duration,
    operation: impl Future<Output = Result<T, McpError>>,
) -> Result<T, McpError> {
    let ended = timeout(time, operation).await;
    ended.unwrap_or(Err(McpError::Timeout(time.as_secs())))
}

/// Whether the server refused the session alone, so that the request had no effect.
fn is_expired(error: &McpError) -> bool {
    *error == McpError::SessionExpired
}
