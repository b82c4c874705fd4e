//! An agent as a file.

use axum::{
    extract::State,
    response::{IntoResponse as _, Response},
};
use bulkhead_domain::id::ConversationId;
use bytes::Bytes;
use http::{HeaderValue, header};
use serde::Deserialize;
use tokio::sync::{Semaphore, SemaphorePermit};
use utoipa::ToSchema;

use super::{super::find, AT_ONCE, slot};
use crate::{
    agents::file::{
        document::{AgentFile, Skill},
        export::{self, Wanted},
    },
    contract::{
        OptionalBody, Parameters, Refusal,
        body::Schema,
        document::Refusals,
        id,
        query::{FromQuery, Query},
    },
    http::{AppState, messages::list::DEFAULT, query::Path, unbroken_contract},
};

static EXPORTING: Semaphore = Semaphore::const_new(AT_ONCE);

/// What of an agent is written.
#[derive(Debug, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ExportQuery {
    /// one of the agent's conversations in place of its own history
    conversation_id: Option<String>,
    /// write no messages
    scrub_messages: Option<bool>,
    /// taken and without effect: messages belong to no step in the file
    #[expect(
        dead_code,
        reason = "it is checked and stands in the document of the API"
    )]
    max_steps: Option<i64>,
    /// refused: there is one format
    use_legacy_format: Option<bool>,
}

impl FromQuery for ExportQuery {
    fn from_query(query: &mut Query) -> Self {
        Self {
            conversation_id: query.text("conversation_id"),
            scrub_messages: query.boolean("scrub_messages"),
            max_steps: query.integer("max_steps", i64::MIN..=i64::MAX),
            use_legacy_format: query.boolean("use_legacy_format"),
        }
    }
}

/// The body of an export with what the client adds.
#[derive(Default, Deserialize, ToSchema)]
pub(crate) struct ExportAgentRequest {
    /// instructions that other clients read from the file
    #[serde(default)]
    skills: Vec<Skill>,
    /// one of the agent's conversations in place of its own history
    conversation_id: Option<String>,
    /// write no messages
    #[serde(default)]
    scrub_messages: bool,
}

impl Schema for ExportAgentRequest {
    const NAME: &str = "ExportAgentRequest";
}

/// Writes an agent with its memory, tools and history as one document. Of secrets it has the keys.
#[utoipa::path(
    get,
    path = "/v1/agents/{agent_id}/export",
    operation_id = "export_agent",
    tag = "agents",
    params(("agent_id" = String, Path, description = "the agent's id"), ExportQuery),
    responses((status = OK, body = AgentFile, description = "the document"), Refusals)
)]
pub(crate) async fn export(
    State(app): State<AppState>,
    Path(agent_id): Path<String>,
    Parameters(query): Parameters<ExportQuery>,
) -> Result<Response, Refusal> {
    if query.use_legacy_format == Some(true) {
        return Err(Refusal::bad_request("Legacy format is not supported"));
    }
    let wanted = Wanted {
        conversation_id: conversation(query.conversation_id.as_deref())?,
        scrub_messages: query.scrub_messages.unwrap_or(false),
        skills: Vec::new(),
    };
    written(app, &agent_id, wanted).await
}

/// As [`export()`], with what the client adds.
#[utoipa::path(
    post,
    path = "/v1/agents/{agent_id}/export",
    operation_id = "export_agent_with_skills",
    tag = "agents",
    params(("agent_id" = String, Path, description = "the agent's id")),
    request_body = Option<ExportAgentRequest>,
    responses((status = OK, body = AgentFile, description = "the document"), Refusals)
)]
pub(crate) async fn export_with_skills(
    State(app): State<AppState>,
    Path(agent_id): Path<String>,
    OptionalBody(body): OptionalBody<ExportAgentRequest>,
) -> Result<Response, Refusal> {
    let body = body.unwrap_or_default();
    let wanted = Wanted {
        conversation_id: conversation(body.conversation_id.as_deref())?,
        scrub_messages: body.scrub_messages,
        skills: body.skills,
    };
    written(app, &agent_id, wanted).await
}

/// The conversation that a client names; none for the agent's own thread.
fn conversation(named: Option<&str>) -> Result<Option<ConversationId>, Refusal> {
    let named = named.filter(|named| *named != DEFAULT);
    named
        .map(|named| id::parse("conversation_id", named))
        .transpose()
}

async fn written(app: AppState, agent_id: &str, wanted: Wanted) -> Result<Response, Refusal> {
    let id = find::id(agent_id)?;
    let place = slot(&EXPORTING).await?;
    // Writing the document goes on where the client leaves, so that its place goes along.
    let document = unbroken_contract(async move {
        let json = export::export(&app, id, wanted).await?;
        Ok(Written {
            json,
            _place: place,
        })
    });
    let document = Bytes::from_owner(document.await?);
    let json = HeaderValue::from_static("application/json");
    Ok(([(header::CONTENT_TYPE, json)], document).into_response())
}

/// A document that keeps its place until its last byte was sent, however slowly the client reads.
struct Written {
    json: Vec<u8>,
    _place: SemaphorePermit<'static>,
}

impl AsRef<[u8]> for Written {
    fn as_ref(&self) -> &[u8] {
        &self.json
    }
}
