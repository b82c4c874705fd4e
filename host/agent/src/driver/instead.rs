//! The model of a run fails, and another one is asked.
//!
//! The context belongs to the thread's own model: it is never made shorter for one that stands in for
//! it, since that would be for good. A model in which it does not fit is passed over.

use std::sync::Arc;

use bulkhead_domain::LlmConfig;
use bulkhead_llm::{ChatRequest, ErrorKind, LlmError, catalog::tokens::count_request};

use super::Driver;
use crate::{
    AgentError,
    fallback::{self, Reached},
};

impl Driver {
    /// The thread's own model, whichever is asked.
    pub(super) fn own_model(&self) -> &LlmConfig {
        self.own_model.as_ref().unwrap_or(&self.model)
    }

    /// Whether the model that is asked stands in for one that failed.
    pub(super) fn has_fallen_back(&self) -> bool {
        self.own_model.is_some()
    }

    /// Takes the next model for the rest of the run, where that may help, and gives the one that was
    /// asked before. What the client has heard a part of is not said again by another one. What the
    /// thread's own model finds wrong with a request is so everywhere; what another one does may be
    /// its own limit.
    pub(super) async fn fall_back(
        &mut self,
        error: &LlmError,
        request: &ChatRequest,
    ) -> Option<Reached> {
        let is_the_requests_fault = matches!(
            error.kind,
            ErrorKind::BadRequest | ErrorKind::Unprocessable | ErrorKind::ContextWindowExceeded
        );
        if error.partial || (is_the_requests_fault && !self.has_fallen_back()) {
            return None;
        }
        let own = self.own_model().clone();
        let tokens = count_request(&request.system, &request.messages, &request.tools).total();
        let tokens = i64::try_from(tokens).unwrap_or(i64::MAX);
        loop {
            let found = fallback::next(&self.engine, &own, &mut self.fallbacks).await?;
            let (handle, window) = (found.0.handle(), found.0.context_window);
            if tokens > window {
                tracing::info!(run = %self.run.id, handle, tokens, window, "the context does not fit into a fallback model, which is passed over");
                continue;
            }
            tracing::info!(run = %self.run.id, %error, instead = handle, "the model failed; another one is asked");
            self.own_model = Some(own);
            return Some(self.take_model(found));
        }
    }

    /// What a question failed for that no model answered: the reason of the first, which the step
    /// names then; or that of a later one of which something was heard.
    pub(super) fn unanswered(
        &mut self,
        first: Option<(Reached, LlmError)>,
        last: LlmError,
    ) -> AgentError {
        AgentError::Llm(match first {
            Some((model, error)) if !last.partial => {
                self.take_model(model);
                error
            }
            _ => last,
        })
    }

    /// Asks this model from now on; gives the one that was asked before.
    fn take_model(&mut self, (model, endpoint): Reached) -> Reached {
        Arc::make_mut(&mut self.thread.agent).llm_config = model.clone();
        (
            std::mem::replace(&mut self.model, model),
            std::mem::replace(&mut self.endpoint, endpoint),
        )
    }
}
