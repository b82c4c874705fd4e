//! The tags of agents.

use std::collections::HashMap;

use bulkhead_domain::{id::AgentId, platform::UserId};

use super::{
    limits,
    relations::{asked, by_agent, distinct},
};
use crate::{
    Result, Store, check, compiled_here,
    fold::{folded, pattern},
    owner::push_agent_created_by,
    sql::{Statement, Transaction},
};

/// Which tags to list. What is none does not matter.
#[derive(Debug, Clone, Default)]
pub struct TagFilter {
    /// This one.
    pub name: Option<String>,
    /// With this somewhere in it, in upper or lower case.
    pub query_text: Option<String>,
    /// Those that follow this tag in the list, whether there is such a tag or not.
    pub after: Option<String>,
    /// Those that come before this tag in the list. Without `after`, the nearest to it.
    pub before: Option<String>,
    /// The last in the order of their characters first; otherwise the first.
    pub descending: bool,
    /// How many at most; [`crate::PAGE_DEFAULT`] where not said, never over [`crate::PAGE_MAX`].
    pub limit: Option<u32>,
    /// Of agents that this user of the platform made.
    pub created_by: Option<UserId>,
}

impl Store {
    /// The tags that agents have, each once, in the order of their characters.
    #[compiled_here]
    pub async fn agent_tags(&self, filter: &TagFilter) -> Result<Vec<String>> {
        let values = [
            &filter.name,
            &filter.query_text,
            &filter.after,
            &filter.before,
        ];
        for value in values.into_iter().flatten() {
            check::text("the filter of tags", value, check::NAME_MAX)?;
        }
        let turned = filter.before.is_some() && filter.after.is_none();
        let mut query = Statement::new("SELECT DISTINCT tag FROM agent_tags WHERE 1 = 1");
        push_agent_created_by(&mut query, filter.created_by);
        query.push_if(" AND tag = ", filter.name.as_deref());
        if let Some(text) = &filter.query_text {
            query
                .push(" AND tag_folded LIKE ")
                .push_value(pattern(text));
            query.push(" ESCAPE '\\'");
        }
        let (later, earlier) = (" AND tag > ", " AND tag < ");
        let (after, before) = if filter.descending {
            (earlier, later)
        } else {
            (later, earlier)
        };
        query.push_if(after, filter.after.as_deref());
        query.push_if(before, filter.before.as_deref());
        query.push(" ORDER BY tag");
        if filter.descending != turned {
            query.push(" DESC");
        }
        query.push(" LIMIT ").push_value(check::page(filter.limit));
        let rows = self.database().all(query).await?;
        let mut tags = rows
            .iter()
            .map(|row| row.text(0))
            .collect::<Result<Vec<_>>>()?;
        if turned {
            tags.reverse();
        }
        Ok(tags)
    }

    /// The tags of each of these agents, in the order of their characters. Every agent that is
    /// asked for has a list.
    #[compiled_here]
    pub async fn tags_of(&self, agents: &[AgentId]) -> Result<HashMap<AgentId, Vec<String>>> {
        let mut query = Statement::new("SELECT agent_id, tag FROM agent_tags WHERE agent_id IN (");
        query.push_list(asked(agents)?).push(" ORDER BY tag");
        let rows = self.database().all(query).await?;
        by_agent(agents, &rows, |row| row.text(1))
    }
}

/// Makes exactly these the tags of an agent.
pub(super) async fn put_tags(
    transaction: &mut Transaction,
    agent: &AgentId,
    tags: &[String],
) -> Result<()> {
    let tags = distinct("the agent's list of tags", tags, limits::TAGS_MAX)?;
    for tag in &tags {
        check::text("the agent's tag", tag, check::NAME_MAX)?;
    }
    let delete = Statement::new("DELETE FROM agent_tags WHERE agent_id = $1");
    transaction.defer(delete.bind(agent.to_string())).await?;
    if tags.is_empty() {
        return Ok(());
    }
    let mut insert = Statement::new("INSERT INTO agent_tags (agent_id, tag, tag_folded) VALUES ");
    for (index, tag) in tags.into_iter().enumerate() {
        let folded = folded(&tag);
        insert.push_row(
            index == 0,
            [agent.to_string().into(), tag.into(), folded.into()],
        );
    }
    transaction.defer(insert).await
}
