//! Messages from one agent to others, by runs of theirs.

use std::{collections::HashMap, sync::Arc};

use bulkhead_domain::{
    Role,
    id::{AgentId, RunId},
    platform::UserId,
};
use bulkhead_sandbox::services::{AgentReply, AgentsError, AgentsService};
use bulkhead_store::{AgentFilter, Paging, StoreError};
use futures::{StreamExt as _, future::BoxFuture, stream};
use tokio_util::sync::CancellationToken;

use super::unavailable;
use crate::{
    AgentError, Engine,
    event::Listener,
    input::{Incoming, Input},
    request::{RunRequest, RunType},
};

/// What the receiver of a question is told.
const QUESTION: &str = "your response will be delivered to the sender";
/// What the receiver of a notice is told.
const NOTICE: &str = "this is a one-way notification; if you need to respond, use an \
                      agent-to-agent messaging tool if available";
/// Agents that may wait for each other in a row.
const CHAIN_MAX: usize = 5;
/// Agents that one call may ask.
const ASKED_MAX: usize = 50;
/// Agents that are read at once; the asking one may be among them.
const PAGE: u32 = 60;
/// Of those, how many at a time.
const ASKED_AT_ONCE: usize = 5;

/// The other agents, as one agent sees them.
pub(crate) struct OtherAgents {
    pub(crate) engine: Engine,
    /// Who waits for whom; the last is the one that asks.
    pub(crate) chain: Arc<[AgentId]>,
    /// Whether the run that asks keeps the default thread of its agent, in which others ask it.
    pub(crate) keeps_default: bool,
    pub(crate) cancel: CancellationToken,
}

/// A run for whose answer somebody waits. Dropping it cancels the run, if it has not ended.
struct Asked<'a> {
    engine: &'a Engine,
    run_id: RunId,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        self.engine.cancel_run(self.run_id);
    }
}

impl OtherAgents {
    fn asker(&self) -> String {
        let last = self.chain.last();
        last.map(ToString::to_string).unwrap_or_default()
    }

    /// The sender stands before the text, put there by the host: a tool cannot send in the name of
    /// another agent.
    fn request(&self, id: AgentId, text: &str, how: &str) -> RunRequest {
        let mut told = format!(
            "[Incoming message from agent with ID '{}' - {how}] {text}",
            self.asker()
        );
        // Receivers of questions know them so.
        let small = text.to_lowercase();
        if how == QUESTION && small != text {
            told.push('\n');
            told.push_str(&small);
        }
        let mut chain = self.chain.to_vec();
        chain.push(id);
        RunRequest {
            input: Input {
                decision: None,
                messages: vec![Incoming::text(Role::System, told)],
            },
            chain: chain.into(),
            ..RunRequest::new(id, RunType::Message)
        }
    }

    fn find(&self, agent_id: &str) -> Result<AgentId, AgentsError> {
        let id: AgentId = agent_id.parse().map_err(|_| AgentsError::NotFound)?;
        if self.chain.contains(&id) {
            return Err(AgentsError::Failed(format!(
                "{id} waits for this answer itself, and cannot be asked"
            )));
        }
        if self.chain.len() >= CHAIN_MAX {
            return Err(AgentsError::Failed(format!(
                "{CHAIN_MAX} agents wait for each other already"
            )));
        }
        Ok(id)
    }

    /// The people to whom these agents and the asking one belong, an entry for each that is there.
    async fn owners(
        &self,
        agents: &[AgentId],
    ) -> Result<HashMap<String, Option<UserId>>, AgentsError> {
        let names = agents.iter().map(ToString::to_string);
        let names: Vec<String> = names.chain([self.asker()]).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let owners = self.engine.store().owners(&names).await;
        let owners = owners.map_err(failed)?.into_iter();
        Ok(owners.map(|(id, owner)| (id, owner.user())).collect())
    }

    /// An agent that belongs to the person to whom the asking agent belongs, or like it to nobody:
    /// others are not there for it.
    async fn reach(&self, id: AgentId) -> Result<AgentId, AgentsError> {
        let owners = self.owners(&[id]).await?;
        let own = owners.get(&self.asker());
        match own.is_some() && own == owners.get(&id.to_string()) {
            true => Ok(id),
            false => Err(AgentsError::NotFound),
        }
    }

    /// The agents with these tags that it reaches, as many as one call may ask. Those that are not
    /// asked take no place among them.
    async fn matching(
        &self,
        match_all: Vec<String>,
        match_some: Vec<String>,
    ) -> Result<Vec<AgentId>, AgentsError> {
        let owners = self.owners(&[]).await?;
        let own = *owners.get(&self.asker()).ok_or(AgentsError::NotFound)?;
        let mut filter = AgentFilter {
            tags: Some(match_all),
            match_all_tags: true,
            other_tags: Some(match_some),
            created_by: own,
            of_no_user: own.is_none(),
            paging: Paging {
                limit: Some(PAGE),
                ascending: true,
                ..Paging::default()
            },
            ..AgentFilter::default()
        };
        let mut ids = Vec::new();
        loop {
            let page = self.engine.store().agents(&filter).await.map_err(failed)?;
            let Some(last) = page.last() else { break };
            filter.paging.after = Some(last.id.to_string());
            let others = page.iter().map(|agent| agent.id);
            ids.extend(others.filter(|id| !self.chain.contains(id)));
            if ids.len() >= ASKED_MAX {
                ids.truncate(ASKED_MAX);
                break;
            }
        }
        Ok(ids)
    }

    async fn answer(&self, id: AgentId, text: &str) -> Result<AgentReply, AgentsError> {
        let asker = self.chain.last().filter(|_| self.keeps_default);
        let waiting = asker.map(|asker| self.engine.waits().begin(*asker, id));
        if let Some(None) = waiting {
            return Err(AgentsError::Failed(format!(
                "{id} waits for an answer of yours meanwhile; ask it when you have answered"
            )));
        }
        let run = self.engine.begin(self.request(id, text, QUESTION)).await;
        let run = run.map_err(|error| refused(&error))?;
        // The tool that asks may be stopped at any moment, by its deadline too.
        let _asked = Asked {
            engine: &self.engine,
            run_id: run.id(),
        };
        let ended = tokio::select! {
            ended = self.engine.drive(run, Listener::none()) => ended,
            () = self.cancel.cancelled() => {
                return Err(AgentsError::Failed("the call was cancelled".to_owned()));
            }
        };
        let outcome = ended.map_err(|failure| refused(&failure.error))?;
        let texts = outcome
            .messages
            .iter()
            .filter(|message| matches!(message.role, Role::Assistant | Role::Approval));
        let texts: Vec<String> = texts
            .map(|message| message.spoken())
            .filter(|text| !text.is_empty())
            .collect();
        Ok(AgentReply {
            agent_id: id.to_string(),
            text: texts.join("\n"),
        })
    }
}

impl AgentsService for OtherAgents {
    fn send<'a>(
        &'a self,
        agent_id: &'a str,
        text: String,
    ) -> BoxFuture<'a, Result<(), AgentsError>> {
        Box::pin(async move {
            let id: AgentId = agent_id.parse().map_err(|_| AgentsError::NotFound)?;
            let id = self.reach(id).await?;
            let mut request = self.request(id, &text, NOTICE);
            // Nobody waits for it.
            request.chain = vec![id].into();
            let run = self.engine.begin(request).await;
            let run = run.map_err(|error| refused(&error))?;
            self.engine.detach(run);
            Ok(())
        })
    }

    fn ask<'a>(
        &'a self,
        agent_id: &'a str,
        text: String,
    ) -> BoxFuture<'a, Result<AgentReply, AgentsError>> {
        Box::pin(async move {
            let id = self.reach(self.find(agent_id)?).await?;
            self.answer(id, &text).await
        })
    }

    fn ask_matching(
        &self,
        text: String,
        match_all: Vec<String>,
        match_some: Vec<String>,
    ) -> BoxFuture<'_, Result<Vec<AgentReply>, AgentsError>> {
        Box::pin(async move {
            let ids = self.matching(match_all, match_some).await?;
            let text = text.as_str();
            let replies = stream::iter(ids).map(|id| async move {
                match self.answer(id, text).await {
                    Ok(reply) => reply,
                    // One that fails does not hide what the others said.
                    Err(error) => AgentReply {
                        agent_id: id.to_string(),
                        text: format!("<error: {}>", say(&error)),
                    },
                }
            });
            Ok(replies.buffered(ASKED_AT_ONCE).collect().await)
        })
    }
}

fn failed(error: StoreError) -> AgentsError {
    AgentsError::Unavailable(unavailable(&error))
}

fn say(error: &AgentsError) -> &str {
    match error {
        AgentsError::NotFound => "there is no such agent",
        AgentsError::Timeout => "it did not answer in time",
        AgentsError::Failed(text) | AgentsError::Unavailable(text) => text,
    }
}

fn refused(error: &AgentError) -> AgentsError {
    match error {
        AgentError::NoAgent(_) => AgentsError::NotFound,
        other => AgentsError::Failed(other.detail()),
    }
}
