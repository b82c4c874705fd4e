//! Which blocks a list is asked for.

use bulkhead_domain::id::{IdentityId, IdentityKind};
use bulkhead_store::BlockFilter;
use utoipa::IntoParams;

use crate::contract::query::{FromQuery, Order, Page, Query, TextRule};
use crate::http::scope;

/// Blocks of one answer where the client names no number.
const LIMIT_DEFAULT: u32 = 50;

const LABEL: TextRule = TextRule {
    length: 1..=50,
    pattern: Some(("^[a-zA-Z0-9_/-]+$", |c| {
        c.is_ascii_alphanumeric() || "_/-".contains(c)
    })),
};
const NAME: TextRule = TextRule {
    length: 1..=100,
    pattern: Some(("^[a-zA-Z0-9 _-]+$", |c| {
        c.is_ascii_alphanumeric() || " _-".contains(c)
    })),
};
const SEARCH: TextRule = TextRule {
    length: 1..=200,
    pattern: None,
};

/// Which blocks.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// with this label
    label: Option<String>,
    /// only those that are patterns for others
    templates_only: Option<bool>,
    /// with this name of a pattern
    name: Option<String>,
    /// with one of these tags
    tags: Option<Vec<String>>,
    /// with all of these tags
    match_all_tags: Option<bool>,
    /// of this project
    project_id: Option<String>,
}

impl FromQuery for Which {
    fn from_query(query: &mut Query) -> Self {
        Self {
            label: query.checked_text("label", &LABEL),
            templates_only: query.boolean("templates_only"),
            name: query.checked_text("name", &NAME),
            tags: query.texts("tags"),
            match_all_tags: query.boolean("match_all_tags"),
            project_id: query.text("project_id"),
        }
    }
}

impl From<Which> for BlockFilter {
    fn from(which: Which) -> Self {
        Self {
            label: which.label,
            templates_only: which.templates_only.unwrap_or(false),
            name: which.name,
            tags: which.tags,
            match_all_tags: which.match_all_tags.unwrap_or(false),
            project_id: which.project_id,
            created_by: scope::only(),
            ..Self::default()
        }
    }
}

/// What is asked for in the blocks themselves and in what they hang on.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Search {
    /// belonging to this identity
    #[param(value_type = Option<String>)]
    identity_id: Option<IdentityId>,
    /// belonging to an identity with one of these keys
    identifier_keys: Option<Vec<String>>,
    /// with this in the label
    label_search: Option<String>,
    /// with this in the description
    description_search: Option<String>,
    /// with this in the value
    value_search: Option<String>,
    /// of more agents than this
    connected_to_agents_count_gt: Option<i64>,
    /// of fewer agents than this
    connected_to_agents_count_lt: Option<i64>,
    /// of one of these numbers of agents
    connected_to_agents_count_eq: Option<Vec<i64>>,
}

impl FromQuery for Search {
    fn from_query(query: &mut Query) -> Self {
        let any = i64::MIN..=i64::MAX;
        Self {
            identity_id: query.id::<IdentityKind>("identity_id"),
            identifier_keys: query.texts("identifier_keys"),
            label_search: query.checked_text("label_search", &LABEL),
            description_search: query.checked_text("description_search", &SEARCH),
            value_search: query.checked_text("value_search", &SEARCH),
            connected_to_agents_count_gt: query
                .integer("connected_to_agents_count_gt", any.clone()),
            connected_to_agents_count_lt: query
                .integer("connected_to_agents_count_lt", any.clone()),
            connected_to_agents_count_eq: query.integers("connected_to_agents_count_eq", any),
        }
    }
}

/// Which blocks, and which part of their list.
pub(crate) struct ListQuery {
    which: Which,
    search: Search,
    page: Page,
}

impl FromQuery for ListQuery {
    fn from_query(query: &mut Query) -> Self {
        Self {
            which: Which::from_query(query),
            search: Search::from_query(query),
            page: query.page_by_creation(LIMIT_DEFAULT, Order::Ascending),
        }
    }
}

impl From<ListQuery> for BlockFilter {
    fn from(query: ListQuery) -> Self {
        let search = query.search;
        Self {
            identity_id: search.identity_id,
            identifier_keys: search.identifier_keys,
            label_search: search.label_search,
            description_search: search.description_search,
            value_search: search.value_search,
            connected_to_agents_count_gt: search.connected_to_agents_count_gt,
            connected_to_agents_count_lt: search.connected_to_agents_count_lt,
            connected_to_agents_count_eq: search.connected_to_agents_count_eq,
            paging: query.page.into(),
            ..Self::from(query.which)
        }
    }
}
