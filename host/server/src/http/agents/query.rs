//! Which agents a list is asked for, and what of them the answer carries.

use bulkhead_domain::{StopReason, id::IdentityId};
use bulkhead_store::{AgentFilter, AgentOrder};
use utoipa::IntoParams;

use super::{
    client::Client,
    relations::{Asked, Relations},
};
use crate::contract::query::{FromQuery, Order, Page, Query};
use crate::http::scope;

/// Agents of one answer where the client names no number.
const LIMIT_DEFAULT: u32 = 50;

const ORDERS: &[(&str, AgentOrder)] = &[
    ("created_at", AgentOrder::CreatedAt),
    ("updated_at", AgentOrder::UpdatedAt),
    ("last_run_completion", AgentOrder::LastRunCompletion),
];

/// Why runs end.
pub(crate) const STOP_REASONS: &[(&str, StopReason)] = &[
    ("end_turn", StopReason::EndTurn),
    ("error", StopReason::Error),
    ("llm_api_error", StopReason::LlmApiError),
    ("invalid_llm_response", StopReason::InvalidLlmResponse),
    ("invalid_tool_call", StopReason::InvalidToolCall),
    ("max_steps", StopReason::MaxSteps),
    ("max_tokens_exceeded", StopReason::MaxTokensExceeded),
    ("no_tool_call", StopReason::NoToolCall),
    ("tool_rule", StopReason::ToolRule),
    ("cancelled", StopReason::Cancelled),
    ("insufficient_credits", StopReason::InsufficientCredits),
    ("requires_approval", StopReason::RequiresApproval),
    (
        "context_window_overflow_in_system_prompt",
        StopReason::ContextWindowOverflowInSystemPrompt,
    ),
];

/// Which agents.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// of this name
    name: Option<String>,
    /// with one of these tags
    tags: Option<Vec<String>>,
    /// with all of these tags
    match_all_tags: Option<bool>,
    /// with this in the name
    query_text: Option<String>,
    /// of this project
    project_id: Option<String>,
    /// of this template
    template_id: Option<String>,
    /// of this base template
    base_template_id: Option<String>,
    /// belonging to this identity
    identity_id: Option<String>,
    /// belonging to an identity with one of these keys
    identifier_keys: Option<Vec<String>>,
    /// whose last run ended for this reason
    #[param(value_type = Option<String>)]
    last_stop_reason: Option<StopReason>,
    /// made by this user
    created_by_id: Option<String>,
    /// hidden ones too
    show_hidden_agents: Option<bool>,
}

impl FromQuery for Which {
    fn from_query(query: &mut Query) -> Self {
        Self {
            name: query.text("name"),
            tags: query.texts("tags"),
            match_all_tags: query.boolean("match_all_tags"),
            query_text: query.text("query_text"),
            project_id: query.text("project_id"),
            template_id: query.text("template_id"),
            base_template_id: query.text("base_template_id"),
            identity_id: query.text("identity_id"),
            identifier_keys: query.texts("identifier_keys"),
            last_stop_reason: query.variant("last_stop_reason", STOP_REASONS),
            created_by_id: query.text("created_by_id"),
            show_hidden_agents: query.boolean("show_hidden_agents"),
        }
    }
}

impl Which {
    /// The filter; none where no agent can be meant, since what should be an id is none.
    pub(crate) fn filter(self) -> Option<AgentFilter> {
        let identity_id = match self.identity_id.map(|id| id.parse::<IdentityId>()) {
            None => None,
            Some(Ok(id)) => Some(id),
            Some(Err(_)) => return None,
        };
        Some(AgentFilter {
            name: self.name,
            tags: self.tags,
            match_all_tags: self.match_all_tags.unwrap_or(false),
            query_text: self.query_text,
            project_id: self.project_id,
            template_id: self.template_id,
            base_template_id: self.base_template_id,
            identity_id,
            identifier_keys: self.identifier_keys,
            last_stop_reason: self.last_stop_reason,
            created_by_id: self.created_by_id,
            created_by: scope::only(),
            show_hidden: self.show_hidden_agents.unwrap_or(false),
            ..AgentFilter::default()
        })
    }
}

/// What of agents the answer carries.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(
    dead_code,
    reason = "it stands for parameters in the document of the API"
)]
pub(crate) struct Include {
    /// agent.blocks, agent.identities, agent.managed_group, agent.pending_approval, agent.secrets,
    /// agent.sources, agent.tags, agent.tools
    include: Option<Vec<String>>,
    /// the older spelling, without `agent.`
    include_relationships: Option<Vec<String>>,
}

/// What of one agent the answer carries.
pub(crate) struct IncludeQuery(Asked);

impl FromQuery for IncludeQuery {
    fn from_query(query: &mut Query) -> Self {
        Self(Asked::of(query))
    }
}

impl IncludeQuery {
    pub(crate) fn relations(&self, client: Client) -> Relations {
        self.0.by(client)
    }
}

/// How a list of agents is ordered.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(
    dead_code,
    reason = "it stands for parameters in the document of the API"
)]
pub(crate) struct Ordering {
    /// created_at, updated_at or last_run_completion
    order_by: Option<String>,
    /// the older spelling of order_by
    sort_by: Option<String>,
    /// the older spelling of order
    ascending: Option<bool>,
}

/// Which agents, which part of their list, and what of them the answer carries.
pub(crate) struct ListQuery {
    which: Which,
    asked: Asked,
    order_by: AgentOrder,
    page: Page,
}

impl FromQuery for ListQuery {
    fn from_query(query: &mut Query) -> Self {
        let order_by = query.literal("order_by", ORDERS);
        // The older spelling took any text.
        let sort_by = query.text("sort_by");
        let sort_by = ORDERS
            .iter()
            .find(|(name, _)| sort_by.as_deref() == Some(*name));
        let default = query.older_order();
        Self {
            which: Which::from_query(query),
            asked: Asked::of(query),
            order_by: order_by
                .or(sort_by.map(|(_, order)| *order))
                .unwrap_or_default(),
            page: query.page(LIMIT_DEFAULT, default),
        }
    }
}

impl ListQuery {
    /// The filter, as [`Which::filter`], and what the answer carries.
    pub(crate) fn into_parts(self, client: Client) -> (Option<AgentFilter>, Relations) {
        let relations = self.asked.by(client);
        let filter = self.which.filter().map(|filter| AgentFilter {
            order_by: self.order_by,
            paging: self.page.into(),
            ..filter
        });
        (filter, relations)
    }
}

/// Which part of the agents of something else, and what of them the answer carries.
pub(crate) struct RelatedQuery {
    asked: Asked,
    pub(crate) page: Page,
}

impl FromQuery for RelatedQuery {
    fn from_query(query: &mut Query) -> Self {
        Self {
            asked: Asked::of(query),
            page: query.page_by_creation(LIMIT_DEFAULT, Order::Descending),
        }
    }
}

impl RelatedQuery {
    pub(crate) fn relations(&self, client: Client) -> Relations {
        self.asked.by(client)
    }
}
