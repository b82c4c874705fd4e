//! Messages: what users wrote, what models answered, what tools gave back, in the order in which
//! it was written. They are written by the commit of a step ([`Store::commit_step`]) or with what
//! they begin: an agent, a conversation.

mod filter;
mod row;
mod search;

use std::collections::{HashMap, HashSet};

use bulkhead_domain::{
    Message,
    id::{AgentId, MessageId},
};

use crate::{
    Result, Store, StoreError, compiled_here,
    sql::{Statement, Transaction},
};

pub use filter::{MessageFilter, ThreadFilter};
pub use row::expect_storable;
pub(crate) use row::{COLUMNS, insert_messages, record, replace_content};
pub use search::MessageSearch;

/// How many ids one statement names.
const LIST_MAX: usize = 512;

impl Store {
    /// The message with this id.
    #[compiled_here]
    pub async fn message(&self, id: &MessageId) -> Result<Option<Message>> {
        let mut query = select();
        query.push(" WHERE id = ").push_value(id.to_string());
        let row = self.database().optional(query).await?;
        row.as_ref().map(record).transpose()
    }

    /// An agent's messages with these ids, in this order. [`StoreError::NotFound`] where the
    /// agent has none of one of the ids.
    #[compiled_here]
    pub async fn messages_by_ids(
        &self,
        agent_id: &AgentId,
        ids: &[MessageId],
    ) -> Result<Vec<Message>> {
        let mut found = HashMap::with_capacity(ids.len());
        for list in lists(ids) {
            let mut query = select();
            query.push(" WHERE agent_id = ");
            query.push_value(agent_id.to_string());
            query.push(" AND id IN (").push_list(list);
            for row in &self.database().all(query).await? {
                let message = record(row)?;
                found.insert(message.id, message);
            }
        }
        let is_each_once = found.len() == ids.len();
        let message = |id: &MessageId| {
            let message = match is_each_once {
                true => found.remove(id),
                false => found.get(id).cloned(),
            };
            message.ok_or_else(|| missing(*id))
        };
        ids.iter().map(message).collect()
    }
}

/// Which of these ids are no messages of the agent.
pub(crate) async fn unknown_ids(
    transaction: &mut Transaction,
    agent_id: &AgentId,
    ids: &[MessageId],
) -> Result<Vec<MessageId>> {
    let mut unknown = ids.to_vec();
    for list in lists(ids) {
        let query = "SELECT id FROM messages WHERE agent_id = $1 AND id IN (";
        let mut query = Statement::new(query).bind(agent_id.to_string());
        query.push_list(list);
        let rows = transaction.all(query).await?;
        let known = rows.iter().map(|row| row.parsed(0, "message id"));
        let known = known.collect::<Result<HashSet<MessageId>>>()?;
        unknown.retain(|id| !known.contains(id));
    }
    Ok(unknown)
}

/// Deletes these messages of an agent.
pub(crate) async fn delete_messages(
    transaction: &mut Transaction,
    agent_id: &AgentId,
    ids: &[MessageId],
) -> Result<()> {
    for list in lists(ids) {
        let delete = "DELETE FROM messages WHERE agent_id = $1 AND id IN (";
        let mut delete = Statement::new(delete).bind(agent_id.to_string());
        delete.push_list(list);
        transaction.defer(delete).await?;
    }
    Ok(())
}

/// Ids in lists of at most [`LIST_MAX`].
pub(crate) fn lists<T: ToString>(ids: &[T]) -> impl Iterator<Item = Vec<String>> {
    ids.chunks(LIST_MAX)
        .map(|ids| ids.iter().map(T::to_string).collect())
}

pub(crate) fn missing(id: MessageId) -> StoreError {
    StoreError::NotFound {
        what: "message",
        id: id.to_string(),
    }
}

/// A query for whole messages; what follows is pushed.
pub(crate) fn select() -> Statement {
    let mut query = Statement::new("SELECT ");
    query.push(COLUMNS).push(" FROM messages");
    query
}
