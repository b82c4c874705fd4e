//! What a call of one tool needs, made once and shared by all its calls.

use std::{collections::HashMap, sync::Arc, time::Instant};

use bulkhead_domain::Timestamp;
use bulkhead_policy::{Capabilities, Limits};
use bulkhead_sandbox::{Authority, Component, Lineage, egress::Credential};
use bulkhead_store::{ComponentStatus, Grant, GrantFilter, PAGE_MAX};

use super::{
    Registry, builtin, credential, loaded, source_plan::SourcePlan, tool_index::ToolIndex,
    tool_names::ToolNames,
};
use crate::{
    LimitsPatch,
    http::error::{self, Rejection},
};

/// Plans at once. One tool has at most a few (its component is meant by name or digest); beyond
/// it they are all forgotten and made again.
const PLANS_MAX: usize = 10_000;

/// What a call of one tool needs.
pub(crate) struct Plan {
    entry: Arc<loaded::Entry>,
    pub(crate) component: Component,
    /// The component's name.
    pub(crate) name: String,
    pub(crate) tool: String,
    authority: Arc<Authority>,
    /// The defaults with the grants' limits in their place.
    pub(crate) limits: Limits,
    granted: Capabilities,
    credentials: Vec<Credential>,
    state_name: String,
    /// When the first of its grants expires.
    valid_until: Option<Timestamp>,
    made: Instant,
}

/// All plans, and what is known of the names of tools.
#[derive(Default)]
pub(crate) struct Plans {
    /// Changes whenever plans are forgotten.
    pub(super) generation: u64,
    count: usize,
    by_reference: HashMap<String, HashMap<String, Arc<Plan>>>,
    /// By the tool's name.
    pub(super) of_source: HashMap<String, Arc<SourcePlan>>,
    pub(super) tools: Option<Arc<ToolIndex>>,
    pub(super) names: Option<Arc<ToolNames>>,
}

impl Plan {
    /// What a call may do: all that is granted, or the part of it that its callers pass on.
    pub(crate) fn authority(&self, lineage: &Lineage) -> Arc<Authority> {
        let Some(narrowing) = lineage.narrowing() else {
            return Arc::clone(&self.authority);
        };
        let credentials = self.credentials.clone();
        let narrowed = Authority::for_tool(
            &self.component,
            &self.tool,
            &self.granted,
            Some(narrowing),
            credentials,
            self.state_name.as_str(),
        );
        // None would mean that the tool is gone, which a plan rules out; then nothing is allowed.
        narrowed.unwrap_or_else(Authority::none)
    }
}

impl Registry {
    /// The plan for a tool of the component that `reference` means.
    pub(crate) async fn plan(&self, reference: &str, tool: &str) -> Result<Arc<Plan>, Rejection> {
        let generation = {
            let plans = self.plans.read();
            let known = plans
                .by_reference
                .get(reference)
                .and_then(|plans| plans.get(tool));
            match known {
                Some(plan) if self.is_current(plan.made, plan.valid_until) => {
                    plan.entry.touch();
                    return Ok(Arc::clone(plan));
                }
                _ => plans.generation,
            }
        };
        let plan = Arc::new(self.make_plan(reference, tool).await?);
        self.plans.write().keep(generation, reference, &plan);
        Ok(plan)
    }

    /// Forgets every plan: something that they were made of has changed.
    pub(crate) fn forget_plans(&self) {
        let mut plans = self.plans.write();
        let generation = plans.generation.wrapping_add(1);
        *plans = Plans {
            generation,
            ..Plans::default()
        };
    }

    pub(super) fn is_current(&self, made: Instant, valid_until: Option<Timestamp>) -> bool {
        self.is_fresh(made) && valid_until.is_none_or(|until| Timestamp::now() < until)
    }

    pub(super) fn is_fresh(&self, made: Instant) -> bool {
        self.max_age.is_none_or(|age| made.elapsed() < age)
    }

    async fn make_plan(&self, reference: &str, tool: &str) -> Result<Plan, Rejection> {
        let made = Instant::now();
        let record = self.find(reference).await?;
        if record.status == ComponentStatus::Pending {
            let message = format!(
                "this version of {name} wishes for more than the active one did; see \
                 GET /v1/components/{digest}/diff and agree with POST /v1/components/{digest}/activate",
                name = record.name,
                digest = record.digest,
            );
            return Err(Rejection::with(&error::CONSENT_REQUIRED, message));
        }
        let entry = self.load(&record).await?;
        let component = entry
            .component()
            .ok_or_else(|| Rejection::new(&error::HOST_ERROR))?
            .clone();
        let wishes = component
            .tool_wishes(tool)
            .ok_or_else(|| unknown_tool(&component, tool))?;
        let grants = self.grants_of(&record.name, tool).await?;
        let mut allowed = Allowed::by(&grants)?;
        let mut defaults = Limits::default();
        if let Some(own) = builtin::granted(&record.digest) {
            allowed.capabilities.union(own);
            defaults = builtin::limits();
        }
        let credentials = self
            .credentials_of(&allowed.capabilities.limited_to(wishes))
            .await?;
        let state_name = format!("{}/{tool}", record.name);
        let authority = Authority::for_tool(
            &component,
            tool,
            &allowed.capabilities,
            None,
            credentials.clone(),
            state_name.as_str(),
        );
        Ok(Plan {
            authority: authority.ok_or_else(|| unknown_tool(&component, tool))?,
            entry,
            component,
            name: record.name,
            tool: tool.to_owned(),
            limits: allowed.limits.applied_to(&defaults),
            granted: allowed.capabilities,
            credentials,
            state_name,
            valid_until: first_expiry(&grants),
            made,
        })
    }

    /// Grants that hold now, the oldest first.
    pub(crate) async fn grants_of(
        &self,
        component: &str,
        tool: &str,
    ) -> Result<Vec<Grant>, Rejection> {
        let mut filter = GrantFilter {
            component: Some(component.to_owned()),
            tool: Some(tool.to_owned()),
            valid_at: Some(Timestamp::now()),
            limit: Some(PAGE_MAX),
            after: None,
        };
        let mut grants = Vec::new();
        loop {
            let page = self.store.grants(&filter).await?;
            let is_last = page.len() < PAGE_MAX as usize;
            filter.after = page.last().map(|grant| grant.id);
            grants.extend(page);
            if is_last {
                grants.reverse();
                return Ok(grants);
            }
        }
    }

    pub(super) async fn credentials_of(
        &self,
        effective: &Capabilities,
    ) -> Result<Vec<Credential>, Rejection> {
        let mut credentials = Vec::new();
        for name in effective.credentials.union(&effective.reveal) {
            // A grant may name a credential that nobody has stored yet.
            if let Some(stored) = self.store.reveal_credential(name).await? {
                credentials.push(credential::from_stored(&stored)?);
            }
        }
        Ok(credentials)
    }
}

impl Plans {
    /// Keeps a plan, unless what it was made of changed meanwhile.
    fn keep(&mut self, generation: u64, reference: &str, plan: &Arc<Plan>) {
        if self.generation != generation {
            return;
        }
        if self.count >= PLANS_MAX {
            self.by_reference.clear();
            self.count = 0;
        }
        let tools = self.by_reference.entry(reference.to_owned()).or_default();
        if tools.insert(plan.tool.clone(), Arc::clone(plan)).is_none() {
            self.count += 1;
        }
    }

    /// As [`Plans::keep`], for a tool from source.
    pub(super) fn keep_source(&mut self, generation: u64, tool: &str, plan: &Arc<SourcePlan>) {
        if self.generation != generation {
            return;
        }
        if self.of_source.len() >= PLANS_MAX {
            self.of_source.clear();
        }
        self.of_source.insert(tool.to_owned(), Arc::clone(plan));
    }
}

/// When the first of some grants expires.
pub(super) fn first_expiry(grants: &[Grant]) -> Option<Timestamp> {
    grants.iter().filter_map(|grant| grant.expires_at).min()
}

/// What several grants allow together.
pub(super) struct Allowed {
    pub(super) capabilities: Capabilities,
    pub(super) limits: LimitsPatch,
}

impl Allowed {
    pub(super) fn by(grants: &[Grant]) -> Result<Self, Rejection> {
        let mut allowed = Self {
            capabilities: Capabilities::default(),
            limits: LimitsPatch::default(),
        };
        for grant in grants {
            let failed = |error: serde_json::Error| Rejection::host(&error);
            let more: Capabilities =
                serde::Deserialize::deserialize(&grant.capabilities).map_err(failed)?;
            allowed.capabilities.union(&more);
            if let Some(limits) = &grant.limits {
                let limits: LimitsPatch =
                    serde::Deserialize::deserialize(limits).map_err(failed)?;
                allowed.limits = allowed.limits.or_larger(&limits);
            }
        }
        Ok(allowed)
    }
}

/// Which names there are helps a model to repair its call.
fn unknown_tool(component: &Component, tool: &str) -> Rejection {
    const NAMES_MAX: usize = 20;
    let names: Vec<_> = component
        .tools()
        .map(|(info, _)| info.name.as_str())
        .take(NAMES_MAX)
        .collect();
    let message = format!(
        "the component has no tool {tool:?}; it has {}",
        names.join(", ")
    );
    Rejection::with(&error::UNKNOWN_TOOL, message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn grants_add_up_and_the_larger_limit_counts() {
        let grant = |capabilities, limits| Grant {
            limits: Some(limits),
            ..Grant::new("c", capabilities)
        };
        let allowed = Allowed::by(&[
            grant(json!({"state": true}), json!({"fuel": 5})),
            grant(json!({"env": ["A"]}), json!({"fuel": 3, "timeout_ms": 9})),
        ]);
        let allowed = allowed.unwrap_or_else(|_| panic!("both are well-formed"));
        assert!(allowed.capabilities.state && allowed.capabilities.env.contains("A"));
        assert_eq!(
            (allowed.limits.fuel, allowed.limits.timeout_ms),
            (Some(5), Some(9))
        );
    }
}
