//! Messages to a conversation.

use axum::{
    extract::{Request, State},
    response::Response,
};
use bulkhead_agent::ThreadKey;
use http::StatusCode;
use serde_json::json;

use super::{save::Of, which};
use crate::{
    app::App,
    contract::{Parameters, Refusal, body, document::Refusals},
    http::{
        AppState,
        messages::{
            body::{Route, SendBody},
            send,
        },
        query::Path,
    },
};

/// Sends messages to a conversation and answers with server-sent events, or with streaming false as
/// a whole. One request at a time: another one is refused meanwhile.
#[utoipa::path(
    post,
    path = "/v1/conversations/{conversation_id}/messages",
    operation_id = "send_conversation_message",
    tag = "conversations",
    params(("conversation_id" = String, Path, description = "the conversation's id, an agent's, or default"), Of),
    request_body = Object,
    responses(
        (status = OK, content((String = "text/event-stream"), (Object = "application/json")), description = "messages as they come; with streaming false, all of them"),
        Refusals,
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
    refuse_busy(&app, thread)?;
    if body.is_streaming() {
        return send::streamed(&app, &body, thread).await;
    }
    body.check_unstreamed()?;
    send::whole(&app, &body, thread).await
}

/// Refuses a second request while one goes on.
fn refuse_busy(app: &App, thread: ThreadKey) -> Result<(), Refusal> {
    let Some(run_id) = app.engine.busy(thread) else {
        return Ok(());
    };
    let detail = format!(
        "CONFLICT: Cannot send a new message: Another request (run_id={run_id}) is currently being \
         processed for this conversation. Please wait for it to complete."
    );
    let body = json!({ "detail": detail, "run_id": run_id });
    Err(Refusal::with(StatusCode::CONFLICT, body))
}
