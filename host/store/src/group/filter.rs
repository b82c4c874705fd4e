//! Lists of groups, in pages, how many there are, and those that agents lead.

use std::collections::{HashMap, hash_map::Entry};

use bulkhead_domain::{
    Group, ManagerType,
    id::{AgentId, GroupId},
    platform::UserId,
};

use super::row::{COLUMNS, record, with_relations};
use crate::{
    Result, Store, StoreError,
    agent::{limits::AGENTS_AT_ONCE_MAX, texts},
    compiled_here,
    owner::push_created_by,
    paging::{Listing, Paging, check_filter},
    sql::Statement,
};

const LISTING: Listing = Listing {
    what: "group",
    table: "agent_groups",
    columns: COLUMNS,
    key: "created_at",
    bytes: "size",
};

/// Which groups to list, and in which order. What is none does not matter.
#[derive(Debug, Clone, Default)]
pub struct GroupFilter {
    /// Of this kind.
    pub manager_type: Option<ManagerType>,
    /// Of this project.
    pub project_id: Option<String>,
    /// That this agent leads or is in.
    pub agent_id: Option<AgentId>,
    /// Hidden ones too.
    pub show_hidden: bool,
    /// Made by this user of the platform.
    pub created_by: Option<UserId>,
    /// Which part of the list.
    pub paging: Paging,
}

impl Store {
    /// Groups by the time when they were made. A page may end before its limit
    /// ([`crate::tool::PAGE_BYTES_MAX`]); the last one is empty. [`StoreError::NotFound`] where a
    /// cursor is no group.
    #[compiled_here]
    pub async fn groups(&self, filter: &GroupFilter) -> Result<Vec<Group>> {
        filter.check()?;
        let conditions = |query: &mut Statement| filter.push_conditions(query);
        let rows = LISTING.page(self, &filter.paging, conditions).await?;
        let groups = rows.iter().map(|row| record(row, 0));
        with_relations(self, groups.collect::<Result<Vec<_>>>()?).await
    }

    /// How many groups there are, whatever the filter's page.
    #[compiled_here]
    pub async fn count_groups(&self, filter: &GroupFilter) -> Result<u64> {
        filter.check()?;
        let conditions = |query: &mut Statement| filter.push_conditions(query);
        LISTING.count(self, conditions).await
    }

    /// The group that each of these agents leads, where it leads one: the one of those that look
    /// after its memory, and otherwise the first.
    #[compiled_here]
    pub async fn managed_groups(&self, agents: &[AgentId]) -> Result<HashMap<AgentId, Group>> {
        if agents.len() > AGENTS_AT_ONCE_MAX {
            return Err(StoreError::Quota {
                what: "the list of agents",
                limit: AGENTS_AT_ONCE_MAX as u64,
            });
        }
        let mut query = Statement::new("SELECT manager_agent_id, ");
        query.push(COLUMNS);
        query.push(" FROM agent_groups WHERE manager_agent_id IN (");
        query.push_list(texts(agents));
        query.push(
            " ORDER BY CASE manager_type WHEN 'sleeptime' THEN 0 WHEN 'voice_sleeptime' THEN 1
                ELSE 2 END, seq",
        );
        let mut first: HashMap<GroupId, AgentId> = HashMap::new();
        let mut groups: HashMap<AgentId, Group> = HashMap::new();
        for row in &self.database().all(query).await? {
            let agent = row.parsed(0, "agent of a group")?;
            let group = record(row, 1)?;
            if let Entry::Vacant(place) = groups.entry(agent) {
                first.insert(group.id, agent);
                place.insert(group);
            }
        }
        let groups = with_relations(self, groups.into_values().collect()).await?;
        let of_agents = groups.into_iter().filter_map(|group| {
            let agent = first.get(&group.id)?;
            Some((*agent, group))
        });
        Ok(of_agents.collect())
    }
}

impl GroupFilter {
    fn check(&self) -> Result<()> {
        let values = self.project_id.as_deref();
        check_filter("the filter of groups", values)
    }

    /// What a group must be, without its place in the list.
    fn push_conditions(&self, query: &mut Statement) {
        let kind = self.manager_type.map(ManagerType::as_str);
        query.push_if(" AND manager_type = ", kind);
        query.push_if(" AND project_id = ", self.project_id.as_deref());
        if let Some(agent) = self.agent_id {
            query.push(" AND (manager_agent_id = ");
            query.push_value(agent.to_string());
            query.push(" OR id IN (SELECT group_id FROM group_agents WHERE agent_id = ");
            query.push_value(agent.to_string()).push("))");
        }
        if !self.show_hidden {
            query.push(" AND (hidden IS NULL OR hidden = 0)");
        }
        push_created_by(query, self.created_by);
    }
}
