//! Lists of identities, in pages, and how many there are.

use bulkhead_domain::{Identity, IdentityType, platform::UserId};

use super::row::{COLUMNS, record, with_links};
use crate::{
    Result, Store, compiled_here,
    owner::push_created_by,
    paging::{Listing, Paging, check_filter},
    sql::Statement,
};

const LISTING: Listing = Listing {
    what: "identity",
    table: "identities",
    columns: COLUMNS,
    key: "created_at",
    bytes: "size",
};

/// Which identities to list, and in which order. What is none does not matter.
#[derive(Debug, Clone, Default)]
pub struct IdentityFilter {
    /// With this name.
    pub name: Option<String>,
    /// Of this project.
    pub project_id: Option<String>,
    /// With this identifier key.
    pub identifier_key: Option<String>,
    /// Of this type.
    pub identity_type: Option<IdentityType>,
    /// Made by this user of the platform.
    pub created_by: Option<UserId>,
    /// Which part of the list.
    pub paging: Paging,
}

impl Store {
    /// Identities by the time when they were made. A page may end before its limit
    /// ([`crate::tool::PAGE_BYTES_MAX`]); the last one is empty. [`crate::StoreError::NotFound`]
    /// where a cursor is no identity.
    #[compiled_here]
    pub async fn identities(&self, filter: &IdentityFilter) -> Result<Vec<Identity>> {
        filter.check()?;
        let conditions = |query: &mut Statement| filter.push_conditions(query);
        let rows = LISTING.page(self, &filter.paging, conditions).await?;
        let identities = rows.iter().map(record).collect::<Result<Vec<_>>>()?;
        with_links(self, identities).await
    }

    /// How many identities there are, whatever the filter's page.
    #[compiled_here]
    pub async fn count_identities(&self, filter: &IdentityFilter) -> Result<u64> {
        filter.check()?;
        let conditions = |query: &mut Statement| filter.push_conditions(query);
        LISTING.count(self, conditions).await
    }
}

impl IdentityFilter {
    fn check(&self) -> Result<()> {
        let values = [&self.name, &self.project_id, &self.identifier_key];
        let values = values.into_iter().flatten().map(String::as_str);
        check_filter("the filter of identities", values)
    }

    /// What an identity must be, without its place in the list.
    fn push_conditions(&self, query: &mut Statement) {
        query.push_if(" AND name = ", self.name.as_deref());
        query.push_if(" AND project_id = ", self.project_id.as_deref());
        query.push_if(" AND identifier_key = ", self.identifier_key.as_deref());
        let kind = self.identity_type.map(IdentityType::as_str);
        query.push_if(" AND identity_type = ", kind);
        push_created_by(query, self.created_by);
    }
}
