//! A step in an answer.

use bulkhead_domain::{Receipt, Step, StepStatus, StopReason};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::{
    app::App,
    contract::{Refusal, id::DEFAULT_ORGANIZATION},
    http::schema,
};

/// A step with every field of the contract, and the receipts of its tool calls.
#[derive(Serialize, ToSchema)]
#[schema(as = Step)]
pub(crate) struct StepView {
    id: String,
    origin: Option<String>,
    organization_id: &'static str,
    provider_id: Option<String>,
    run_id: Option<String>,
    agent_id: String,
    provider_name: Option<String>,
    provider_category: Option<String>,
    model: Option<String>,
    model_handle: Option<String>,
    model_endpoint: Option<String>,
    context_window_limit: Option<i64>,
    completion_tokens: i64,
    prompt_tokens: i64,
    total_tokens: i64,
    cached_input_tokens: Option<i64>,
    cache_write_tokens: Option<i64>,
    reasoning_tokens: Option<i64>,
    #[schema(value_type = Option<Object>)]
    completion_tokens_details: Option<Value>,
    #[schema(value_type = Option<Object>)]
    prompt_tokens_details: Option<Value>,
    #[schema(value_type = Option<String>)]
    stop_reason: Option<StopReason>,
    tags: Vec<String>,
    tid: Option<String>,
    trace_id: Option<String>,
    request_id: Option<String>,
    #[schema(value_type = Vec<Object>)]
    messages: [(); 0],
    /// positive or negative
    feedback: Option<String>,
    project_id: Option<String>,
    error_type: Option<String>,
    #[schema(value_type = Option<Object>)]
    error_data: Option<Value>,
    /// pending, success, failed or cancelled
    #[schema(value_type = String)]
    status: StepStatus,
    /// what each tool call consumed and touched
    receipts: Vec<CallReceipt>,
}

/// The receipt of one tool call.
#[derive(Serialize, ToSchema)]
pub(crate) struct CallReceipt {
    /// the model's id of the call
    tool_call_id: String,
    #[schema(value_type = schema::Receipt)]
    receipt: Receipt,
}

impl From<(String, Receipt)> for CallReceipt {
    fn from((tool_call_id, receipt): (String, Receipt)) -> Self {
        Self {
            tool_call_id,
            receipt,
        }
    }
}

impl StepView {
    /// Steps with their receipts, in their order.
    pub(crate) async fn all(app: &App, steps: Vec<Step>) -> Result<Vec<Self>, Refusal> {
        let ids: Vec<_> = steps.iter().map(|step| step.id).collect();
        let mut receipts = app.store.receipts_of_steps(&ids).await?;
        let steps = steps.into_iter().map(|step| {
            let own = receipts.remove(&step.id).unwrap_or_default();
            Self::new(step, own)
        });
        Ok(steps.collect())
    }

    /// One step with its receipts.
    pub(crate) async fn of(app: &App, step: Step) -> Result<Self, Refusal> {
        let receipts = app.store.receipts_of_step(&step.id).await?;
        Ok(Self::new(step, receipts))
    }

    fn new(step: Step, receipts: Vec<(String, Receipt)>) -> Self {
        let usage = step.usage;
        Self {
            id: step.id.to_string(),
            origin: None,
            organization_id: DEFAULT_ORGANIZATION,
            provider_id: step.provider_id,
            run_id: step.run_id.map(|id| id.to_string()),
            agent_id: step.agent_id.to_string(),
            provider_name: step.provider_name,
            provider_category: step.provider_category,
            model: step.model,
            model_handle: step.model_handle,
            model_endpoint: step.model_endpoint,
            context_window_limit: step.context_window_limit,
            completion_tokens: usage.completion_tokens,
            prompt_tokens: usage.prompt_tokens,
            total_tokens: usage.total_tokens,
            cached_input_tokens: usage.cached_input_tokens,
            cache_write_tokens: usage.cache_write_tokens,
            reasoning_tokens: usage.reasoning_tokens,
            completion_tokens_details: usage
                .reasoning_tokens
                .map(|tokens| json!({ "reasoning_tokens": tokens })),
            prompt_tokens_details: usage
                .cached_input_tokens
                .map(|tokens| json!({ "cached_tokens": tokens })),
            stop_reason: step.stop_reason,
            tags: step.tags,
            tid: step.tid,
            trace_id: None,
            request_id: None,
            messages: [],
            feedback: step.feedback,
            project_id: step.project_id,
            error_type: step.error_type,
            error_data: step.error_data,
            status: step.status,
            receipts: receipts.into_iter().map(CallReceipt::from).collect(),
        }
    }
}
