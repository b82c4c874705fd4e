//! Which model a request is answered by: the agent's, its conversation's, or another one for a
//! while. What was set of the agent's own model holds for the others too, unless they say otherwise.

use bulkhead_domain::{Agent, Conversation, LlmConfig};
use bulkhead_llm::catalog::{keep_settings, settings};

use crate::{AgentError, Engine, active::ThreadKey, compiled_here, ports::Models, thread};

impl Engine {
    /// The model of a thread.
    ///
    /// # Errors
    ///
    /// For an agent or conversation that is not there, a conversation's model that nobody has, and
    /// failures of the database.
    #[compiled_here]
    pub async fn model_of(&self, key: ThreadKey) -> Result<LlmConfig, AgentError> {
        let agent = self.store().agent(&key.agent_id).await?;
        let agent = agent.ok_or(AgentError::NoAgent(key.agent_id))?;
        let conversation = match &key.conversation_id {
            None => None,
            Some(id) => Some(thread::conversation(self.store(), agent.id, id).await?),
        };
        of_thread(&**self.models(), &agent, conversation.as_ref()).await
    }

    /// The model with this handle, asked as `own` is as far as somebody set that.
    ///
    /// # Errors
    ///
    /// For a model that nobody has, and failures of the database.
    #[compiled_here]
    pub async fn model_instead(
        &self,
        own: &LlmConfig,
        handle: &str,
    ) -> Result<LlmConfig, AgentError> {
        instead(&**self.models(), own, handle).await
    }
}

/// The model of a thread: the conversation's own where it has one, with its settings.
pub(crate) async fn of_thread(
    models: &dyn Models,
    agent: &Agent,
    conversation: Option<&Conversation>,
) -> Result<LlmConfig, AgentError> {
    let handle = conversation.and_then(|conversation| conversation.model.as_deref());
    let mut model = match handle {
        Some(handle) => instead(models, &agent.llm_config, handle).await?,
        None => agent.llm_config.clone(),
    };
    if let Some(settings) = conversation.and_then(|own| own.model_settings.as_ref()) {
        settings::apply(&mut model, settings)
            .map_err(|invalid| AgentError::Invalid(format!("model_settings: {invalid}")))?;
    }
    Ok(model)
}

async fn instead(
    models: &dyn Models,
    own: &LlmConfig,
    handle: &str,
) -> Result<LlmConfig, AgentError> {
    let mut model = models.resolve(handle).await?;
    // Its provider may be gone.
    let usual = models.resolve(&own.handle()).await.ok();
    keep_settings(own, usual.as_ref(), &mut model);
    Ok(model)
}
