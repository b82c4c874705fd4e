//! `bulkhead:tool/agents`: messages to other agents.

use std::sync::Arc;

use bulkhead_policy::capabilities::ANY;

use super::{
    entry::service,
    wit::agents::{AgentError as WitError, Host, Reply},
};
use crate::{
    services::{AgentReply, AgentsError, AgentsService},
    slots::Slot,
    state::CallState,
};

/// What a tool is told that finds no place among those that ask.
const TOO_MANY_ASK: &str = "too many tools wait for answers of agents already; try again later";

impl CallState {
    fn agents_service(
        &mut self,
        agent: &str,
        text: &str,
    ) -> Result<Arc<dyn AgentsService>, WitError> {
        self.keep_secrets::<WitError>("agents", &[text.as_bytes()])?;
        let agents = &self.context.authority.capabilities.agents;
        let granted = agents.contains(ANY) || agents.contains(agent);
        let what = || format!("writing to the agent \"{agent}\"");
        let flag = || format!("--agent {agent}");
        self.require::<WitError>(granted, "agents", what, flag)?;
        service(self.context.services.agents.clone(), "other agents")
    }
}

/// Waits for agents outside of a slot, so that there is room for the tools of those that are asked.
/// Takes a slot again where one is free then: those who ask next need the place.
async fn outside<T>(
    slot: Option<Arc<Slot>>,
    asking: impl Future<Output = Result<T, AgentsError>>,
) -> Result<T, WitError> {
    let Some(slot) = slot else {
        return Ok(asking.await?);
    };
    if !slot.ask() {
        return Err(WitError::Unavailable(TOO_MANY_ASK.to_owned()));
    }
    let answer = asking.await;
    slot.answered();
    Ok(answer?)
}

impl Host for CallState {
    async fn send(
        &mut self,
        agent_id: String,
        text: String,
    ) -> wasmtime::Result<Result<(), WitError>> {
        let begun = self
            .begin("agents", "send", Some(&agent_id), text.len())
            .await;
        let result = async {
            let service = self.agents_service(&agent_id, &text)?;
            Ok(service.send(&agent_id, text).await?)
        };
        let result = result.await;
        Ok(self.end(begun, result, |()| 0))
    }

    async fn ask(
        &mut self,
        agent_id: String,
        text: String,
    ) -> wasmtime::Result<Result<Reply, WitError>> {
        let begun = self
            .begin("agents", "ask", Some(&agent_id), text.len())
            .await;
        let result = async {
            let service = self.agents_service(&agent_id, &text)?;
            let slot = self.context.lineage.slot.clone();
            let reply = outside(slot, service.ask(&agent_id, text)).await?;
            Ok(reply.into())
        };
        let result = result.await;
        Ok(self.end(begun, result, |reply: &Reply| reply.text.len()))
    }

    async fn ask_matching(
        &mut self,
        text: String,
        match_all: Vec<String>,
        match_some: Vec<String>,
    ) -> wasmtime::Result<Result<Vec<Reply>, WitError>> {
        let begun = self.begin("agents", "ask-matching", None, text.len()).await;
        let result = async {
            // Whom tags match is not known before: only a grant for any agent covers it.
            let service = self.agents_service(ANY, &text)?;
            let asking = service.ask_matching(text, match_all, match_some);
            let slot = self.context.lineage.slot.clone();
            let replies = outside(slot, asking).await?;
            Ok(replies.into_iter().map(Reply::from).collect())
        };
        let result = result.await;
        Ok(self.end(begun, result, |replies: &Vec<Reply>| {
            replies.iter().map(|reply| reply.text.len()).sum()
        }))
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
