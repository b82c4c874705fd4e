//! Agents over a WebSocket: the events of streams, with cancellation and approval on the same socket.
//!
//! A socket belongs to one thread, an agent's own or a conversation. What clients send are frames of
//! JSON text that mean what the HTTP routes of the thread mean; what they get are the events that
//! those routes would stream, one a frame, and a frame at the end of each stream. Several streams
//! can go on at once: a client that gives its frames a `request_id` finds it in all that answers
//! them.
//!
//! - `frame`: what clients send, and what is no event of what they get. `session`: one socket.
//!   `pieces`: messages that do not become whole.
//! - `handshake`: how a request becomes a socket. Who may ask, `auth` says as of every request;
//!   `holder` asks that again as long as the socket is open.

mod frame;
mod handshake;
mod pieces;
mod session;

use axum::{
    extract::{Request, State},
    response::Response,
};

use super::{
    AppState,
    agents::find,
    conversations::{save::Of, which},
    holder::Holder,
    messages::send::Recipient,
    missing,
    query::Path,
};
use crate::contract::{Parameters, Refusal, document::Refusals};

/// Opens a WebSocket to an agent. A client sends text frames, each a JSON object whose `type` is
/// `message` (with the fields of a request to `…/messages/stream`), `approval` or `tool_return` (a
/// message of that type and such fields in one), `cancel` (with `run_ids`), or `follow` (with
/// `run_id` and `starting_after`, for a run in the background). It gets the events of the streams,
/// one a frame, and after the last of a stream `stream_end` with its `run_id`. `cancelled` answers a
/// cancel; `refusal`, with `status` and `body`, what an HTTP request would have been refused for.
/// The `request_id` of a frame, a text of 128 characters at most, comes back in all that answers it.
#[utoipa::path(
    get,
    path = "/v1/agents/{agent_id}/ws",
    operation_id = "open_agent_socket",
    tag = "messages",
    params(("agent_id" = String, Path, description = "the agent's id")),
    responses(
        (status = SWITCHING_PROTOCOLS, description = "the WebSocket; the subprotocol bulkhead where the client offers it"),
        (status = UPGRADE_REQUIRED, description = "the request asks for no WebSocket of version 13"),
        Refusals,
    )
)]
pub(crate) async fn of_agent(
    State(app): State<AppState>,
    Path(agent_id): Path<String>,
    request: Request,
) -> Result<Response, Refusal> {
    let agent_id = find::id(&agent_id)?;
    open(app, Recipient::agent(agent_id), request).await
}

/// Opens a WebSocket to a conversation; frames are those of a socket to an agent. One message at a
/// time, as by the conversation's other routes: another one is refused meanwhile.
#[utoipa::path(
    get,
    path = "/v1/conversations/{conversation_id}/ws",
    operation_id = "open_conversation_socket",
    tag = "conversations",
    params(("conversation_id" = String, Path, description = "the conversation's id, an agent's, or default"), Of),
    responses(
        (status = SWITCHING_PROTOCOLS, description = "the WebSocket; the subprotocol bulkhead where the client offers it"),
        (status = UPGRADE_REQUIRED, description = "the request asks for no WebSocket of version 13"),
        Refusals,
    )
)]
pub(crate) async fn of_conversation(
    State(app): State<AppState>,
    Path(conversation_id): Path<String>,
    Parameters(of): Parameters<Of>,
    request: Request,
) -> Result<Response, Refusal> {
    let thread = which::thread(&app, &conversation_id, of.agent_id.as_deref()).await?;
    open(app, Recipient::conversation(thread), request).await
}

/// Refuses what is wrong before there is a socket, or opens it.
async fn open(app: AppState, to: Recipient, request: Request) -> Result<Response, Refusal> {
    let agent_id = to.thread.agent_id;
    if app.store.agent(&agent_id).await?.is_none() {
        return Err(missing::agent(agent_id));
    }
    let holder = Holder::of(request.extensions(), request.headers());
    handshake::accept(request, move |socket| session::run(app, to, holder, socket))
}
