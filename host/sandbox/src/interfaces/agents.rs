//! `bulkhead:tool/agents`: messages to other agents.

use std::sync::Arc;

use bulkhead_domain::HostCallOutcome;
use bulkhead_policy::capabilities::ANY;

use super::{
    missing_grant, unavailable,
    wit::agents::{AgentError as WitError, Host, Reply},
};
use crate::{
    recorder::Begun,
    services::{AgentReply, AgentsError, AgentsService},
    state::CallState,
};

impl CallState {
    fn agents_service(
        &mut self,
        agent: &str,
        text: &str,
    ) -> Result<Arc<dyn AgentsService>, WitError> {
        if let Some(message) = self.leak("agents", text.as_bytes()) {
            return Err(WitError::Denied(message));
        }
        let granted = &self.context.authority.capabilities.agents;
        if !granted.contains(ANY) && !granted.contains(agent) {
            let what = format!("writing to the agent \"{agent}\"");
            let message = missing_grant(&what, &format!("--agent {agent}"));
            self.recorder.deny("agents", message.clone());
            return Err(WitError::Denied(message));
        }
        let service = self.context.services.agents.clone();
        service.ok_or_else(|| WitError::Unavailable(unavailable("other agents")))
    }

    fn end_agents<T>(&mut self, begun: Begun, result: Result<T, WitError>) -> Result<T, WitError> {
        let outcome = match &result {
            Ok(_) => HostCallOutcome::Ok,
            Err(WitError::Denied(_)) => HostCallOutcome::Denied,
            Err(_) => HostCallOutcome::Failed,
        };
        self.recorder.end(begun, 0, outcome);
        result
    }
}

impl Host for CallState {
    async fn send(
        &mut self,
        agent_id: String,
        text: String,
    ) -> wasmtime::Result<Result<(), WitError>> {
        self.breathe(text.len()).await;
        let begun = self
            .recorder
            .begin("agents", "send", Some(&agent_id), text.len());
        let result = match self.agents_service(&agent_id, &text) {
            Ok(service) => service.send(&agent_id, text).await.map_err(WitError::from),
            Err(error) => Err(error),
        };
        Ok(self.end_agents(begun, result))
    }

    async fn ask(
        &mut self,
        agent_id: String,
        text: String,
    ) -> wasmtime::Result<Result<Reply, WitError>> {
        self.breathe(text.len()).await;
        let begun = self
            .recorder
            .begin("agents", "ask", Some(&agent_id), text.len());
        let result = match self.agents_service(&agent_id, &text) {
            Ok(service) => service
                .ask(&agent_id, text)
                .await
                .map(Reply::from)
                .map_err(WitError::from),
            Err(error) => Err(error),
        };
        Ok(self.end_agents(begun, result))
    }

    async fn ask_matching(
        &mut self,
        text: String,
        match_all: Vec<String>,
        match_some: Vec<String>,
    ) -> wasmtime::Result<Result<Vec<Reply>, WitError>> {
        self.breathe(text.len()).await;
        let begun = self
            .recorder
            .begin("agents", "ask-matching", None, text.len());
        // Whom tags match is not known before: only a grant for any agent covers it.
        let result = match self.agents_service(ANY, &text) {
            Ok(service) => service
                .ask_matching(text, match_all, match_some)
                .await
                .map(|replies| replies.into_iter().map(Reply::from).collect())
                .map_err(WitError::from),
            Err(error) => Err(error),
        };
        Ok(self.end_agents(begun, result))
    }
}

impl From<AgentReply> for Reply {
    fn from(reply: AgentReply) -> Self {
        let AgentReply { agent_id, text } = reply;
        Self { agent_id, text }
    }
}

impl From<AgentsError> for WitError {
    fn from(error: AgentsError) -> Self {
        match error {
            AgentsError::NotFound => Self::NotFound,
            AgentsError::Timeout => Self::Timeout,
            AgentsError::Failed(message) => Self::Failed(message),
            AgentsError::Unavailable(message) => Self::Unavailable(message),
        }
    }
}
