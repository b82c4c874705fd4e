//! Lists of tools, in pages, and how many there are.

use bulkhead_domain::{id::AgentId, platform::UserId};

use super::{
    ToolRecord, ToolType, limits,
    row::{COLUMNS, record},
};
use crate::{
    Result, Store, StoreError, check, compiled_here, fold::pattern, owner::push_tools_for,
    sql::Statement,
};

/// Names or ids that a filter lists at most; each is a value of the statement, of which the
/// databases take some ten thousands.
pub const FILTER_LIST_MAX: usize = 1000;
/// Bytes of the tools of one page, after which it ends before its limit: a thousand tools of
/// the largest source would be gigabytes. The first tool of a page is always there.
pub const PAGE_BYTES_MAX: i64 = 32 << 20;

/// Which tools to list, and in which order. What is none does not matter.
#[derive(Debug, Clone, Default)]
pub struct ToolFilter {
    /// With this name.
    pub name: Option<String>,
    /// With one of these names.
    pub names: Option<Vec<String>>,
    /// With one of these ids.
    pub ids: Option<Vec<String>>,
    /// With this somewhere in the name, in upper or lower case.
    pub search: Option<String>,
    /// Of one of these types.
    pub types: Option<Vec<ToolType>>,
    /// Of none of these types.
    pub exclude_types: Option<Vec<ToolType>>,
    /// Those that the server itself provides.
    pub return_only_letta_tools: bool,
    /// All but those that the server itself provides.
    pub exclude_letta_tools: bool,
    /// Attached to this agent.
    pub agent_id: Option<AgentId>,
    /// Made by this user of the platform, or by none: everybody has what the server provides and
    /// what its operator saved.
    pub created_by: Option<UserId>,
    /// Those that follow the tool with this id in the list.
    pub after: Option<String>,
    /// Those that come before the tool with this id in the list. Without `after`, the nearest
    /// to it, so that a client walks back page by page.
    pub before: Option<String>,
    /// The oldest first; otherwise the newest.
    pub ascending: bool,
    /// How many at most; [`crate::PAGE_DEFAULT`] where not said, never over [`crate::PAGE_MAX`].
    pub limit: Option<u32>,
}

/// Where a tool stands in the order of all tools.
struct Place {
    created_at: i64,
    id: String,
}

impl Store {
    /// Tools by the time when they were made, and by id where that is the same. A page may
    /// end before its limit ([`PAGE_BYTES_MAX`]); the last one is empty.
    #[compiled_here]
    pub async fn tools(&self, filter: &ToolFilter) -> Result<Vec<ToolRecord>> {
        filter.check()?;
        let after = self.place(filter.after.as_deref()).await?;
        let before = self.place(filter.before.as_deref()).await?;
        // Back from a place means the other way round from there, and then turned over.
        let turned = before.is_some() && after.is_none();
        let ascending = filter.ascending != turned;

        let mut query = Statement::new("SELECT ");
        query
            .push(COLUMNS)
            .push(" FROM tools JOIN (SELECT id AS page_id, SUM(size) OVER (ORDER BY ");
        query
            .push(order(ascending))
            .push(") - size AS ahead FROM (SELECT id, created_at, size FROM tools WHERE 1 = 1");
        filter.push_conditions(&mut query);
        for (place, later) in [(after, filter.ascending), (before, !filter.ascending)] {
            let Some(place) = place else { continue };
            query
                .push(" AND (created_at, id) ")
                .push(if later { "> (" } else { "< (" })
                .push_value(place.created_at)
                .push(", ")
                .push_value(place.id)
                .push(")");
        }
        query.push(" ORDER BY ").push(order(ascending));
        query.push(" LIMIT ").push_value(check::page(filter.limit));
        query.push(") AS candidates) AS page ON page_id = id WHERE ahead < ");
        query.push_value(PAGE_BYTES_MAX);
        query.push(" ORDER BY ").push(order(ascending));
        let rows = self.database().all(query).await?;
        let mut tools = rows.iter().map(record).collect::<Result<Vec<_>>>()?;
        if turned {
            tools.reverse();
        }
        Ok(tools)
    }

    /// How many tools there are, whatever the filter's page.
    #[compiled_here]
    pub async fn count_tools(&self, filter: &ToolFilter) -> Result<u64> {
        filter.check()?;
        let mut query = Statement::new("SELECT COUNT(*) FROM tools WHERE 1 = 1");
        filter.push_conditions(&mut query);
        let row = self.database().optional(query).await?;
        row.map_or(Ok(0), |row| row.unsigned(0))
    }

    async fn place(&self, id: Option<&str>) -> Result<Option<Place>> {
        let Some(id) = id else { return Ok(None) };
        let query = Statement::new("SELECT created_at FROM tools WHERE id = $1").bind(id);
        let missing = || StoreError::NotFound {
            what: "tool",
            id: id.to_owned(),
        };
        let row = self.database().optional(query).await?.ok_or_else(missing)?;
        Ok(Some(Place {
            created_at: row.int(0)?,
            id: id.to_owned(),
        }))
    }
}

impl ToolFilter {
    fn check(&self) -> Result<()> {
        for (what, values) in [
            ("the tool's name", self.names.as_deref()),
            (
                "the tool's name",
                self.name.as_ref().map(std::slice::from_ref),
            ),
            ("the tool's id", self.ids.as_deref()),
            (
                "the tool's id",
                self.after.as_ref().map(std::slice::from_ref),
            ),
            (
                "the tool's id",
                self.before.as_ref().map(std::slice::from_ref),
            ),
        ] {
            let values = values.unwrap_or_default();
            if values.len() > FILTER_LIST_MAX {
                return Err(StoreError::Quota {
                    what: "the filter's list of names or ids",
                    limit: FILTER_LIST_MAX as u64,
                });
            }
            values
                .iter()
                .try_for_each(|value| limits::name(what, value))?;
        }
        let search = self.search.as_deref().unwrap_or_default();
        check::text("the search", search, limits::NAME_MAX)
    }

    /// What a tool must be, without its place in the list.
    fn push_conditions(&self, query: &mut Statement) {
        query.push_if(" AND name = ", self.name.as_deref());
        for (column, values) in [(" AND name IN (", &self.names), (" AND id IN (", &self.ids)] {
            if let Some(values) = values {
                query.push(column);
                query.push_list(values.iter().map(String::as_str));
            }
        }
        if let Some(search) = &self.search {
            query
                .push(" AND name_folded LIKE ")
                .push_value(pattern(search));
            query.push(" ESCAPE '\\'");
        }
        if let Some(agent_id) = &self.agent_id {
            query.push(" AND id IN (SELECT tool_id FROM agent_tools WHERE agent_id = ");
            query.push_value(agent_id.to_string()).push(")");
        }
        push_tools_for(query, self.created_by);
        let types = ToolType::ALL.into_iter().filter(|kind| self.takes(*kind));
        let types: Vec<_> = types.collect();
        if types.len() < ToolType::ALL.len() {
            query.push(" AND tool_type IN (");
            query.push_list(types.into_iter().map(ToolType::as_str));
        }
    }

    fn takes(&self, kind: ToolType) -> bool {
        let listed = |list: &Option<Vec<_>>| list.as_ref().map(|list| list.contains(&kind));
        listed(&self.types).unwrap_or(true)
            && !listed(&self.exclude_types).unwrap_or(false)
            && (kind.is_letta() || !self.return_only_letta_tools)
            && (!kind.is_letta() || !self.exclude_letta_tools)
    }
}

fn order(ascending: bool) -> &'static str {
    if ascending {
        "created_at, id"
    } else {
        "created_at DESC, id DESC"
    }
}
