//! One try of a request.

use std::time::Duration;

use reqwest::{Response, StatusCode, Url};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::{
    Transport,
    failure::{describe, failure, in_words, kind_of_status, refusal},
    request::{Call, Prepared},
    retry::{self, Refused},
};
use crate::error::{ErrorKind, LlmError};

/// Bytes of a refusal that are read; what people and the reading of errors need stands at its
/// beginning.
const MAX_REFUSAL: usize = 256 * 1024;

impl Transport {
    /// Sends a request and waits until an answer begins.
    pub(super) async fn once(
        &self,
        call: &Call<'_>,
        prepared: &Prepared,
        deadline: Instant,
        within: Duration,
    ) -> Result<Response, Refused> {
        let client = if is_local(&prepared.url) {
            &self.local
        } else {
            &self.outer
        };
        let mut response = match timeout_at(deadline, client.execute(prepared.request())).await {
            Err(_) => return Err(Refused::for_good(late(call, within))),
            Ok(Err(error)) => return Err(self.unreachable(call, &prepared.url, error)),
            Ok(Ok(response)) => response,
        };
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        // A refusal that breaks off is one all the same.
        let body = match timeout_at(deadline, read(&mut response, MAX_REFUSAL)).await {
            Ok(Ok((body, _))) => body,
            Ok(Err(_)) | Err(_) => Vec::new(),
        };
        Err(refused(call, status, &response, &body))
    }

    /// No answer began: the request is sent again, since the provider has shown nothing of it.
    fn unreachable(&self, call: &Call<'_>, url: &Url, error: reqwest::Error) -> Refused {
        let passing = !error.is_builder();
        let at = match (url.host_str(), url.port_or_known_default()) {
            (Some(host), Some(port)) => format!("{host}:{port}"),
            _ => call.endpoint.provider.clone(),
        };
        let error = if error.is_connect() && error.is_timeout() {
            let allowed = in_words(self.settings.connect_timeout);
            let text = format!("no connection to {at} in {allowed}");
            failure(call.endpoint, ErrorKind::Timeout, &text)
        } else {
            let text = format!("no answer from {at}: {}", describe(error));
            failure(call.endpoint, ErrorKind::Connection, &text)
        };
        Refused { error, passing }
    }
}

/// Whether a server is on this machine, where no proxy is of use.
fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// No answer in time.
pub(super) fn late(call: &Call<'_>, within: Duration) -> LlmError {
    let text = format!("no answer in {}", in_words(within));
    failure(call.endpoint, ErrorKind::Timeout, &text)
}

fn refused(call: &Call<'_>, status: StatusCode, response: &Response, body: &[u8]) -> Refused {
    let code = status.as_u16();
    let headers = response.headers();
    let text = String::from_utf8_lossy(body);
    let value = serde_json::from_slice(body).unwrap_or_else(|_| Value::from(text.as_ref()));
    let kind = (call.classify)(code, &value).unwrap_or_else(|| kind_of_status(code));
    let text = if status.is_redirection() {
        let target = headers
            .get("location")
            .and_then(|value| value.to_str().ok());
        format!(
            "a redirect to {}, which is not followed",
            target.unwrap_or("nowhere")
        )
    } else {
        text.into_owned()
    };
    let error = LlmError {
        retry_after: retry::asked(headers),
        ..refusal(call.endpoint, kind, code, &text)
    };
    Refused {
        passing: retry::is_passing(code, kind, headers),
        error,
    }
}

/// A body up to `limit` bytes, and whether that is all of it.
pub(super) async fn read(
    response: &mut Response,
    limit: usize,
) -> Result<(Vec<u8>, bool), reqwest::Error> {
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await? {
        let room = limit - body.len();
        if piece.len() > room {
            body.extend_from_slice(&piece[..room]);
            return Ok((body, false));
        }
        body.extend_from_slice(&piece);
    }
    Ok((body, true))
}
