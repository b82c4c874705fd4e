//! Operations: listing a server's tools, and calling one.

use std::{
    collections::HashMap,
    future::Future,
    sync::{Arc, Weak},
    time::Duration,
};

use bulkhead_egress::Egress;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use crate::{
    Endpoint, McpError, RemoteTool, Settings, ToolResult, Trail, Transport,
    connection::Connection,
    result,
    sse::SseConnection,
    streamable::{HttpConnection, Session},
    tools,
    wire::Wire,
};

/// Operations at once. Each may hold an answer of some megabytes.
const AT_ONCE: usize = 64;
/// Operations at once with one server, so that one that never answers leaves places for others.
const AT_ONCE_WITH_ONE: usize = 16;
/// Servers whose places are remembered before those that nobody holds are forgotten.
const BUSY_MAX: usize = 2000;
/// How long an operation waits for its place.
const PLACE_TIMEOUT: Duration = Duration::from_secs(20);
/// Sessions that are kept; beyond it they are all forgotten and opened again.
const SESSIONS_MAX: usize = 2000;
/// How long what is only a courtesy may take: saying that a call was given up, ending a session.
const COURTESY_TIMEOUT: Duration = Duration::from_secs(2);

/// Speaks to MCP servers. Cheap to clone; clones share the sessions.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    egress: Egress,
    settings: Settings,
    /// Of servers that were greeted, by their ids.
    sessions: Mutex<HashMap<String, Kept>>,
    places: Arc<Semaphore>,
    /// Places with each server, as long as somebody holds one.
    busy: Mutex<HashMap<String, Weak<Semaphore>>>,
}

/// A place for one operation.
struct Place {
    _of_server: OwnedSemaphorePermit,
    _of_all: OwnedSemaphorePermit,
    /// Keeps the server's places known.
    _places: Arc<Semaphore>,
}

struct Kept {
    revision: i64,
    session: Session,
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
            places: Arc::new(Semaphore::new(AT_ONCE)),
            busy: Mutex::default(),
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
        let _place = self.place(&endpoint.id).await?;
        within(self.0.settings.list_timeout, async {
            let (mut connection, is_kept) = self.connect(endpoint, trail, true).await?;
            let listed = tools::list(&mut connection).await;
            if !(is_kept && listed.as_ref().is_err_and(is_expired)) {
                return listed;
            }
            let (mut connection, _) = self.connect(endpoint, trail, false).await?;
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
        call: (&str, &Map<String, Value>),
        cancel: &CancellationToken,
    ) -> Result<Option<ToolResult>, McpError> {
        let place = match cancel.run_until_cancelled(self.place(&endpoint.id)).await {
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
        (tool, arguments): (&str, &Map<String, Value>),
        open: &Mutex<Option<(Session, u64)>>,
    ) -> Result<ToolResult, McpError> {
        let params = json!({ "name": tool, "arguments": arguments });
        let mut use_kept = true;
        loop {
            let (mut connection, is_kept) = self.connect(endpoint, trail, use_kept).await?;
            if let Connection::Http(connection) = &connection {
                *open.lock() = Some((connection.session.clone(), connection.last_id() + 1));
            }
            let answer = connection.request("tools/call", &params).await;
            if is_kept && answer.as_ref().is_err_and(is_expired) {
                *open.lock() = None;
                use_kept = false;
                continue;
            }
            // With a timeout the request is still open.
            if !answer.as_ref().is_err_and(McpError::is_timeout) {
                *open.lock() = None;
            }
            let scrubber = connection.scrubber();
            return result::read(&answer?).map(|result| result.masked(scrubber));
        }
    }

    /// Forgets the session with a server, and ends it there, which nobody waits for.
    pub fn end_session(&self, endpoint: Endpoint) {
        let kept = self.0.sessions.lock().remove(&endpoint.id);
        let kept = kept.filter(|kept| kept.revision == endpoint.revision);
        let Some(kept) = kept.filter(|kept| kept.session.id.is_some()) else {
            return;
        };
        // Where there is much to do, the server ends it by itself some day.
        let Ok(place) = Arc::clone(&self.0.places).try_acquire_owned() else {
            return;
        };
        let client = self.clone();
        tokio::spawn(async move {
            let _place = place;
            let trail = Trail::default();
            let wire = client.wire(&endpoint, &trail, COURTESY_TIMEOUT);
            let connection = HttpConnection::new(wire, kept.session);
            if let Ok(Err(error)) = timeout(COURTESY_TIMEOUT, connection.close()).await {
                tracing::debug!(%error, "a session with an MCP server was not ended there");
            }
        });
    }

    /// A connection to a server that was greeted; whether its session is one that was kept.
    async fn connect<'a>(
        &self,
        endpoint: &'a Endpoint,
        trail: &'a Trail,
        use_kept: bool,
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
        let kept = match use_kept {
            true => self.kept(endpoint),
            false => None,
        };
        if let Some(session) = kept {
            let connection = HttpConnection::new(wire, session);
            return Ok((Connection::Http(connection), true));
        }
        let mut connection = Connection::Http(HttpConnection::new(wire, Session::default()));
        let greeted = within(self.0.settings.connect_timeout, connection.initialize());
        greeted.await.map_err(McpError::connecting)?;
        if let Connection::Http(connection) = &connection {
            self.keep(endpoint, connection.session.clone());
        }
        Ok((connection, false))
    }

    fn wire<'a>(&self, endpoint: &'a Endpoint, trail: &'a Trail, patience: Duration) -> Wire<'a> {
        // The operation's own time ends first, and says which it was.
        Wire::new(endpoint, trail, &self.0.egress, patience + COURTESY_TIMEOUT)
    }

    fn kept(&self, endpoint: &Endpoint) -> Option<Session> {
        let sessions = self.0.sessions.lock();
        let kept = sessions.get(&endpoint.id);
        let kept = kept.filter(|kept| kept.revision == endpoint.revision);
        kept.map(|kept| kept.session.clone())
    }

    fn keep(&self, endpoint: &Endpoint, session: Session) {
        let mut sessions = self.0.sessions.lock();
        if sessions.len() >= SESSIONS_MAX {
            sessions.clear();
        }
        let revision = endpoint.revision;
        sessions.insert(endpoint.id.clone(), Kept { revision, session });
    }

    async fn place(&self, server: &str) -> Result<Place, McpError> {
        let of_server = self.places_with(server);
        let taken = timeout(PLACE_TIMEOUT, async {
            // First that of the server: whoever waits for it is in nobody else's way.
            let one = Arc::clone(&of_server).acquire_owned().await.ok()?;
            let all = Arc::clone(&self.0.places).acquire_owned().await.ok()?;
            Some((one, all))
        });
        match taken.await {
            Ok(Some((one, all))) => Ok(Place {
                _of_server: one,
                _of_all: all,
                _places: of_server,
            }),
            _ => Err(McpError::Busy),
        }
    }

    /// The places with a server.
    fn places_with(&self, server: &str) -> Arc<Semaphore> {
        let mut busy = self.0.busy.lock();
        if let Some(places) = busy.get(server).and_then(Weak::upgrade) {
            return places;
        }
        if busy.len() >= BUSY_MAX {
            busy.retain(|_, places| places.strong_count() > 0);
        }
        let places = Arc::new(Semaphore::new(AT_ONCE_WITH_ONE));
        busy.insert(server.to_owned(), Arc::downgrade(&places));
        places
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
