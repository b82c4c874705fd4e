//! How a request becomes a WebSocket: RFC 6455, section 4.2.
//!
//! axum's extractor would do, at the price of another version of the protocol's crate and of what
//! that needs, and with refusals in other words.

use axum::{
    body::Body,
    extract::Request,
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use serde_json::json;
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        handshake::derive_accept_key,
        protocol::{Role, WebSocketConfig},
    },
};
use tracing::Instrument as _;

use super::pieces::Counted;
use crate::{
    contract::Refusal,
    http::{auth, json::BODY_MAX, scope},
};

/// The one version of the protocol.
const VERSION: &str = "13";
/// Characters of a key: 16 bytes in base64.
const KEY_LENGTH: usize = 24;
/// The subprotocol. A browser that names its token among those that it offers must be given one of
/// them, and a token does not belong into an answer.
const SUBPROTOCOL: &str = "bulkhead";
/// Bytes that are read at once. Frames are small; those that are not are read in pieces.
const READ_BUFFER: usize = 8 << 10;
/// Bytes of frames that are gathered before they are written.
const WRITE_BUFFER: usize = 16 << 10;

/// A socket that is open.
pub(super) type Socket = WebSocketStream<Counted<TokioIo<Upgraded>>>;

/// Answers with a WebSocket, on which `serve` goes on.
pub(super) fn accept<F>(
    mut request: Request,
    serve: impl FnOnce(Socket) -> F + Send + 'static,
) -> Result<Response, Refusal>
where
    F: Future<Output = ()> + Send + 'static,
{
    let Some(upgrade) = asked(&mut request) else {
        return Ok(upgrade_required());
    };
    let headers = request.headers();
    let key = headers.get(header::SEC_WEBSOCKET_KEY);
    let Some(key) = key.filter(|key| key.len() == KEY_LENGTH) else {
        let text = "INVALID_ARGUMENT: sec-websocket-key is not 16 bytes in base64";
        return Err(Refusal::bad_request(text));
    };
    let accepted = derive_accept_key(key.as_bytes());
    let accepted = HeaderValue::from_str(&accepted).map_err(|_| {
        Refusal::bad_request("INVALID_ARGUMENT: sec-websocket-key can't be answered")
    })?;
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    put_upgrade(response.headers_mut());
    response
        .headers_mut()
        .insert(header::SEC_WEBSOCKET_ACCEPT, accepted);
    if auth::subprotocols(headers).any(|offered| offered == SUBPROTOCOL) {
        let chosen = HeaderValue::from_static(SUBPROTOCOL);
        response
            .headers_mut()
            .insert(header::SEC_WEBSOCKET_PROTOCOL, chosen);
    }
    let served = async move {
        match upgrade.await {
            Ok(stream) => serve(socket(stream).await).await,
            Err(error) => tracing::debug!(%error, "a connection became no socket"),
        }
    };
    // The socket keeps its place among the connections, which the server waits for when it ends.
    tokio::spawn(scope::carried(served).in_current_span());
    Ok(response)
}

async fn socket(stream: Upgraded) -> Socket {
    let config = WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER)
        .write_buffer_size(WRITE_BUFFER)
        .max_message_size(Some(BODY_MAX))
        .max_frame_size(Some(BODY_MAX));
    let stream = Counted::new(TokioIo::new(stream));
    WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await
}

/// What becomes the socket, where the request asks for one.
fn asked(request: &mut Request) -> Option<OnUpgrade> {
    let headers = request.headers();
    let is_asked = lists(headers, &header::CONNECTION, "upgrade")
        && lists(headers, &header::UPGRADE, "websocket")
        && lists(headers, &header::SEC_WEBSOCKET_VERSION, VERSION);
    is_asked.then(|| hyper::upgrade::on(request))
}

/// Whether a header's list has a word.
fn lists(headers: &HeaderMap, name: &HeaderName, word: &str) -> bool {
    let values = headers.get_all(name).iter();
    let mut words = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    words.any(|given| given.trim().eq_ignore_ascii_case(word))
}

fn put_upgrade(headers: &mut HeaderMap) {
    headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
}

fn upgrade_required() -> Response {
    let detail = "This is a WebSocket: send a handshake of version 13.";
    let refusal = Refusal::with(StatusCode::UPGRADE_REQUIRED, json!({ "detail": detail }));
    let mut response = refusal.into_response();
    put_upgrade(response.headers_mut());
    let version = HeaderValue::from_static(VERSION);
    response
        .headers_mut()
        .insert(header::SEC_WEBSOCKET_VERSION, version);
    response
}
