//! The events of a run in the background, for clients that come back.

use axum::{extract::State, response::Response};
use bulkhead_agent::ThreadKey;
use bulkhead_domain::{Run, Timestamp};
use bulkhead_store::{Paging, RunFilter, ThreadFilter};
use http::StatusCode;
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use super::find;
use crate::{
    contract::{OptionalBody, Refusal, body::Schema, document::Refusals},
    http::{
        AppState,
        conversations::which,
        messages::{events::Events, list::DEFAULT},
        missing,
        query::Path,
    },
};

/// How long the events of a run are kept: three hours.
pub(crate) const KEPT_MICROS: i64 = 3 * 3_600 * 1_000_000;

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
    let events = body.unwrap_or_default().of_run(&app, &run)?;
    Ok(events.into_response())
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
    if let (DEFAULT, None, Some(run_id)) = (&*conversation_id, &body.agent_id, &body.run_id) {
        // The run says whose default thread is meant.
        let run = find::run(&app, run_id).await?;
        return Ok(body.of_run(&app, &run)?.into_response());
    }
    let thread = which::thread(&app, &conversation_id, body.agent_id.as_deref()).await?;
    Ok(body.events(&app, thread).await?.into_response())
}

impl RetrieveStream {
    /// The events of the run that is named, or of one of the thread: the one that a message with
    /// the id began, or the newest that goes on. A run of another agent or conversation is not
    /// there; an agent's are those of all its threads.
    pub(crate) async fn events(
        &self,
        app: &AppState,
        thread: ThreadKey,
    ) -> Result<Events, Refusal> {
        match &self.run_id {
            Some(run_id) => {
                let run = find::run(app, run_id).await?;
                let conversation = thread.conversation_id;
                let is_of_thread = run.agent_id == thread.agent_id
                    && (conversation.is_none() || run.conversation_id == conversation);
                if !is_of_thread {
                    return Err(missing::object("Run", run.id));
                }
                self.of_run(app, &run)
            }
            None => self.of_thread(app, thread).await,
        }
    }

    fn of_run(&self, app: &AppState, run: &Run) -> Result<Events, Refusal> {
        let include_pings = self.include_pings.unwrap_or(true);
        kept(app, run, self.starting_after, include_pings)
    }

    async fn of_thread(&self, app: &AppState, thread: ThreadKey) -> Result<Events, Refusal> {
        let ThreadKey {
            agent_id,
            conversation_id,
        } = thread;
        let run = match &self.otid {
            Some(otid) => {
                let found = app
                    .store
                    .run_of_otid(&agent_id, conversation_id.as_ref(), otid);
                found.await?
            }
            None => {
                let filter = RunFilter {
                    agent_ids: Some(vec![agent_id]),
                    thread: ThreadFilter::of(conversation_id),
                    background: Some(true),
                    active: true,
                    paging: Paging {
                        limit: Some(1),
                        ..Paging::default()
                    },
                    ..RunFilter::default()
                };
                app.store.runs(&filter).await?.pop()
            }
        };
        let run = run.ok_or_else(|| {
            Refusal::bad_request("INVALID_ARGUMENT: No active runs found for this conversation.")
        })?;
        self.of_run(app, &run)
    }
}

/// The events of a run in the background after a position.
pub(crate) fn kept(
    app: &AppState,
    run: &Run,
    after: u64,
    include_pings: bool,
) -> Result<Events, Refusal> {
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
    Ok(Events::kept(app, run.id, after, include_pings))
}
