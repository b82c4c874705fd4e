//! The thread of an agent: which of its messages its model sees, in order. The default thread is
//! part of the agent, every other one is a conversation.

mod verify;

use std::collections::HashSet;

use bulkhead_domain::{
    StopReason, Timestamp,
    id::{AgentId, ConversationId, MessageId},
    platform::Standing,
};

use crate::{
    Result, StoreError, check,
    message::{ThreadFilter, delete_messages, missing, record, select, unknown_ids},
    sql::{Row, Statement, Transaction},
};

pub use verify::{Disagreement, check_calls};

/// Messages in one context. No model's window takes as many.
pub const CONTEXT_MAX: usize = 10_000;

/// A thread whose agent is locked until the end of the transaction, and whose conversation is,
/// where it has one.
pub(crate) struct LockedThread {
    agent_id: AgentId,
    conversation_id: Option<ConversationId>,
    /// The messages in context, as they are stored.
    pub(crate) ids: Vec<MessageId>,
    /// The last message in the context of the agent's default thread.
    last_of_default: Option<MessageId>,
    /// How the agent stands.
    pub(crate) standing: Standing,
}

impl LockedThread {
    /// Locks a thread.
    pub(crate) async fn lock(
        transaction: &mut Transaction,
        agent_id: AgentId,
        conversation_id: Option<ConversationId>,
    ) -> Result<Self> {
        let queries = Self::queries(transaction, agent_id, conversation_id);
        let mut answers = transaction.each(queries).await?.into_iter();
        Self::of(agent_id, conversation_id, &mut answers)
    }

    /// The queries that lock a thread, for [`Self::of`]: the agent first and then its conversation,
    /// so that no two wait for each other.
    pub(crate) fn queries(
        transaction: &Transaction,
        agent_id: AgentId,
        conversation_id: Option<ConversationId>,
    ) -> Vec<Statement> {
        let mut agent = Statement::new("SELECT message_ids, standing FROM agents WHERE id = ");
        agent.push_value(agent_id.to_string());
        agent.push(transaction.for_update());
        let mut queries = vec![agent];
        if let Some(conversation_id) = conversation_id {
            let query = "SELECT message_ids FROM conversations WHERE id = $1 AND agent_id = $2";
            let mut query = Statement::new(query)
                .bind(conversation_id.to_string())
                .bind(agent_id.to_string());
            query.push(transaction.for_update());
            queries.push(query);
        }
        queries
    }

    /// The thread that was locked, from what the queries gave, of which it takes what is its own.
    pub(crate) fn of(
        agent_id: AgentId,
        conversation_id: Option<ConversationId>,
        answers: &mut impl Iterator<Item = Vec<Row>>,
    ) -> Result<Self> {
        let mut row = || answers.next().and_then(|mut rows| rows.pop());
        let agent = row();
        let standing = match &agent {
            Some(agent) => agent.parsed(1, "standing of an agent")?,
            None => Standing::Active,
        };
        let mut ids = ids(agent, "agent", &agent_id)?;
        let last_of_default = ids.last().copied();
        if let Some(conversation_id) = conversation_id {
            ids = self::ids(row(), "conversation", &conversation_id)?;
        }
        Ok(Self {
            agent_id,
            conversation_id,
            ids,
            last_of_default,
            standing,
        })
    }

    /// Fails where a person paused or terminated the agent.
    pub(crate) fn expect_active(&self) -> Result<()> {
        let agent = || self.agent_id.to_string();
        match self.standing {
            Standing::Active => Ok(()),
            Standing::Paused => Err(StoreError::AgentPaused { agent: agent() }),
            Standing::Terminated => Err(StoreError::AgentTerminated { agent: agent() }),
        }
    }

    /// Whether the agent's default thread waits for an approval, whichever thread this is.
    pub(crate) async fn default_waits(&self, transaction: &mut Transaction) -> Result<bool> {
        let Some(last) = self.last_of_default else {
            return Ok(false);
        };
        let mut query = select();
        query.push(" WHERE id = ").push_value(last.to_string());
        let row = transaction.optional(query).await?;
        let last = row.as_ref().map(record).transpose()?;
        Ok(last.is_some_and(|last| last.is_approval_request()))
    }

    /// Fails where the context is not the expected one.
    pub(crate) fn expect(&self, expected: &[MessageId]) -> Result<()> {
        if self.ids == expected {
            return Ok(());
        }
        Err(StoreError::ThreadChanged {
            thread: self.name(),
        })
    }

    /// Fails where one of the ids is no message of the agent, or is there twice.
    pub(crate) async fn expect_messages(
        &self,
        transaction: &mut Transaction,
        ids: &[MessageId],
        known: impl IntoIterator<Item = MessageId>,
    ) -> Result<()> {
        if ids.len() > CONTEXT_MAX {
            return Err(StoreError::Quota {
                what: "messages in one context",
                limit: CONTEXT_MAX as u64,
            });
        }
        let mut seen = HashSet::with_capacity(ids.len());
        if !ids.iter().all(|id| seen.insert(*id)) {
            return Err(StoreError::Invalid {
                what: "the list of messages in context",
                reason: "has the same message twice",
            });
        }
        for id in known {
            seen.remove(&id);
        }
        let new: Vec<_> = seen.into_iter().collect();
        let unknown = unknown_ids(transaction, &self.agent_id, &new).await?;
        unknown.first().map_or(Ok(()), |id| Err(missing(*id)))
    }

    /// Deletes the messages of this thread that are neither in `kept` nor in the context of
    /// another thread of the agent, which may have taken over messages of this one.
    pub(crate) async fn forget_all_but(
        &self,
        transaction: &mut Transaction,
        kept: &[MessageId],
    ) -> Result<()> {
        let agent_id = self.agent_id.to_string();
        let mut kept: HashSet<MessageId> = kept.iter().copied().collect();
        let mut others = Statement::new(
            "SELECT id, message_ids FROM conversations
            WHERE agent_id = ",
        );
        others.push_value(agent_id.as_str());
        for row in &transaction.all(others).await? {
            if self.conversation_id != Some(row.parsed(0, "conversation id")?) {
                kept.extend(row.json::<Vec<MessageId>>(1, "messages of a conversation")?);
            }
        }
        if self.conversation_id.is_some() {
            let agent = "SELECT message_ids FROM agents WHERE id = $1";
            let agent = Statement::new(agent).bind(agent_id.as_str());
            let row = transaction.optional(agent).await?;
            kept.extend(ids(row, "agent", &self.agent_id)?);
        }
        let mut query = Statement::new("SELECT id FROM messages WHERE agent_id = ");
        query.push_value(agent_id.as_str());
        ThreadFilter::of(self.conversation_id).push_condition(&mut query);
        let mut gone = Vec::new();
        for row in &transaction.all(query).await? {
            let id: MessageId = row.parsed(0, "message id")?;
            if !kept.contains(&id) {
                gone.push(id);
            }
        }
        delete_messages(transaction, &self.agent_id, &gone).await
    }

    /// Writes the context, where there is a new one, and when it was changed; of a default thread
    /// also why its agent stopped.
    pub(crate) async fn write(
        &self,
        transaction: &mut Transaction,
        next: Option<&[MessageId]>,
        has_messages: bool,
        reason: Option<StopReason>,
        at: Timestamp,
    ) -> Result<()> {
        let ids = next.map(document).transpose()?;
        let update = match self.conversation_id {
            None => {
                let update = "UPDATE agents SET message_ids = COALESCE($2, message_ids),
                    updated_at = $3, last_stop_reason = COALESCE($4, last_stop_reason)
                    WHERE id = $1";
                Statement::new(update)
                    .bind(self.agent_id.to_string())
                    .bind(ids)
                    .bind(at)
                    .bind(reason.map(StopReason::as_str))
            }
            Some(id) => {
                let update = "UPDATE conversations SET message_ids = COALESCE($2, message_ids),
                    updated_at = $3, last_message_at = COALESCE($4, last_message_at)
                    WHERE id = $1";
                Statement::new(update)
                    .bind(id.to_string())
                    .bind(ids)
                    .bind(at)
                    .bind(has_messages.then_some(at))
            }
        };
        transaction.defer(update).await
    }

    fn name(&self) -> String {
        match self.conversation_id {
            Some(id) => id.to_string(),
            None => self.agent_id.to_string(),
        }
    }
}

/// A list of messages as it is stored.
pub(crate) fn document(ids: &[MessageId]) -> Result<String> {
    check::document("the list of messages in context", &ids)
}

fn ids(row: Option<Row>, what: &'static str, id: &impl ToString) -> Result<Vec<MessageId>> {
    let id = || id.to_string();
    let row = row.ok_or_else(|| StoreError::NotFound { what, id: id() })?;
    row.json(0, "messages in context")
}
