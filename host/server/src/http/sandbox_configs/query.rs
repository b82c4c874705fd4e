//! Which page of a list is asked for.

use bulkhead_store::{PAGE_MAX, SandboxConfigFilter, SandboxType};
use utoipa::IntoParams;

use crate::contract::query::{FromQuery, Query};

/// The page of a list, the oldest entry first.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// what follows the entry with this id
    pub(super) after: Option<String>,
    /// how many entries, 1000 by default and at most
    #[param(required = false)]
    pub(super) limit: u32,
}

impl FromQuery for ListQuery {
    fn from_query(query: &mut Query) -> Self {
        Self {
            after: query.text("after"),
            // The contract's own default.
            limit: query.limit(PAGE_MAX),
        }
    }
}

/// Which configurations, and the page of their list.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ConfigQuery {
    /// for this kind of sandbox: e2b, modal or local
    #[param(value_type = Option<String>)]
    sandbox_type: Option<SandboxType>,
    #[param(ignore)]
    page: ListQuery,
}

impl FromQuery for ConfigQuery {
    fn from_query(query: &mut Query) -> Self {
        let kinds = [SandboxType::E2b, SandboxType::Modal, SandboxType::Local];
        Self {
            sandbox_type: query.variant("sandbox_type", &kinds.map(|kind| (kind.as_str(), kind))),
            page: ListQuery::from_query(query),
        }
    }
}

impl From<ConfigQuery> for SandboxConfigFilter {
    fn from(query: ConfigQuery) -> Self {
        Self {
            sandbox_type: query.sandbox_type,
            after: query.page.after,
            limit: Some(query.page.limit),
        }
    }
}
