//! Which tools a list is asked for.

use bulkhead_store::{ToolFilter, ToolType};
use utoipa::IntoParams;

use crate::contract::query::{FromQuery, Order, Page, Query};
use crate::http::scope;

/// Tools of one answer where the client names no number.
const LIMIT_DEFAULT: u32 = 50;

/// Which tools.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// of this name
    name: Option<String>,
    /// of one of these names
    names: Option<Vec<String>>,
    /// with one of these ids
    tool_ids: Option<Vec<String>>,
    /// with this in the name
    search: Option<String>,
    /// of one of these types
    tool_types: Option<Vec<String>>,
    /// of none of these types
    exclude_tool_types: Option<Vec<String>>,
    /// only those that come with the server
    return_only_letta_tools: Option<bool>,
    /// without those that come with the server
    exclude_letta_tools: Option<bool>,
}

impl FromQuery for Which {
    fn from_query(query: &mut Query) -> Self {
        Self {
            name: query.text("name"),
            names: query.texts("names"),
            tool_ids: query.texts("tool_ids"),
            search: query.text("search"),
            tool_types: query.texts("tool_types"),
            exclude_tool_types: query.texts("exclude_tool_types"),
            return_only_letta_tools: query.boolean("return_only_letta_tools"),
            exclude_letta_tools: query.boolean("exclude_letta_tools"),
        }
    }
}

impl From<Which> for ToolFilter {
    fn from(which: Which) -> Self {
        // A type that nobody knows is that of no tool.
        let types = |names: Vec<String>| -> Vec<ToolType> {
            names.iter().filter_map(|name| name.parse().ok()).collect()
        };
        Self {
            name: which.name,
            names: which.names,
            ids: which.tool_ids,
            search: which.search,
            types: which.tool_types.map(types),
            exclude_types: which.exclude_tool_types.map(types),
            return_only_letta_tools: which.return_only_letta_tools.unwrap_or(false),
            exclude_letta_tools: which.exclude_letta_tools.unwrap_or(false),
            created_by: scope::only(),
            ..Self::default()
        }
    }
}

/// Which tools, and which part of their list.
pub(crate) struct ListQuery {
    which: Which,
    page: Page,
}

impl FromQuery for ListQuery {
    fn from_query(query: &mut Query) -> Self {
        Self {
            which: Which::from_query(query),
            page: query.page_by_creation(LIMIT_DEFAULT, Order::Descending),
        }
    }
}

impl From<ListQuery> for ToolFilter {
    fn from(ListQuery { which, page }: ListQuery) -> Self {
        Self {
            ascending: page.is_ascending(),
            before: page.before,
            after: page.after,
            limit: Some(page.limit),
            ..Self::from(which)
        }
    }
}
