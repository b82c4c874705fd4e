//! Messages to a conversation.

use axum::{
    extract::{Request, State},
    response::Response,
};

use super::{save::Of, which};
use crate::{
    contract::{Parameters, Refusal, body, document::RunRefusals},
    http::{
        AppState,
        messages::{
            body::{Route, SendBody},
            send::{self, Recipient},
        },
        query::Path,
    },
};

/// Sends messages to a conversation and answers with server-sent events, or with streaming false as
/// a whole. One request at a time: another one is refused meanwhile. A request in the background
/// whose messages have the otids of one before is answered with the events of that one's run.
#[utoipa::path(
    post,
    path = "/v1/conversations/{conversation_id}/messages",
    operation_id = "send_conversation_message",
    tag = "conversations",
    params(("conversation_id" = String, Path, description = "the conversation's id, an agent's, or default"), Of),
    request_body = Object,
    responses(
        (status = OK, content((String = "text/event-stream"), (Object = "application/json")), description = "messages as they come; with streaming false, all of them"),
        RunRefusals,
    )
)]
pub(crate) async fn send(
    State(app): State<AppState>,
    Path(conversation_id): Path<String>,
    Parameters(of): Parameters<Of>,
    request: Request,
) -> Result<Response, Refusal> {
    let body = SendBody::read(Route::Conversation, body::value(request).await?)?;
    let agent_id = body.agent_id.as_deref().or(of.agent_id.as_deref());
    let thread = which::thread(&app, &conversation_id, agent_id).await?;
    let to = Recipient::conversation(thread);
    if body.is_streaming() {
        return Ok(send::streamed(&app, &body, to).await?.into_response());
    }
    body.check_unstreamed()?;
    send::whole(&app, &body, to).await
}
