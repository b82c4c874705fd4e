//! A run in an answer.

use bulkhead_domain::{Run, RunStatus, StopReason, Timestamp};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::http::messages::later::shown_config;

/// A run with every field of the contract.
#[derive(Serialize, ToSchema)]
#[schema(as = Run)]
pub(crate) struct RunView {
    id: String,
    /// created, running, completed, failed or cancelled
    #[schema(value_type = String)]
    status: RunStatus,
    #[schema(value_type = String)]
    created_at: Timestamp,
    /// in UTC, without a zone
    completed_at: Option<String>,
    agent_id: String,
    conversation_id: Option<String>,
    base_template_id: Option<String>,
    background: Option<bool>,
    #[schema(value_type = Option<Object>)]
    metadata: Option<Value>,
    #[schema(value_type = Option<Object>)]
    request_config: Option<Value>,
    #[schema(value_type = Option<String>)]
    stop_reason: Option<StopReason>,
    callback_url: Option<String>,
    #[schema(value_type = Option<String>)]
    callback_sent_at: Option<Timestamp>,
    callback_status_code: Option<i64>,
    callback_error: Option<String>,
    ttft_ns: Option<i64>,
    total_duration_ns: Option<i64>,
}

impl RunView {
    /// For who sees the run and may not send messages: an address to which its end is reported often
    /// has a key in it, and so may what is told of a report that failed.
    pub(crate) fn without_receiver(self) -> Self {
        Self {
            callback_url: None,
            callback_error: None,
            ..self
        }
    }
}

impl From<Run> for RunView {
    fn from(run: Run) -> Self {
        Self {
            id: run.id.to_string(),
            status: run.status,
            created_at: run.created_at,
            completed_at: run.completed_at.map(|at| at.to_string().replace('Z', "")),
            agent_id: run.agent_id.to_string(),
            conversation_id: run.conversation_id.map(|id| id.to_string()),
            base_template_id: None,
            background: Some(run.background),
            metadata: run.metadata,
            request_config: run.request_config.map(shown_config),
            stop_reason: run.stop_reason,
            callback_url: run.callback_url,
            callback_sent_at: run.callback_sent_at,
            callback_status_code: run.callback_status_code,
            callback_error: run.callback_error,
            ttft_ns: run.ttft_ns,
            total_duration_ns: run.total_duration_ns,
        }
    }
}
