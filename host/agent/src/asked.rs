//! What a question to a model is recorded as: a step, which says what was used and of which model.

use std::time::Duration;

use bulkhead_domain::{
    Agent, LlmConfig, Step, StepMetrics, StepStatus, Timestamp, Usage, id::StepId,
};
use bulkhead_llm::Endpoint;
use bulkhead_store::StepCommit;

use crate::Engine;

/// What marks the step of a summary, and its trace.
pub(crate) const SUMMARIZATION: &str = "summarization";

/// A step of which nothing is known but whom it asks. What is used is priced by the handle, so that
/// it is made of the provider that serves the model and of what that provider calls the model: whoever
/// configures an agent writes into the configuration whatever handle they like.
pub(crate) fn blank(
    id: StepId,
    agent: &Agent,
    (model, endpoint): (&LlmConfig, &Endpoint),
    at: Timestamp,
) -> Step {
    let category = match endpoint.provider_id {
        Some(_) => "byok",
        None => "base",
    };
    Step {
        id,
        agent_id: agent.id,
        run_id: None,
        status: StepStatus::Pending,
        stop_reason: None,
        provider_name: Some(endpoint.name.clone()),
        provider_category: Some(category.to_owned()),
        provider_id: endpoint.provider_id.clone(),
        model: Some(model.model.clone()),
        model_handle: Some(format!("{}/{}", endpoint.name, model.model)),
        model_endpoint: model.model_endpoint.clone(),
        context_window_limit: Some(model.context_window),
        usage: Usage::default(),
        feedback: None,
        tags: Vec::new(),
        tid: None,
        project_id: agent.project_id.clone(),
        error_type: None,
        error_data: None,
        begun_calls: Vec::new(),
        metrics: StepMetrics::default(),
        created_at: at,
    }
}

/// A time as steps keep it.
pub(crate) fn nanos(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

impl Engine {
    /// Stores what a summary used, as a step of its own and of no run: another model than the run's may
    /// have written it, and it is used up whatever becomes of the compaction and of the run. That it
    /// could not be stored is no reason to throw the summary away.
    pub(crate) async fn note_summary(
        &self,
        agent: &Agent,
        asked: (&LlmConfig, &Endpoint),
        usage: Usage,
        at: Timestamp,
    ) {
        let mut step = blank(StepId::random(), agent, asked, at);
        step.status = StepStatus::Success;
        step.usage = usage;
        step.tags = vec![SUMMARIZATION.to_owned()];
        let took = Timestamp::now().micros().saturating_sub(at.micros());
        let took = took.saturating_mul(1_000);
        let start = at.micros().saturating_mul(1_000);
        step.metrics = StepMetrics {
            step_start_ns: Some(start),
            llm_request_start_ns: Some(start),
            llm_request_ns: Some(took),
            tool_execution_ns: None,
            step_ns: Some(took),
        };
        let mut commit = StepCommit::new(agent.id, None);
        commit.step = Some(step);
        if let Err(error) = self.store().commit_step(&commit).await {
            tracing::warn!(agent = %agent.id, %error, "what a summary used was not stored");
        }
    }
}
