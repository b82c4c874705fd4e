//! What a model would be asked first, without a run.

use std::time::Instant;

use bulkhead_llm::ChatRequest;
use tokio_util::sync::CancellationToken;

use super::{Driver, Job, Start};
use crate::{
    AgentError, Engine, compiled_here, event::Listener, request::RunRequest, thread::Thread,
};

/// A question that nobody asks.
#[derive(Debug, Clone)]
pub struct Preview {
    /// The question.
    pub request: ChatRequest,
    /// Whether its answer would be streamed.
    pub streams: bool,
}

impl Engine {
    /// The first question to the model that a request would lead to now. Nothing is stored, and
    /// nobody is asked.
    ///
    /// # Errors
    ///
    /// As those of a run before its first question, and [`AgentError::Invalid`] for a decision on
    /// calls that wait: what follows them depends on what they give.
    #[compiled_here]
    pub async fn preview(&self, request: RunRequest) -> Result<Preview, AgentError> {
        let thread = Thread::load(self.store(), request.thread()).await?;
        let job = Job {
            run: Self::unstored(&request),
            request,
            cancel: CancellationToken::new(),
            began: Instant::now(),
        };
        let (driver, start) = Driver::prepare(self.clone(), job, thread, Listener::none()).await?;
        match start {
            Start::Ask => Ok(Preview {
                request: driver.chat_request(&driver.tools.offered(&driver.history)),
                streams: driver.hears_pieces(),
            }),
            Start::Decided(..) => Err(AgentError::Invalid(
                "what a model is asked after a decision depends on what its calls give".to_owned(),
            )),
        }
    }
}
