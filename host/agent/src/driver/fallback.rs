//! Other models where an agent's own one fails.

use std::{collections::VecDeque, sync::Arc};

use bulkhead_domain::{Agent, LlmConfig};
use bulkhead_llm::{Endpoint, ErrorKind, LlmError};

use super::Driver;
use crate::{AgentError, Engine};

/// The models that may be asked in the place of this one, by their handles. Whoever named another
/// model than the agent's own for a request or a conversation wants that one.
pub(super) fn of(agent: &Agent, model: &LlmConfig) -> VecDeque<String> {
    if agent.llm_config.handle() == model.handle() {
        agent.fallback_models.iter().cloned().collect()
    } else {
        VecDeque::new()
    }
}

/// Where a model is reached; where it can't be, the next one takes its place.
pub(super) async fn endpoint(
    engine: &Engine,
    model: &mut LlmConfig,
    fallbacks: &mut VecDeque<String>,
) -> Result<Endpoint, AgentError> {
    match engine.models().endpoint(model).await {
        Ok(endpoint) => Ok(endpoint),
        Err(error) => match next(engine, model, fallbacks).await {
            Some((instead, endpoint)) => {
                *model = instead;
                Ok(endpoint)
            }
            None => Err(error),
        },
    }
}

/// The next model that a provider of this server has, asked as `own` is.
async fn next(
    engine: &Engine,
    own: &LlmConfig,
    fallbacks: &mut VecDeque<String>,
) -> Option<(LlmConfig, Endpoint)> {
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

impl Driver {
    /// Takes the next model for the rest of the run, where that may help. What the client has heard
    /// a part of is not said again by another one, and what is wrong with a request is so everywhere.
    pub(super) async fn fall_back(&mut self, error: &LlmError) -> bool {
        let is_the_requests_fault = matches!(
            error.kind,
            ErrorKind::BadRequest | ErrorKind::Unprocessable | ErrorKind::ContextWindowExceeded
        );
        if error.partial || is_the_requests_fault {
            return false;
        }
        let found = next(&self.engine, &self.model, &mut self.fallbacks).await;
        let Some((model, endpoint)) = found else {
            return false;
        };
        tracing::info!(run = %self.run.id, %error, instead = model.handle(), "the model failed; another one is asked");
        Arc::make_mut(&mut self.thread.agent).llm_config = model.clone();
        (self.model, self.endpoint) = (model, endpoint);
        true
    }
}
