//! Connections: accepted up to a limit, served one task each, closed in good order.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use axum::Router;
use bulkhead_policy::Cidr;
use hyper::{body::Incoming, server::conn::http1};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::ServiceExt as _;

use crate::{
    connection::Connection,
    http::{forwarded, observe::Peer},
};

/// How long the head of a request may take to arrive: a client that sends a byte now and then
/// would hold its connection for ever.
const HEADER_TIMEOUT: Duration = Duration::from_secs(15);
/// Headers of one request; browsers and SDKs send about twenty.
const HEADERS_MAX: usize = 100;
/// Bytes of the head of a request, and of what is read at once.
const BUFFER_MAX: usize = 64 << 10;
/// Where the process has no file descriptor left, some are given back within this time.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// How long connections may take to send their last answer after the last call has ended.
const CLOSE_GRACE: Duration = Duration::from_secs(3);

/// The open connections of a server.
pub(crate) struct Connections {
    tracker: TaskTracker,
    /// Cancelled to accept nothing more and close what is idle.
    stop: CancellationToken,
    /// Cancelled to drop what is still open.
    abort: CancellationToken,
    slots: Arc<Semaphore>,
    /// How long a client may take nothing of what it is sent.
    patience: Duration,
    /// Who says by a header for whom they ask.
    proxies: Arc<[Cidr]>,
}

impl Connections {
    pub(crate) fn new(max: usize, patience: Duration, proxies: Vec<Cidr>) -> Self {
        Self {
            tracker: TaskTracker::new(),
            stop: CancellationToken::new(),
            abort: CancellationToken::new(),
            slots: Arc::new(Semaphore::new(max.min(Semaphore::MAX_PERMITS))),
            patience,
            proxies: proxies.into(),
        }
    }

    /// Accepts connections until [`Connections::stop`]. Beyond the limit they wait in the
    /// system's queue.
    pub(crate) async fn accept(&self, listener: TcpListener, router: Router) {
        let mut server = http1::Builder::new();
        server
            .timer(TokioTimer::new())
            .header_read_timeout(HEADER_TIMEOUT)
            .max_headers(HEADERS_MAX)
            .max_buf_size(BUFFER_MAX);
        let accepting = self.stop.run_until_cancelled(async {
            loop {
                // The semaphore is never closed.
                let Ok(slot) = Arc::clone(&self.slots).acquire_owned().await else {
                    return;
                };
                let (stream, peer) = accept(&listener).await;
                // Answers are written in one piece; waiting to fill a segment only costs time.
                let _ = stream.set_nodelay(true);
                let counted = self.tracker.token();
                let stream = Connection::new(stream, self.patience, slot, counted);
                let connection = self.serve(&server, stream, peer, router.clone());
                self.tracker.spawn(connection);
            }
        });
        accepting.await;
    }

    fn serve(
        &self,
        server: &http1::Builder,
        stream: Connection,
        peer: SocketAddr,
        router: Router,
    ) -> impl Future<Output = ()> + use<> {
        let address = peer.ip().to_canonical();
        let proxies = Arc::clone(&self.proxies);
        let service = router.map_request(move |mut request: http::Request<Incoming>| {
            let client = forwarded::client(address, request.headers(), &proxies);
            request.extensions_mut().insert(Peer(client));
            request
        });
        let service = TowerToHyperService::new(service);
        let connection = server.serve_connection(TokioIo::new(stream), service);
        let connection = connection.with_upgrades();
        let (stop, abort) = (self.stop.clone(), self.abort.clone());
        async move {
            let mut connection = std::pin::pin!(connection);
            let ended = tokio::select! {
                ended = &mut connection => ended,
                () = stop.cancelled() => {
                    connection.as_mut().graceful_shutdown();
                    tokio::select! {
                        ended = &mut connection => ended,
                        () = abort.cancelled() => return,
                    }
                }
            };
            if let Err(error) = ended {
                // Clients that go away, send no HTTP or take too long.
                tracing::debug!(%peer, %error, "a connection failed");
            }
        }
    }

    /// Accepts nothing more; connections close after the answer that they are about to give.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
        self.tracker.close();
    }

    /// Waits for the last answers, then drops what is still open.
    pub(crate) async fn close(&self) {
        if tokio::time::timeout(CLOSE_GRACE, self.tracker.wait())
            .await
            .is_err()
        {
            tracing::debug!(connections = self.tracker.len(), "connections are dropped");
        }
        self.abort.cancel();
        self.tracker.wait().await;
    }
}

/// The next connection. Failures of single connections and want of descriptors pass.
async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) if is_of_the_client(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "no connection can be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

fn is_of_the_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset
    )
}
