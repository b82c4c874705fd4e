//! The agent's archive and its conversation, searched by words.

use bulkhead_domain::{
    Archive, Message, Role, Timestamp,
    id::{AgentId, ArchiveId, ConversationId},
};
use bulkhead_sandbox::services::{
    Passage as Found, RecallError, RecallFilter, RecallService, Turn,
};
use bulkhead_store::{MessageSearch, PassageSearch, Store, StoreError, ThreadFilter};
use futures::future::BoxFuture;

use super::unavailable;

/// What a search gives at most; more would not fit a model's context anyway.
const HITS_MAX: u32 = 100;
/// What it gives unless it is asked for another number.
const HITS_DEFAULT: u32 = 10;
/// The tool whose own calls are never found: they hold what is searched for.
const OWN_TOOL: &str = "conversation_search";

/// The archive and conversation of one agent.
pub(crate) struct AgentRecall {
    store: Store,
    agent_id: AgentId,
    agent_name: String,
    conversation_id: Option<ConversationId>,
}

impl AgentRecall {
    pub(crate) fn new(
        store: Store,
        agent_id: AgentId,
        agent_name: String,
        conversation_id: Option<ConversationId>,
    ) -> Self {
        Self {
            store,
            agent_id,
            agent_name,
            conversation_id,
        }
    }

    async fn archive(&self) -> Result<ArchiveId, StoreError> {
        let mut archive = Archive::new(format!("{}'s Archive", self.agent_name));
        archive.description = Some("Default archive created automatically".to_owned());
        let archive = self.store.default_archive(&self.agent_id, &archive).await?;
        Ok(archive.id)
    }
}

impl RecallService for AgentRecall {
    fn insert(&self, text: String, tags: Vec<String>) -> BoxFuture<'_, Result<Found, RecallError>> {
        Box::pin(async move {
            let archive = self.archive().await.map_err(refused)?;
            let mut passage = bulkhead_domain::Passage::new(archive, text);
            passage.tags = tags;
            let inserted = self.store.insert_passages(std::slice::from_ref(&passage));
            inserted.await.map_err(refused)?;
            Ok(found(passage, None))
        })
    }

    fn search_archive(
        &self,
        query: String,
        filter: RecallFilter,
    ) -> BoxFuture<'_, Result<Vec<Found>, RecallError>> {
        Box::pin(async move {
            let archive = self.store.archive_of_agent(&self.agent_id).await;
            let Some(archive) = archive.map_err(refused)? else {
                return Ok(Vec::new());
            };
            let search = PassageSearch {
                archive_ids: Some(vec![archive.id]),
                created_by: None,
                query: Some(query).filter(|query| !query.trim().is_empty()),
                tags: filter.tags,
                match_all_tags: filter.match_all_tags,
                since: time(filter.since.as_deref(), "since")?,
                until: time(filter.until.as_deref(), "until")?,
                limit: Some(limit(filter.limit)),
            };
            let hits = self.store.search_passages(&search).await.map_err(refused)?;
            let hits = hits.into_iter();
            Ok(hits
                .map(|(passage, score)| found(passage, Some(score)))
                .collect())
        })
    }

    fn search_conversation(
        &self,
        query: Option<String>,
        filter: RecallFilter,
    ) -> BoxFuture<'_, Result<Vec<Turn>, RecallError>> {
        Box::pin(async move {
            let search = MessageSearch {
                agent_id: Some(self.agent_id),
                created_by: None,
                thread: ThreadFilter::of(self.conversation_id),
                query: query.filter(|query| !query.trim().is_empty()),
                roles: Some(roles(&filter.roles)?),
                since: time(filter.since.as_deref(), "since")?,
                until: time(filter.until.as_deref(), "until")?,
                with_text: true,
                exclude_results_of: Some(OWN_TOOL),
                exclude: Vec::new(),
                limit: Some(limit(filter.limit)),
            };
            let hits = self.store.search_messages(&search).await.map_err(refused)?;
            let turns = hits.into_iter();
            Ok(turns
                .filter_map(|(message, score)| turn(&message, score))
                .collect())
        })
    }
}

fn limit(asked: u32) -> u32 {
    match asked {
        0 => HITS_DEFAULT,
        asked => asked.min(HITS_MAX),
    }
}

/// The roles that stand behind names. What an agent says beside a call that waits stands in the
/// request for approval.
fn roles(names: &[String]) -> Result<Vec<Role>, RecallError> {
    if names.is_empty() {
        let all = [Role::User, Role::Assistant, Role::Approval, Role::Tool];
        return Ok(all.to_vec());
    }
    let mut roles = names
        .iter()
        .map(|name| match name.as_str() {
            "user" => Ok(Role::User),
            "assistant" => Ok(Role::Assistant),
            "tool" => Ok(Role::Tool),
            other => Err(RecallError::Invalid(format!(
                "'{other}' is no role; there are user, assistant and tool"
            ))),
        })
        .collect::<Result<Vec<_>, _>>()?;
    if roles.contains(&Role::Assistant) {
        roles.push(Role::Approval);
    }
    Ok(roles)
}

fn time(text: Option<&str>, what: &str) -> Result<Option<Timestamp>, RecallError> {
    let Some(text) = text else { return Ok(None) };
    let parsed = text.parse();
    parsed
        .map(Some)
        .map_err(|error| RecallError::Invalid(format!("{what}: {error}")))
}

fn found(passage: bulkhead_domain::Passage, score: Option<f64>) -> Found {
    Found {
        id: passage.id.to_string(),
        text: passage.text,
        tags: passage.tags,
        created_at: passage.created_at.to_string(),
        score,
    }
}

/// A message as a tool reads it; none where nothing of it is for tools.
fn turn(message: &Message, score: f64) -> Option<Turn> {
    let text = match message.role {
        Role::Tool => {
            let others = message.tool_returns.iter();
            let others = others.filter(|returned| returned.name != OWN_TOOL);
            let texts: Vec<&str> = others.map(|returned| returned.text.as_str()).collect();
            texts.join("\n")
        }
        _ => message.spoken(),
    };
    let role = match message.role {
        Role::Approval => Role::Assistant,
        role => role,
    };
    (!text.is_empty()).then(|| Turn {
        id: message.id.to_string(),
        role: role.as_str().to_owned(),
        text,
        created_at: message.created_at.to_string(),
        score: Some(score),
    })
}

fn refused(error: StoreError) -> RecallError {
    match error {
        StoreError::Invalid { .. } | StoreError::Quota { .. } => {
            RecallError::Invalid(error.to_string())
        }
        other => RecallError::Unavailable(unavailable(&other)),
    }
}
