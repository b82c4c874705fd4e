//! Lists of messages, and how many there are.

use bulkhead_domain::{
    Message, Role,
    id::{AgentId, ConversationId, MessageId, RunId, StepId},
    platform::UserId,
};

use super::{COLUMNS, missing, record};
use crate::{
    Result, Store, check, compiled_here,
    owner::push_agent_created_by,
    paging::{Listing, Paging},
    sql::Statement,
};

/// In the order in which they were written: points in time go back where an answer to a request
/// for approval comes with what a user wrote.
pub(super) const LISTING: Listing = Listing {
    what: "message",
    table: "messages",
    columns: COLUMNS,
    key: "seq",
    bytes: "size",
};

/// Which threads of an agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ThreadFilter {
    /// All of them.
    #[default]
    Any,
    /// The default one.
    Default,
    /// This conversation.
    Conversation(ConversationId),
}

impl ThreadFilter {
    /// The thread that a message or a run with this conversation is in.
    pub fn of(conversation_id: Option<ConversationId>) -> Self {
        conversation_id.map_or(Self::Default, Self::Conversation)
    }

    /// Whether the thread of this conversation is meant; none for the default one.
    pub fn has(self, conversation_id: Option<ConversationId>) -> bool {
        self == Self::Any || self == Self::of(conversation_id)
    }

    pub(crate) fn push_condition(self, query: &mut Statement) {
        match self {
            Self::Any => {}
            Self::Default => {
                query.push(" AND conversation_id IS NULL");
            }
            Self::Conversation(id) => {
                query.push(" AND conversation_id = ");
                query.push_value(id.to_string());
            }
        }
    }
}

/// Which messages to list. What is none does not matter.
#[derive(Debug, Clone, Default)]
pub struct MessageFilter {
    /// Of this agent.
    pub agent_id: Option<AgentId>,
    /// Of agents that this user of the platform made.
    pub created_by: Option<UserId>,
    /// In these threads.
    pub thread: ThreadFilter,
    /// Of this group.
    pub group_id: Option<String>,
    /// Of this run.
    pub run_id: Option<RunId>,
    /// Of this step.
    pub step_id: Option<StepId>,
    /// From one of these.
    pub roles: Option<Vec<Role>>,
    /// Written after this one.
    pub after: Option<MessageId>,
    /// Written before this one.
    pub before: Option<MessageId>,
    /// Where there are more than the limit: the newest of them, otherwise the oldest.
    pub newest: bool,
    /// How many at most; [`crate::PAGE_DEFAULT`] where not said, never over [`crate::PAGE_MAX`].
    pub limit: Option<u32>,
}

impl Store {
    /// Messages, always the oldest first. A list may end before its limit: with
    /// [`crate::tool::PAGE_BYTES_MAX`] bytes.
    /// [`crate::StoreError::NotFound`] where a cursor is no message, or not one of the agent;
    /// [`crate::StoreError::Invalid`] where the group is named by what can be no name.
    #[compiled_here]
    pub async fn messages(&self, filter: &MessageFilter) -> Result<Vec<Message>> {
        if let Some(group) = &filter.group_id {
            check::text("the group's id", group, check::NAME_MAX)?;
        }
        let above = self.message_place(filter, filter.after).await?;
        let below = self.message_place(filter, filter.before).await?;
        let paging = Paging {
            ascending: !filter.newest,
            limit: filter.limit,
            ..Paging::default()
        };
        let conditions = |query: &mut Statement| {
            filter.push_conditions(query);
            query.push_if(" AND seq > ", above);
            query.push_if(" AND seq < ", below);
        };
        let rows = LISTING.page(self, &paging, conditions).await?;
        let mut messages = rows.iter().map(record).collect::<Result<Vec<_>>>()?;
        if filter.newest {
            messages.reverse();
        }
        Ok(messages)
    }

    /// How many messages there are, whatever the filter's cursors and limit.
    #[compiled_here]
    pub async fn count_messages(&self, filter: &MessageFilter) -> Result<u64> {
        let conditions = |query: &mut Statement| filter.push_conditions(query);
        LISTING.count(self, conditions).await
    }

    async fn message_place(
        &self,
        filter: &MessageFilter,
        id: Option<MessageId>,
    ) -> Result<Option<i64>> {
        let Some(id) = id else { return Ok(None) };
        let mut query = Statement::new("SELECT seq FROM messages WHERE id = ");
        query.push_value(id.to_string());
        let agent_id = filter.agent_id.map(|id| id.to_string());
        query.push_if(" AND agent_id = ", agent_id);
        let row = self.database().optional(query).await?;
        row.ok_or_else(|| missing(id))?.int(0).map(Some)
    }
}

impl MessageFilter {
    fn push_conditions(&self, query: &mut Statement) {
        let agent_id = self.agent_id.map(|id| id.to_string());
        query.push_if(" AND agent_id = ", agent_id);
        push_agent_created_by(query, self.created_by);
        self.thread.push_condition(query);
        query.push_if(" AND group_id = ", self.group_id.clone());
        query.push_if(" AND run_id = ", self.run_id.map(|id| id.to_string()));
        query.push_if(" AND step_id = ", self.step_id.map(|id| id.to_string()));
        push_roles(query, self.roles.as_deref());
    }
}

pub(super) fn push_roles(query: &mut Statement, roles: Option<&[Role]>) {
    if let Some(roles) = roles {
        query.push(" AND role IN (");
        query.push_list(roles.iter().map(|role| role.as_str()));
    }
}
