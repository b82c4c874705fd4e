//! The tools that an agent begins with, and the rules that come with them.

use std::collections::HashSet;

use bulkhead_agent::defaults;
use bulkhead_domain::{AgentType, RuleKind, ToolRule};
use bulkhead_store::{PAGE_MAX, ToolFilter, ToolRecord};

use crate::{
    app::App,
    contract::Refusal,
    http::{missing, scope},
};

/// What a client says of tools.
pub(crate) struct Wanted {
    /// By name; each must be there.
    pub(crate) names: Vec<String>,
    /// By id; each must be there.
    pub(crate) ids: Vec<String>,
    /// By name; those that this server does not have are left out.
    pub(crate) base: Vec<&'static str>,
}

impl Wanted {
    /// The tools: those by name, then the base tools, then those by id; each once.
    pub(crate) async fn resolve(self, app: &App) -> Result<Vec<ToolRecord>, Refusal> {
        let base = self.base.iter().map(|name| (*name).to_owned());
        let names = distinct(self.names.iter().cloned().chain(base));
        let ids = distinct(self.ids.into_iter());
        let mut by_name = by_name(app, names.clone()).await?;
        let by_id = all(app, ids.clone(), |ids| ToolFilter {
            ids: Some(ids),
            ..ToolFilter::default()
        });
        let mut by_id = by_id.await?;
        let mut tools = Vec::with_capacity(names.len() + ids.len());
        let mut unknown = Vec::new();
        for name in names {
            let is_named = self.names.contains(&name);
            // What comes with this server is no other server's, whatever that calls its tools.
            let fits = |tool: &ToolRecord| tool.name == name && (is_named || tool.mcp.is_none());
            match by_name.iter().position(fits) {
                Some(at) => tools.push(by_name.swap_remove(at)),
                None if is_named => unknown.push(name),
                None => tracing::debug!(tool = name, "a base tool is not there"),
            }
        }
        if !unknown.is_empty() {
            return Err(missing::tools("name:", &unknown));
        }
        for id in ids {
            match by_id.iter().position(|tool| tool.id == id) {
                Some(at) => tools.push(by_id.swap_remove(at)),
                None => unknown.push(id),
            }
        }
        if !unknown.is_empty() {
            return Err(missing::tools("id:  ", &unknown));
        }
        let mut seen = HashSet::new();
        tools.retain(|tool| seen.insert(tool.id.clone()));
        Ok(tools)
    }
}

/// The tools with these names, each of which stands once, as far as they are there for whoever asks.
pub(crate) async fn by_name(app: &App, names: Vec<String>) -> Result<Vec<ToolRecord>, Refusal> {
    let mut installing = app.registry.builtins();
    loop {
        let found = all(app, names.clone(), |names| ToolFilter {
            names: Some(names),
            created_by: scope::only(),
            ..ToolFilter::default()
        });
        let found = found.await?;
        // A server that has just begun installs its own tools one after the other.
        let is_whole = names.len() == found.len();
        if is_whole || !installing.next().await {
            return Ok(found);
        }
    }
}

fn distinct(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = HashSet::new();
    texts.filter(|text| seen.insert(text.clone())).collect()
}

/// Every tool of a filter. A page may end before its limit.
async fn all(
    app: &App,
    wanted: Vec<String>,
    filter: impl FnOnce(Vec<String>) -> ToolFilter,
) -> Result<Vec<ToolRecord>, Refusal> {
    let count = wanted.len();
    let mut tools = Vec::new();
    if count == 0 {
        return Ok(tools);
    }
    let mut filter = filter(wanted);
    filter.limit = Some(PAGE_MAX);
    while tools.len() < count {
        let page = app.store.tools(&filter).await.map_err(missing::stored)?;
        let Some(last) = page.last() else { break };
        filter.after = Some(last.id.clone());
        tools.extend(page);
    }
    Ok(tools)
}

/// The rules of a new agent: the client's, those of its base tools, and approval where a tool asks
/// for it by default; each once.
pub(crate) fn rules(
    agent_type: AgentType,
    tools: &[ToolRecord],
    given: Vec<ToolRule>,
    include_base: Option<bool>,
) -> Vec<ToolRule> {
    let names: Vec<String> = tools.iter().map(|tool| tool.name.clone()).collect();
    let base = defaults::base_rules(agent_type, &names, include_base, !given.is_empty());
    let asking = tools
        .iter()
        .filter(|tool| tool.default_requires_approval == Some(true))
        .map(|tool| ToolRule::new(&tool.name, RuleKind::RequiresApproval));
    let mut rules: Vec<ToolRule> = Vec::new();
    for rule in given.into_iter().chain(base).chain(asking) {
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    rules
}
