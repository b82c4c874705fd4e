//! Other models where an agent's own one fails.

use std::collections::VecDeque;

use bulkhead_domain::{Agent, LlmConfig};
use bulkhead_llm::Endpoint;

use crate::{AgentError, Engine};

/// A model, and where it is reached.
pub(crate) type Reached = (LlmConfig, Endpoint);

/// The models that may be asked in the place of this one, by their handles. Whoever named another
/// model than the agent's own for a request or a conversation wants that one.
pub(crate) fn of(agent: &Agent, model: &LlmConfig) -> VecDeque<String> {
    if agent.llm_config.handle() == model.handle() {
        agent.fallback_models.iter().cloned().collect()
    } else {
        VecDeque::new()
    }
}

/// The model, or, where it can't be reached at all, the first of the others that can.
pub(crate) async fn reached(
    engine: &Engine,
    model: LlmConfig,
    fallbacks: &mut VecDeque<String>,
) -> Result<Reached, AgentError> {
    match engine.models().endpoint(&model).await {
        Ok(endpoint) => Ok((model, endpoint)),
        Err(error) => next(engine, &model, fallbacks).await.ok_or(error),
    }
}

/// The next model that a provider of this server has, asked as `own` is.
pub(crate) async fn next(
    engine: &Engine,
    own: &LlmConfig,
    fallbacks: &mut VecDeque<String>,
) -> Option<Reached> {
    while let Some(handle) = fallbacks.pop_front() {
        let found = match engine.model_instead(own, &handle).await {
            Ok(instead) => {
                let endpoint = engine.models().endpoint(&instead).await;
                endpoint.map(|endpoint| (instead, endpoint))
            }
            Err(error) => Err(error),
        };
        match found {
            Ok(found) => return Some(found),
            Err(error) => tracing::debug!(handle, %error, "a fallback model cannot be asked"),
        }
    }
    None
}
