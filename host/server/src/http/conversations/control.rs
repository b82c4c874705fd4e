//! What is done with a conversation beside sending.

use axum::{Json, extract::State};
use bulkhead_agent::RecompileOptions;
use bulkhead_store::ThreadFilter;
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{save::Of, which};
use crate::{
    contract::{
        OptionalBody, Parameters, Refusal,
        body::Schema,
        document::{Refusals, RunRefusals},
        query::{FromQuery, Query},
    },
    http::{
        AppState,
        messages::control::{CompactionResponse, cancelled, compacted},
        query::Path,
        unbroken_contract,
    },
};

/// Cancels the run of a conversation; an open request for approval is closed with denials.
#[utoipa::path(
    post,
    path = "/v1/conversations/{conversation_id}/cancel",
    operation_id = "cancel_conversation",
    tag = "conversations",
    params(("conversation_id" = String, Path, description = "the conversation's id, an agent's, or default"), Of),
    responses((status = OK, body = Object, description = "each run's id, and cancelled or failed"), Refusals)
)]
pub(crate) async fn cancel(
    State(app): State<AppState>,
    Path(conversation_id): Path<String>,
    Parameters(of): Parameters<Of>,
) -> Result<Json<Value>, Refusal> {
    let thread = which::thread(&app, &conversation_id, of.agent_id.as_deref()).await?;
    let threads = ThreadFilter::of(thread.conversation_id);
    cancelled(&app, thread.agent_id, threads, None).await
}

/// The body of a request to compact a conversation, or to make its system message anew.
#[derive(Default, Deserialize, ToSchema)]
pub(crate) struct ConversationCompaction {
    /// the agent's id, where the path has the word default
    agent_id: Option<String>,
    /// fields that count over the agent's own
    #[schema(value_type = Option<Object>)]
    compaction_settings: Option<Map<String, Value>>,
}

impl Schema for ConversationCompaction {
    const NAME: &str = "ConversationCompaction";
}

/// Makes a conversation's context shorter.
#[utoipa::path(
    post,
    path = "/v1/conversations/{conversation_id}/compact",
    operation_id = "compact_conversation",
    tag = "conversations",
    params(("conversation_id" = String, Path, description = "the conversation's id, an agent's, or default"), Of),
    request_body = Option<ConversationCompaction>,
    responses((status = OK, body = CompactionResponse, description = "what is left"), RunRefusals)
)]
pub(crate) async fn compact(
    State(app): State<AppState>,
    Path(conversation_id): Path<String>,
    Parameters(of): Parameters<Of>,
    OptionalBody(body): OptionalBody<ConversationCompaction>,
) -> Result<Json<CompactionResponse>, Refusal> {
    let body = body.unwrap_or_default();
    let agent_id = body.agent_id.or(of.agent_id);
    let thread = which::thread(&app, &conversation_id, agent_id.as_deref()).await?;
    let settings = body.compaction_settings;
    compacted(&app, thread.agent_id, thread.conversation_id, settings).await
}

/// How the system message is made.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct How {
    /// only say what it would be
    dry_run: Option<bool>,
    /// the agent's id, where the path has the word default
    agent_id: Option<String>,
}

impl FromQuery for How {
    fn from_query(query: &mut Query) -> Self {
        Self {
            dry_run: query.boolean("dry_run"),
            agent_id: query.text("agent_id"),
        }
    }
}

/// Makes a conversation's system message anew from the agent's instructions and memory, and gives it.
#[utoipa::path(
    post,
    path = "/v1/conversations/{conversation_id}/recompile",
    operation_id = "recompile_conversation",
    tag = "conversations",
    params(("conversation_id" = String, Path, description = "the conversation's id, an agent's, or default"), How),
    request_body = Option<ConversationCompaction>,
    responses((status = OK, body = String, content_type = "application/json", description = "the system message"), Refusals)
)]
pub(crate) async fn recompile(
    State(app): State<AppState>,
    Path(conversation_id): Path<String>,
    Parameters(how): Parameters<How>,
    OptionalBody(body): OptionalBody<ConversationCompaction>,
) -> Result<Json<String>, Refusal> {
    let agent_id = body.unwrap_or_default().agent_id.or(how.agent_id);
    let thread = which::thread(&app, &conversation_id, agent_id.as_deref()).await?;
    let options = RecompileOptions {
        dry_run: how.dry_run.unwrap_or(false),
        update_timestamp: true,
    };
    let text = unbroken_contract(async move {
        let (agent_id, conversation_id) = (thread.agent_id, thread.conversation_id);
        let text = app
            .engine
            .recompile(agent_id, conversation_id, options)
            .await?;
        Ok(text)
    });
    text.await.map(Json)
}
