//! Messages by what they say.

use bulkhead_domain::{
    Message, Role, Timestamp,
    id::{AgentId, MessageId},
    platform::UserId,
};

use super::{
    ThreadFilter,
    filter::{LISTING, push_roles},
    lists,
    row::record_at,
};
use crate::{
    Result, Store, compiled_here, owner::push_agent_created_by, search::Words, sql::Statement,
};

/// Which messages to search for. What is none does not matter.
#[derive(Debug, Clone, Default)]
pub struct MessageSearch {
    /// Of this agent.
    pub agent_id: Option<AgentId>,
    /// Of agents that this user of the platform made.
    pub created_by: Option<UserId>,
    /// In these threads.
    pub thread: ThreadFilter,
    /// With one of these words at least, in upper or lower case; 16 KiB at most.
    pub query: Option<String>,
    /// From one of these.
    pub roles: Option<Vec<Role>>,
    /// Made at this time or later.
    pub since: Option<Timestamp>,
    /// Made before this time.
    pub until: Option<Timestamp>,
    /// Only those in which something is said or given back.
    pub with_text: bool,
    /// No results of this tool, where a message has no others.
    pub exclude_results_of: Option<&'static str>,
    /// None of these, for example those that a model sees anyway.
    pub exclude: Vec<MessageId>,
    /// How many at most; [`crate::PAGE_DEFAULT`] where not said, never over [`crate::PAGE_MAX`].
    pub limit: Option<u32>,
}

impl Store {
    /// Messages in which words of the query stand, in their text or in the texts of tool
    /// results, with the share of the words that each has: those with all of them first (1.0),
    /// then by their number, and the newest first where that is the same. Without a query the
    /// newest, each with 1.0. A word is found inside of longer ones too.
    ///
    /// Looked through are the newest 50,000 messages that the other conditions leave, and of
    /// each the first 32 KiB.
    #[compiled_here]
    pub async fn search_messages(&self, search: &MessageSearch) -> Result<Vec<(Message, f64)>> {
        let words = Words::of(search.query.as_deref())?;
        let conditions = |query: &mut Statement| search.push_conditions(query);
        let rows = self.search(&LISTING, &words, search.limit, conditions);
        let rows = rows.await?;
        let message = |(row, share)| Ok((record_at(&row, 1)?, share));
        rows.into_iter().map(message).collect()
    }
}

impl MessageSearch {
    fn push_conditions(&self, query: &mut Statement) {
        let agent_id = self.agent_id.map(|id| id.to_string());
        query.push_if(" AND agent_id = ", agent_id);
        push_agent_created_by(query, self.created_by);
        self.thread.push_condition(query);
        push_roles(query, self.roles.as_deref());
        query.push_if(" AND created_at >= ", self.since);
        query.push_if(" AND created_at < ", self.until);
        if self.with_text {
            query.push(" AND text_folded <> ''");
        }
        if let Some(tool) = self.exclude_results_of {
            // The list of names, without this one and the commas between.
            query.push(" AND COALESCE(REPLACE(REPLACE(tool_names, ");
            query.push_value(format!("\"{tool}\""));
            query.push(", ''), ',', ''), '') <> '[]'");
        }
        for list in lists(&self.exclude) {
            // NULL in a list of NOT IN would leave nothing.
            query.push(" AND NOT COALESCE(id IN (");
            query.push_list(list);
            query.push(", FALSE)");
        }
    }
}
