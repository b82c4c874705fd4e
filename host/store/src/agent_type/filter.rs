//! Lists of types of agents.

use bulkhead_domain::platform::AgentType;

use super::row::{COLUMNS, record};
use crate::{
    NumberedPage, Result, Store, check, compiled_here, fold::pattern, numbered::NumberedListing,
    sql::Statement,
};

const LISTING: NumberedListing = NumberedListing {
    columns: COLUMNS,
    from: "agent_types",
    order: "seq",
};

/// Which types to list. What is none does not matter.
#[derive(Debug, Clone, Default)]
pub struct AgentTypeFilter {
    /// From which instances can be made, or can't.
    pub is_active: Option<bool>,
    /// With this somewhere in the name, in upper or lower case.
    pub search: Option<String>,
    /// Which page.
    pub page: NumberedPage,
}

impl Store {
    /// The types of a page, the oldest first, and how many there are in all.
    #[compiled_here]
    pub async fn list_agent_types(
        &self,
        filter: &AgentTypeFilter,
    ) -> Result<(Vec<AgentType>, u64)> {
        let search = filter.search.as_deref();
        check::text("the search", search.unwrap_or_default(), check::NAME_MAX)?;
        let conditions = |query: &mut Statement| {
            query.push_if(" AND is_active = ", filter.is_active);
            if let Some(search) = search {
                query
                    .push(" AND name_folded LIKE ")
                    .push_value(pattern(search));
                query.push(" ESCAPE '\\'");
            }
        };
        let (rows, total) = LISTING.page(self, filter.page, conditions).await?;
        let types = rows.iter().map(record).collect::<Result<Vec<_>>>()?;
        Ok((types, total))
    }
}
