//! The context of a running thread is made shorter.

use bulkhead_domain::id::StepId;

use super::Driver;
use crate::{
    AgentError,
    compact::{self, Job},
    event::Event,
};

/// What each further try adds to the share that goes: the third takes everything.
const SHARE_OF_A_TRY: f64 = 0.35;

impl Driver {
    /// Makes the context shorter and stores that at once. `tries` is how often that was not enough:
    /// the provider counts otherwise than we do, and more has to go each time.
    pub(super) async fn shrink(
        &mut self,
        trigger: &'static str,
        step_id: Option<StepId>,
        tries: u32,
    ) -> Result<(), AgentError> {
        let mut settings = self.agent().compaction_settings.clone().unwrap_or_default();
        settings.sliding_window_percentage += f64::from(tries) * SHARE_OF_A_TRY;
        if settings.sliding_window_percentage >= 1.0 {
            settings.mode = settings.mode.of_everything();
        }
        let context_tokens = self
            .context_tokens
            .unwrap_or_else(|| compact::tokens(&self.system, &self.thread.context, &[]));
        self.tell(Event::Compacting {
            trigger,
            context_tokens,
            context_window: self.own_model().context_window,
            run_id: Some(self.run.id),
            step_id,
        })
        .await;
        let job = Job {
            engine: &self.engine,
            agent: std::sync::Arc::clone(self.agent()),
            model: &self.model,
            fallbacks: self.fallbacks.clone(),
            window: self.own_model().context_window,
            settings,
            trigger: Some(trigger),
            context_tokens: Some(context_tokens),
            run_id: Some(self.run.id),
            step_id,
            cancel: self.cancel().clone(),
        };
        let compacted = compact::compact(&mut self.thread, job).await?;
        if self.request.override_system.is_none()
            && let Some(system) = &self.thread.system
        {
            self.system = system.plain_text();
            crate::prompt::append_skills(&mut self.system, &self.request.client_skills);
        }
        self.traces.extend(compacted.trace);
        self.context_tokens = compacted.stats.context_tokens_after;
        let message = std::sync::Arc::new(compacted.message);
        self.messages.push(std::sync::Arc::clone(&message));
        self.tell(Event::Compacted(message, compacted.stats)).await;
        Ok(())
    }
}
