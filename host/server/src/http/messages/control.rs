//! What is done with a thread beside sending: runs are cancelled, the context is made shorter.

use axum::{Json, extract::State};
use bulkhead_agent::{AgentError, Closed, ThreadKey};
use bulkhead_domain::id::{AgentId, ConversationId, RunId};
use bulkhead_store::ThreadFilter;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::{
    app::App,
    contract::{
        OptionalBody, Refusal,
        body::Schema,
        document::{Refusals, RunRefusals},
    },
    http::{AppState, agents::find, query::Path, runs, unbroken_contract},
};

/// The body of a request to cancel.
#[derive(Default, Deserialize, ToSchema)]
pub(crate) struct CancelAgentRunRequest {
    /// the runs; all that go on where left out
    run_ids: Option<Vec<String>>,
}

impl Schema for CancelAgentRunRequest {
    const NAME: &str = "CancelAgentRunRequest";
}

impl CancelAgentRunRequest {
    /// The runs that are named.
    pub(crate) fn named(self) -> Result<Option<Vec<RunId>>, Refusal> {
        let named = self.run_ids;
        let named = named.map(|ids| ids.iter().map(|id| runs::find::id(id)).collect());
        named.transpose()
    }
}

/// Cancels runs of an agent; an open request for approval is closed with denials.
#[utoipa::path(
    post,
    path = "/v1/agents/{agent_id}/messages/cancel",
    operation_id = "cancel_message",
    tag = "messages",
    params(("agent_id" = String, Path, description = "the agent's id")),
    request_body = Option<CancelAgentRunRequest>,
    responses((status = OK, body = Object, description = "each run's id, and cancelled or failed"), Refusals)
)]
pub(crate) async fn cancel(
    State(app): State<AppState>,
    Path(agent_id): Path<String>,
    OptionalBody(body): OptionalBody<CancelAgentRunRequest>,
) -> Result<Json<Value>, Refusal> {
    let agent_id = find::id(&agent_id)?;
    let named = body.unwrap_or_default().named()?;
    cancelled(&app, agent_id, ThreadFilter::Any, named).await
}

/// Cancels runs in threads of an agent, and says what became of each.
pub(crate) async fn cancelled(
    app: &AppState,
    agent_id: AgentId,
    threads: ThreadFilter,
    named: Option<Vec<RunId>>,
) -> Result<Json<Value>, Refusal> {
    let engine = app.engine.clone();
    let results = unbroken_contract(async move {
        let results = engine.cancel(agent_id, threads, named).await?;
        Ok(results)
    });
    let results = results.await?.into_iter().map(|(id, cancelled)| {
        let status = if cancelled { "cancelled" } else { "failed" };
        (id.to_string(), Value::from(status))
    });
    Ok(Json(Value::Object(results.collect::<Map<_, _>>())))
}

/// Ends what goes on in threads that are about to be deleted, down to the last event that is kept of
/// it. Nothing begins in them as long as the answer is there.
pub(crate) async fn closed(
    app: &App,
    agent_id: AgentId,
    threads: ThreadFilter,
) -> Result<Closed, Refusal> {
    let closed = app.engine.close(agent_id, threads).await?;
    app.recordings.finished(closed.runs()).await;
    Ok(closed)
}

/// The body of a request to compact.
#[derive(Default, Deserialize, ToSchema)]
pub(crate) struct AgentCompaction {
    /// fields that count over the agent's own
    #[schema(value_type = Option<Object>)]
    compaction_settings: Option<Map<String, Value>>,
}

impl Schema for AgentCompaction {
    const NAME: &str = "AgentCompaction";
}

/// What a compaction left.
#[derive(Serialize, ToSchema)]
pub(crate) struct CompactionResponse {
    /// what is left of the messages that were taken out of the context
    summary: String,
    /// messages in the context before, the system message included
    num_messages_before: i64,
    /// and after
    num_messages_after: i64,
}

/// Makes an agent's context shorter.
#[utoipa::path(
    post,
    path = "/v1/agents/{agent_id}/summarize",
    operation_id = "summarize_messages",
    tag = "messages",
    params(("agent_id" = String, Path, description = "the agent's id")),
    request_body = Option<AgentCompaction>,
    responses((status = OK, body = CompactionResponse, description = "what is left"), RunRefusals)
)]
pub(crate) async fn summarize(
    State(app): State<AppState>,
    Path(agent_id): Path<String>,
    OptionalBody(body): OptionalBody<AgentCompaction>,
) -> Result<Json<CompactionResponse>, Refusal> {
    let agent_id = find::id(&agent_id)?;
    let settings = body.unwrap_or_default().compaction_settings;
    compacted(&app, agent_id, None, settings).await
}

/// Makes the context of a thread shorter.
pub(crate) async fn compacted(
    app: &App,
    agent_id: AgentId,
    conversation_id: Option<ConversationId>,
    settings: Option<Map<String, Value>>,
) -> Result<Json<CompactionResponse>, Refusal> {
    let engine = app.engine.clone();
    let thread = ThreadKey {
        agent_id,
        conversation_id,
    };
    let report = unbroken_contract(async move {
        let report: Result<_, AgentError> =
            engine.compact(thread, settings.unwrap_or_default()).await;
        Ok(report?)
    });
    let report = report.await?;
    Ok(Json(CompactionResponse {
        summary: report.summary,
        num_messages_before: report.num_messages_before,
        num_messages_after: report.num_messages_after,
    }))
}

/// Messages are history.
pub(super) async fn modify() -> Refusal {
    Refusal::with(
        http::StatusCode::METHOD_NOT_ALLOWED,
        serde_json::json!({ "detail":
            "Message editing is no longer supported. Send a new message instead." }),
    )
}

/// Search by meaning needs a model of embeddings.
pub(super) async fn search() -> Refusal {
    Refusal::bad_request(
        "Message search requires message embedding, OpenAI, and Turbopuffer to be enabled.",
    )
}
