//! A tiny website on this machine, so that the demo needs no network.

use std::net::{Ipv4Addr, SocketAddr};

use axum::{Router, response::Html, routing::get};
use tokio::{net::TcpListener, task::JoinHandle};

use crate::cli::error::CliError;

const PAGE: &str = "<!doctype html><html><head><title>The Daily Bulkhead</title></head><body>\
<nav><a href=\"/\">Home</a></nav><main><h1>Flooding contained</h1>\
<p>One compartment took on water. The <a href=\"/ship\">ship</a> sails on.</p></main></body></html>";

/// The website; it ends with this value.
pub(super) struct Website {
    pub(super) address: SocketAddr,
    server: JoinHandle<()>,
}

impl Website {
    pub(super) async fn start() -> Result<Self, CliError> {
        let failed = |error| CliError::host("the demo's website could not be started", error);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let site = Router::new().route("/", get(async || Html(PAGE)));
        let server = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, site).await {
                tracing::warn!(%error, "the demo's website ended");
            }
        });
        Ok(Self { address, server })
    }

    pub(super) fn origin(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Website {
    fn drop(&mut self) {
        self.server.abort();
    }
}
