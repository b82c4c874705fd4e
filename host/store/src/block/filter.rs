//! Lists of blocks, in pages, and how many there are.

use bulkhead_domain::{
    Block,
    id::{AgentId, IdentityId},
    platform::UserId,
};

use super::row::{COLUMNS, record};
use crate::{
    Result, Store,
    agent::push_tags,
    compiled_here,
    fold::pattern,
    owner::push_created_by,
    paging::{Listing, Paging, check_filter},
    sql::Statement,
    tool::FILTER_LIST_MAX,
};

const LISTING: Listing = Listing {
    what: "block",
    table: "blocks",
    columns: COLUMNS,
    key: "created_at",
    bytes: "size",
};

/// Which blocks to list, and in which order. What is none does not matter.
#[derive(Debug, Clone, Default)]
pub struct BlockFilter {
    /// With this label.
    pub label: Option<String>,
    /// With this template name.
    pub name: Option<String>,
    /// Of this project.
    pub project_id: Option<String>,
    /// With this somewhere in the label, in upper or lower case.
    pub label_search: Option<String>,
    /// With this somewhere in the description, in upper or lower case.
    pub description_search: Option<String>,
    /// With this somewhere in the value, in upper or lower case.
    pub value_search: Option<String>,
    /// Those alone that are patterns for others.
    pub templates_only: bool,
    /// With one of these tags.
    pub tags: Option<Vec<String>>,
    /// With all of the tags, not only one.
    pub match_all_tags: bool,
    /// Belonging to this identity.
    pub identity_id: Option<IdentityId>,
    /// Belonging to an identity with one of these identifier keys.
    pub identifier_keys: Option<Vec<String>>,
    /// Attached to this agent.
    pub agent_id: Option<AgentId>,
    /// Attached to more agents than this.
    pub connected_to_agents_count_gt: Option<i64>,
    /// Attached to fewer agents than this.
    pub connected_to_agents_count_lt: Option<i64>,
    /// Attached to one of these numbers of agents.
    pub connected_to_agents_count_eq: Option<Vec<i64>>,
    /// Made by this user of the platform, or for an agent of this user.
    pub created_by: Option<UserId>,
    /// Hidden ones too.
    pub show_hidden: bool,
    /// Which part of the list.
    pub paging: Paging,
}

impl Store {
    /// Blocks by the time when they were made. A page may end before its limit
    /// ([`crate::tool::PAGE_BYTES_MAX`]); the last one is empty. [`crate::StoreError::NotFound`]
    /// where a cursor is no block.
    #[compiled_here]
    pub async fn blocks(&self, filter: &BlockFilter) -> Result<Vec<Block>> {
        filter.check()?;
        let conditions = |query: &mut Statement| filter.push_conditions(query);
        let rows = LISTING.page(self, &filter.paging, conditions).await?;
        rows.iter().map(|row| record(row, 0)).collect()
    }

    /// How many blocks there are, whatever the filter's page.
    #[compiled_here]
    pub async fn count_blocks(&self, filter: &BlockFilter) -> Result<u64> {
        filter.check()?;
        let conditions = |query: &mut Statement| filter.push_conditions(query);
        LISTING.count(self, conditions).await
    }
}

const ATTACHED: &str = " AND (SELECT COUNT(*) FROM agent_blocks WHERE block_id = blocks.id)";

impl BlockFilter {
    fn check(&self) -> Result<()> {
        let single = [
            &self.label,
            &self.name,
            &self.project_id,
            &self.label_search,
            &self.description_search,
            &self.value_search,
        ];
        let single = single.into_iter().flatten().map(String::as_str);
        check_filter("the filter of blocks", single)?;
        for (what, list) in [
            ("the filter's list of tags", &self.tags),
            (
                "the filter's list of identifier keys",
                &self.identifier_keys,
            ),
        ] {
            check_filter(what, list.iter().flatten().map(String::as_str))?;
        }
        let counts = self.connected_to_agents_count_eq.iter().flatten();
        if counts.count() > FILTER_LIST_MAX {
            return Err(crate::StoreError::Quota {
                what: "the filter's list of numbers of agents",
                limit: FILTER_LIST_MAX as u64,
            });
        }
        Ok(())
    }

    /// What a block must be, without its place in the list.
    fn push_conditions(&self, query: &mut Statement) {
        if !self.show_hidden {
            query.push(" AND (hidden IS NULL OR hidden = 0)");
        }
        if self.templates_only {
            query.push(" AND is_template = 1");
        }
        query.push_if(" AND label = ", self.label.as_deref());
        query.push_if(" AND template_name = ", self.name.as_deref());
        query.push_if(" AND project_id = ", self.project_id.as_deref());
        push_created_by(query, self.created_by);
        for (column, text) in [
            (" AND label_folded LIKE ", &self.label_search),
            (" AND description_folded LIKE ", &self.description_search),
            (" AND value_folded LIKE ", &self.value_search),
        ] {
            if let Some(text) = text {
                query.push(column).push_value(pattern(text));
                query.push(" ESCAPE '\\'");
            }
        }
        if let Some(tags) = &self.tags {
            let tagged = (
                " AND id IN (SELECT block_id FROM block_tags WHERE tag IN (",
                " GROUP BY block_id",
            );
            push_tags(query, tagged, tags, self.match_all_tags);
        }
        self.push_links(query);
    }

    fn push_links(&self, query: &mut Statement) {
        if let Some(id) = &self.identity_id {
            query.push(" AND id IN (SELECT block_id FROM identity_blocks WHERE identity_id = ");
            query.push_value(id.to_string()).push(")");
        }
        if let Some(keys) = &self.identifier_keys {
            query.push(" AND id IN (SELECT block_id FROM identity_blocks WHERE identity_id IN");
            query.push(" (SELECT id FROM identities WHERE identifier_key IN (");
            query.push_list(keys.iter().map(String::as_str)).push("))");
        }
        if let Some(id) = &self.agent_id {
            query.push(" AND id IN (SELECT block_id FROM agent_blocks WHERE agent_id = ");
            query.push_value(id.to_string()).push(")");
        }
        if let Some(count) = self.connected_to_agents_count_gt {
            query.push(ATTACHED).push(" > ").push_value(count);
        }
        if let Some(count) = self.connected_to_agents_count_lt {
            query.push(ATTACHED).push(" < ").push_value(count);
        }
        if let Some(counts) = &self.connected_to_agents_count_eq {
            query.push(ATTACHED).push(" IN (");
            query.push_list(counts.iter().copied());
        }
    }
}
