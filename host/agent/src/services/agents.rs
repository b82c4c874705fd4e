//! Messages from one agent to others, by runs of theirs.

use std::sync::Arc;

use bulkhead_domain::{
    Role,
    id::{AgentId, RunId},
    platform::UserId,
};
use bulkhead_sandbox::services::{AgentReply, AgentsError, AgentsService};
use bulkhead_store::{AgentFilter, Paging, owner::Owner};
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
const ASKED_MAX: u32 = 50;
/// Of those, how many at a time.
const ASKED_AT_ONCE: usize = 5;

/// The other agents, as one agent sees them.
pub(crate) struct OtherAgents {
    pub(crate) engine: Engine,
    /// Who waits for whom; the last is the one that asks.
    pub(crate) chain: Arc<[AgentId]>,
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

    /// Leaves those that belong to the person to whom the asking agent belongs, or like it to nobody:
    /// others are not there for it.
    async fn reached(&self, ids: &[AgentId]) -> Result<Vec<AgentId>, AgentsError> {
        let asker = self.asker();
        let names: Vec<String> = ids.iter().map(ToString::to_string).collect();
        let all: Vec<&str> = names.iter().chain([&asker]).map(String::as_str).collect();
        let owners = self.engine.store().owners(&all).await;
        let owners = owners.map_err(|error| AgentsError::Unavailable(unavailable(&error)))?;
        let user = |id: &String| owners.get(id).copied().map(Owner::user);
        let own = user(&asker).flatten();
        let reached = ids.iter().zip(&names);
        let reached = reached.filter(|(_, name)| user(name) == Some(own));
        Ok(reached.map(|(id, _)| *id).collect())
    }

    /// The person to whom the asking agent belongs.
    async fn owner(&self) -> Result<Option<UserId>, AgentsError> {
        let asker = self.asker();
        let owners = self.engine.store().owners(&[asker.as_str()]).await;
        let owners = owners.map_err(|error| AgentsError::Unavailable(unavailable(&error)))?;
        Ok(owners.get(&asker).copied().and_then(Owner::user))
    }

    async fn reach(&self, id: AgentId) -> Result<AgentId, AgentsError> {
        let reached = self.reached(&[id]).await?;
        reached.first().copied().ok_or(AgentsError::NotFound)
    }

    async fn answer(&self, id: AgentId, text: &str) -> Result<AgentReply, AgentsError> {
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
            .filter(|message| message.role == Role::Assistant);
        let texts: Vec<String> = texts
            .map(|message| message.plain_text())
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
            let store = self.engine.store();
            let mut filter = AgentFilter {
                tags: Some(if match_all.is_empty() {
                    match_some.clone()
                } else {
                    match_all.clone()
                }),
                match_all_tags: !match_all.is_empty(),
                paging: Paging {
                    limit: Some(ASKED_MAX),
                    ascending: true,
                    ..Paging::default()
                },
                ..AgentFilter::default()
            };
            let failed = |error| AgentsError::Unavailable(unavailable(&error));
            // Those of other people take no place in the list.
            filter.created_by = self.owner().await?;
            let found = store.agents(&filter).await.map_err(failed)?;
            let mut ids: Vec<AgentId> = found.iter().map(|agent| agent.id).collect();
            if !match_all.is_empty() && !match_some.is_empty() {
                let tags = store.tags_of(&ids).await.map_err(failed)?;
                ids.retain(|id| {
                    let tags = tags.get(id);
                    tags.is_some_and(|tags| tags.iter().any(|tag| match_some.contains(tag)))
                });
            }
            ids.retain(|id| !self.chain.contains(id));
            let ids = self.reached(&ids).await?;
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
