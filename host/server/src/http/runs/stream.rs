//! The events of a run in the background, for clients that come back.

use axum::{extract::State, response::Response};
use bulkhead_domain::{Run, Timestamp};
use bulkhead_store::{MessageFilter, Paging, RunFilter, ThreadFilter};
use http::StatusCode;
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use super::find;
use crate::{
    app::App,
    contract::{OptionalBody, Refusal, body::Schema, document::Refusals},
    http::{AppState, conversations::which, messages::background, query::Path},
};

/// How long the events of a run are kept: three hours.
pub(crate) const KEPT_MICROS: i64 = 3 * 3_600 * 1_000_000;
/// Runs that are looked through for one that a message began.
const RUNS_SEARCHED: u32 = 20;

/// What of a stream a client wants.
#[derive(Default, Deserialize, ToSchema)]
pub(crate) struct RetrieveStream {
    /// the agent's id, where a path has the word default
    agent_id: Option<String>,
    /// the run, where a path names a conversation
    run_id: Option<String>,
    /// the client's id of a message that began the run, where a path names a conversation
    otid: Option<String>,
    /// the number of the last event that the client has seen
    #[serde(default)]
    starting_after: u64,
    /// whether silence is broken by pings
    include_pings: Option<bool>,
    /// taken and not used: events are sent when they come
    #[serde(default)]
    #[allow(dead_code, reason = "part of the contract's body")]
    poll_interval: Option<f64>,
    /// taken and not used
    #[serde(default)]
    #[allow(dead_code, reason = "part of the contract's body")]
    batch_size: Option<i64>,
}

impl Schema for RetrieveStream {
    const NAME: &str = "RetrieveStreamRequest";
}

/// Answers with the events of a run in the background: those that were, and those that come.
#[utoipa::path(
    post,
    path = "/v1/runs/{run_id}/stream",
    operation_id = "retrieve_run_stream",
    tag = "runs",
    params(("run_id" = String, Path, description = "the run's id")),
    request_body = Option<RetrieveStream>,
    responses((status = OK, body = String, content_type = "text/event-stream", description = "the run's events"), Refusals)
)]
pub(crate) async fn of_run(
    State(app): State<AppState>,
    Path(run_id): Path<String>,
    OptionalBody(body): OptionalBody<RetrieveStream>,
) -> Result<Response, Refusal> {
    let run = find::run(&app, &run_id).await?;
    follow(&app, &run, &body.unwrap_or_default())
}

/// Answers with the events of a conversation's run in the background: the one that is named, or the
/// newest that goes on.
#[utoipa::path(
    post,
    path = "/v1/conversations/{conversation_id}/stream",
    operation_id = "retrieve_conversation_stream",
    tag = "conversations",
    params(("conversation_id" = String, Path, description = "the conversation's id, an agent's, or default")),
    request_body = Option<RetrieveStream>,
    responses((status = OK, body = String, content_type = "text/event-stream", description = "the run's events"), Refusals)
)]
pub(crate) async fn of_conversation(
    State(app): State<AppState>,
    Path(conversation_id): Path<String>,
    OptionalBody(body): OptionalBody<RetrieveStream>,
) -> Result<Response, Refusal> {
    let body = body.unwrap_or_default();
    if let Some(run_id) = &body.run_id {
        let run = find::run(&app, run_id).await?;
        return follow(&app, &run, &body);
    }
    let thread = which::thread(&app, &conversation_id, body.agent_id.as_deref()).await?;
    let filter = RunFilter {
        agent_ids: Some(vec![thread.agent_id]),
        thread: match thread.conversation_id {
            None => ThreadFilter::Default,
            Some(id) => ThreadFilter::Conversation(id),
        },
        background: Some(true),
        active: body.otid.is_none(),
        paging: Paging {
            limit: Some(RUNS_SEARCHED),
            ..Paging::default()
        },
        ..RunFilter::default()
    };
    for run in app.store.runs(&filter).await? {
        let is_it = match &body.otid {
            None => true,
            Some(otid) => began_by(&app, &run, otid).await?,
        };
        if is_it {
            return follow(&app, &run, &body);
        }
    }
    Err(Refusal::bad_request(
        "INVALID_ARGUMENT: No active runs found for this conversation.",
    ))
}

async fn began_by(app: &App, run: &Run, otid: &str) -> Result<bool, Refusal> {
    let filter = MessageFilter {
        agent_id: Some(run.agent_id),
        run_id: Some(run.id),
        ..MessageFilter::default()
    };
    let messages = app.store.messages(&filter).await?;
    Ok(messages
        .iter()
        .any(|message| message.otid.as_deref() == Some(otid)))
}

fn follow(app: &AppState, run: &Run, body: &RetrieveStream) -> Result<Response, Refusal> {
    if !run.background {
        return Err(Refusal::bad_request(
            "INVALID_ARGUMENT: Run was not created in background mode, so it cannot be retrieved.",
        ));
    }
    let age = Timestamp::now()
        .micros()
        .saturating_sub(run.created_at.micros());
    if age > KEPT_MICROS && run.status.is_final() {
        let detail =
            json!({"detail": "Run was created more than 3 hours ago, and is now expired."});
        return Err(Refusal::with(StatusCode::GONE, detail));
    }
    let include_pings = body.include_pings.unwrap_or(true);
    Ok(background::follow(
        app,
        run.id,
        body.starting_after,
        include_pings,
    ))
}
