//! Lists of conversations.

use bulkhead_domain::{Conversation, id::AgentId, platform::UserId};

use super::row::{COLUMNS, SUMMARY_MAX, record};
use crate::{
    Paging, Result, Store, check, compiled_here, fold::pattern, owner::push_agent_created_by,
    paging::Listing, sql::Statement,
};

/// What a list of conversations is ordered by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ConversationOrder {
    /// When they were made.
    #[default]
    CreatedAt,
    /// When a message was added last; those without one by when they were made.
    LastMessageAt,
}

impl ConversationOrder {
    fn listing(self) -> Listing {
        Listing {
            what: "conversation",
            table: "conversations",
            columns: COLUMNS,
            key: match self {
                Self::CreatedAt => "created_at",
                Self::LastMessageAt => "COALESCE(last_message_at, created_at)",
            },
            bytes: "size",
        }
    }
}

/// Which conversations to list. What is none does not matter.
#[derive(Debug, Clone, Default)]
pub struct ConversationFilter {
    /// Of this agent.
    pub agent_id: Option<AgentId>,
    /// With this somewhere in the summary, in upper or lower case.
    pub summary_search: Option<String>,
    /// Of agents that this user of the platform made.
    pub created_by: Option<UserId>,
    /// What orders them.
    pub order_by: ConversationOrder,
    /// Which part of the list.
    pub paging: Paging,
}

impl Store {
    /// Conversations that were not deleted, the newest first unless the paging says otherwise.
    #[compiled_here]
    pub async fn conversations(&self, filter: &ConversationFilter) -> Result<Vec<Conversation>> {
        let search = filter.summary_search.as_deref().unwrap_or_default();
        check::text("the search", search, SUMMARY_MAX)?;
        let conditions = |query: &mut Statement| {
            query.push(" AND is_deleted = 0");
            let agent_id = filter.agent_id.map(|id| id.to_string());
            query.push_if(" AND agent_id = ", agent_id);
            push_agent_created_by(query, filter.created_by);
            if let Some(search) = &filter.summary_search {
                query.push(" AND summary_folded LIKE ");
                query.push_value(pattern(search)).push(" ESCAPE '\\'");
            }
        };
        let listing = filter.order_by.listing();
        let rows = listing.page(self, &filter.paging, conditions).await?;
        rows.iter().map(record).collect()
    }
}
