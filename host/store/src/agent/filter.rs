//! Lists of agents, in pages, and how many there are.

use std::collections::BTreeSet;

use bulkhead_domain::{
    Agent, StopReason,
    id::{BlockId, IdentityId},
    platform::UserId,
};

use super::row::{COLUMNS, record};
use crate::{
    Result, Store, compiled_here,
    fold::pattern,
    owner::push_created_by,
    paging::{Listing, Paging, check_filter},
    sql::Statement,
};

/// By what agents are ordered. Where that is the same, the order in which they were made decides.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AgentOrder {
    /// When they were made.
    #[default]
    CreatedAt,
    /// When they were changed last.
    UpdatedAt,
    /// When their last run ended. Those of which that is not known stand last in either order.
    LastRunCompletion,
}

/// Which agents to list, and in which order. What is none does not matter.
#[derive(Debug, Clone, Default)]
pub struct AgentFilter {
    /// With this name.
    pub name: Option<String>,
    /// With this somewhere in the name, in upper or lower case.
    pub query_text: Option<String>,
    /// With one of these tags.
    pub tags: Option<Vec<String>>,
    /// With all of the tags, not only one.
    pub match_all_tags: bool,
    /// With one of these tags beside those.
    pub other_tags: Option<Vec<String>>,
    /// Of this project.
    pub project_id: Option<String>,
    /// Of this template.
    pub template_id: Option<String>,
    /// Of this base template.
    pub base_template_id: Option<String>,
    /// Made by this user, whether of the platform or not.
    pub created_by_id: Option<String>,
    /// Made by this user of the platform, whatever the filter before says.
    pub created_by: Option<UserId>,
    /// Made by no user of the platform.
    pub of_no_user: bool,
    /// Belonging to this identity.
    pub identity_id: Option<IdentityId>,
    /// Belonging to an identity with one of these identifier keys.
    pub identifier_keys: Option<Vec<String>>,
    /// Whose last run ended for this reason.
    pub last_stop_reason: Option<StopReason>,
    /// To which this block is attached.
    pub block_id: Option<BlockId>,
    /// To which this tool is attached.
    pub tool_id: Option<String>,
    /// Hidden ones too.
    pub show_hidden: bool,
    /// By what they are ordered.
    pub order_by: AgentOrder,
    /// Which part of the list.
    pub paging: Paging,
}

impl Store {
    /// Agents in the filter's order. A page may end before its limit
    /// ([`crate::tool::PAGE_BYTES_MAX`]); the last one is empty. [`crate::StoreError::NotFound`]
    /// where a cursor is no agent.
    #[compiled_here]
    pub async fn agents(&self, filter: &AgentFilter) -> Result<Vec<Agent>> {
        filter.check()?;
        let conditions = |query: &mut Statement| filter.push_conditions(query);
        let listing = filter.listing();
        let rows = listing.page(self, &filter.paging, conditions).await?;
        rows.iter().map(record).collect()
    }

    /// How many agents there are, whatever the filter's page.
    #[compiled_here]
    pub async fn count_agents(&self, filter: &AgentFilter) -> Result<u64> {
        filter.check()?;
        let conditions = |query: &mut Statement| filter.push_conditions(query);
        filter.listing().count(self, conditions).await
    }
}

impl AgentFilter {
    fn listing(&self) -> Listing {
        let key = match (self.order_by, self.paging.ascending) {
            (AgentOrder::CreatedAt, _) => "created_at",
            (AgentOrder::UpdatedAt, _) => "updated_at",
            // The last of the numbers that both databases read as a BIGINT.
            (AgentOrder::LastRunCompletion, true) => {
                "COALESCE(last_run_completion, 9223372036854775807)"
            }
            (AgentOrder::LastRunCompletion, false) => {
                "COALESCE(last_run_completion, -9223372036854775807)"
            }
        };
        Listing {
            what: "agent",
            table: "agents",
            columns: COLUMNS,
            key,
            bytes: "size + LENGTH(message_ids)",
        }
    }

    fn check(&self) -> Result<()> {
        let single = [
            &self.name,
            &self.query_text,
            &self.project_id,
            &self.template_id,
            &self.base_template_id,
            &self.created_by_id,
            &self.tool_id,
        ];
        let single = single.into_iter().flatten().map(String::as_str);
        check_filter("the filter of agents", single)?;
        let list = |list: &Option<Vec<String>>| list.clone().unwrap_or_default();
        for (what, list) in [
            ("the filter's list of tags", list(&self.tags)),
            ("the filter's list of tags", list(&self.other_tags)),
            (
                "the filter's list of identifier keys",
                list(&self.identifier_keys),
            ),
        ] {
            check_filter(what, list.iter().map(String::as_str))?;
        }
        Ok(())
    }

    /// What an agent must be, without its place in the list.
    fn push_conditions(&self, query: &mut Statement) {
        if !self.show_hidden {
            query.push(" AND (hidden IS NULL OR hidden = 0)");
        }
        query.push_if(" AND name = ", self.name.as_deref());
        if let Some(text) = &self.query_text {
            query
                .push(" AND name_folded LIKE ")
                .push_value(pattern(text));
            query.push(" ESCAPE '\\'");
        }
        query.push_if(" AND project_id = ", self.project_id.as_deref());
        query.push_if(" AND template_id = ", self.template_id.as_deref());
        query.push_if(" AND base_template_id = ", self.base_template_id.as_deref());
        query.push_if(" AND created_by_id = ", self.created_by_id.as_deref());
        push_created_by(query, self.created_by);
        if self.of_no_user {
            query.push(" AND (created_by_id IS NULL OR created_by_id NOT IN");
            query.push(" (SELECT id FROM users))");
        }
        let reason = self.last_stop_reason.map(|reason| reason.as_str());
        query.push_if(" AND last_stop_reason = ", reason);
        for (tags, all) in [(&self.tags, self.match_all_tags), (&self.other_tags, false)] {
            let Some(tags) = tags else { continue };
            let tagged = (
                " AND id IN (SELECT agent_id FROM agent_tags WHERE tag IN (",
                " GROUP BY agent_id",
            );
            push_tags(query, tagged, tags, all);
        }
        for (link, id) in [
            (
                " AND id IN (SELECT agent_id FROM identity_agents WHERE identity_id = ",
                self.identity_id.map(|id| id.to_string()),
            ),
            (
                " AND id IN (SELECT agent_id FROM agent_blocks WHERE block_id = ",
                self.block_id.map(|id| id.to_string()),
            ),
            (
                " AND id IN (SELECT agent_id FROM agent_tools WHERE tool_id = ",
                self.tool_id.clone(),
            ),
        ] {
            if let Some(id) = id {
                query.push(link).push_value(id).push(")");
            }
        }
        if let Some(keys) = &self.identifier_keys {
            query.push(" AND id IN (SELECT agent_id FROM identity_agents WHERE identity_id IN");
            query.push(" (SELECT id FROM identities WHERE identifier_key IN (");
            query.push_list(keys.iter().map(String::as_str)).push("))");
        }
    }
}

/// Those that have one of the tags, or all of them. No tags are no condition. `tagged` ends
/// before the list of tags, `by_owner` groups what it finds.
pub(crate) fn push_tags(
    query: &mut Statement,
    (tagged, by_owner): (&'static str, &'static str),
    tags: &[String],
    all: bool,
) {
    let tags: BTreeSet<&str> = tags.iter().map(String::as_str).collect();
    if tags.is_empty() {
        return;
    }
    let count = i64::try_from(tags.len()).unwrap_or(i64::MAX);
    query.push(tagged).push_list(tags);
    if all {
        query.push(by_owner).push(" HAVING COUNT(*) = ");
        query.push_value(count);
    }
    query.push(")");
}
