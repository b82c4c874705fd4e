//! HTTP to providers: one client for all of them, time-outs, repeats, streams, errors.
//!
//! HTTP/1.1 with a connection for each request in flight, as vendors' own clients do it: a stream
//! that stalls or breaks takes no other one with it. Redirects are not followed, since keys travel
//! in headers of any name. Proxies of the environment are used except for servers on this machine.
//!
//! - [`request`]: what is sent. [`attempt`]: once. [`retry`]: when once more. [`stream`] and
//!   [`crate::sse`]: answers in pieces. [`failure`]: errors without keys. [`settings`]: time-outs.

mod attempt;
pub(crate) mod failure;
mod request;
mod retry;
pub(crate) mod settings;
mod stream;

use std::{sync::Arc, time::Duration};

use reqwest::{Response, header::CONTENT_TYPE, redirect::Policy};
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout_at};

use self::{
    attempt::{late, read},
    failure::describe,
    request::Prepared,
    settings::Settings,
    stream::{Format, MAX_ANSWER},
};
pub(crate) use self::{
    failure::failure,
    request::{Auth, Call},
    stream::EventStream,
};
use crate::{
    chat::Deltas,
    error::{ErrorKind, LlmError},
};

/// After so much silence, a connection is probed; a peer that is gone is noticed before the
/// time-out of the answer.
const TCP_KEEPALIVE: Duration = Duration::from_secs(30);
/// How long an idle connection is kept: below the minute after which load balancers close theirs.
const POOL_IDLE: Duration = Duration::from_secs(50);
/// Idle connections to one provider: about as many as conversations run at once.
const POOL_SIZE: usize = 100;

/// The HTTP client could not be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The TLS settings don't fit together.
    #[error("the TLS settings of the client for model providers")]
    Tls(#[from] rustls::Error),
    /// The client itself.
    #[error("the HTTP client for model providers")]
    Http(#[from] reqwest::Error),
}

/// The way to providers. Clones share connections.
#[derive(Debug, Clone)]
pub(crate) struct Transport {
    /// For servers on this machine.
    local: reqwest::Client,
    /// For all others, through the environment's proxy where there is one.
    outer: reqwest::Client,
    settings: Settings,
}

impl Transport {
    /// # Errors
    /// When the HTTP client can't be set up.
    pub(crate) fn new(settings: Settings) -> Result<Self, SetupError> {
        let roots = RootCertStore {
            roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
        };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        let builder = || {
            reqwest::Client::builder()
                .tls_backend_preconfigured(tls.clone())
                .user_agent(concat!("bulkhead/", env!("CARGO_PKG_VERSION")))
                .connect_timeout(settings.connect_timeout)
                .tcp_keepalive(TCP_KEEPALIVE)
                .pool_idle_timeout(POOL_IDLE)
                .pool_max_idle_per_host(POOL_SIZE)
                .redirect(Policy::none())
                .http1_only()
        };
        Ok(Self {
            local: builder().no_proxy().build()?,
            outer: builder().build()?,
            settings,
        })
    }

    /// Posts, and gives the whole answer, which is JSON.
    ///
    /// # Errors
    /// As [`LlmError`] says.
    pub(crate) async fn post_json(&self, call: &Call<'_>) -> Result<Value, LlmError> {
        self.json(call, self.settings.answer_timeout).await
    }

    /// Gets a JSON document within this time, repeats included.
    ///
    /// # Errors
    /// As [`LlmError`] says.
    pub(crate) async fn get_json(
        &self,
        call: &Call<'_>,
        within: Duration,
    ) -> Result<Value, LlmError> {
        self.json(call, within).await
    }

    /// Posts, and gives the events of the answer as they come.
    ///
    /// # Errors
    /// Until the answer begins. What fails later comes from the stream.
    pub(crate) async fn post_stream<'a>(
        &self,
        call: &Call<'a>,
        deltas: &'a Deltas,
    ) -> Result<EventStream<'a>, LlmError> {
        let started = Instant::now();
        let response = self
            .begin(call, "text/event-stream", self.settings.answer_timeout)
            .await?;
        let is_document = response
            .headers()
            .get(CONTENT_TYPE)
            .is_some_and(|value| value.as_bytes().starts_with(b"application/json"));
        let format = if is_document {
            Format::Document(Vec::new())
        } else {
            Format::Events(crate::sse::Parser::default())
        };
        Ok(EventStream {
            endpoint: call.endpoint,
            deltas,
            response,
            format,
            started,
            deadline: started + self.settings.stream_timeout,
            silence: self.settings.silence_timeout,
            received: 0,
            ended: false,
            first_delta: None,
        })
    }

    async fn json(&self, call: &Call<'_>, within: Duration) -> Result<Value, LlmError> {
        let deadline = Instant::now() + within;
        let mut response = self.begin(call, "application/json", within).await?;
        let (body, whole) = timeout_at(deadline, read(&mut response, MAX_ANSWER))
            .await
            .map_err(|_| late(call, within))?
            .map_err(|error| {
                let text = format!("the answer broke off: {}", describe(error));
                failure(call.endpoint, ErrorKind::Connection, &text)
            })?;
        let invalid = |text: &str| failure(call.endpoint, ErrorKind::InvalidResponse, text);
        if !whole {
            return Err(invalid(&format!(
                "its answer is larger than {MAX_ANSWER} bytes"
            )));
        }
        serde_json::from_slice(&body).map_err(|error| {
            let body = String::from_utf8_lossy(&body);
            invalid(&format!(
                "its answer is no JSON ({error}): {}",
                failure::quoted(&body)
            ))
        })
    }

    /// Sends a request until an answer begins, as often as [`retry`] allows.
    async fn begin(
        &self,
        call: &Call<'_>,
        accept: &'static str,
        within: Duration,
    ) -> Result<Response, LlmError> {
        let deadline = Instant::now() + within;
        let prepared = Prepared::new(call, accept)?;
        let mut tries = 1;
        loop {
            let refused = match self.once(call, &prepared, deadline, within).await {
                Ok(response) => return Ok(response),
                Err(refused) => refused,
            };
            let wait = refused
                .wait(tries, self.settings.backoff)
                .filter(|wait| Instant::now() + *wait < deadline);
            let Some(wait) = wait else {
                return Err(refused.error);
            };
            tracing::debug!(error = %refused.error, tries, ?wait, "a model provider is asked again");
            sleep(wait).await;
            tries += 1;
        }
    }
}
