//! What a call of a tool from source needs, made once and shared by all its calls.
//!
//! Beside what is granted these are the variables of the sandbox's configuration, which every such
//! tool sees.

use std::{sync::Arc, time::Instant};

use bulkhead_domain::Timestamp;
use bulkhead_policy::{FolderRule, Limits};
use bulkhead_sandbox::{Authority, Lineage, egress::Credential};
use bulkhead_store::SandboxType;
use zeroize::Zeroizing;

use super::{
    Registry,
    plan::{Allowed, first_expiry},
};
use crate::{http::error::Rejection, source::COMPONENT};

/// Bytes of a name whose plan is kept. Tools that are saved have shorter ones; a name that comes
/// with a request could have megabytes.
const KEPT_NAME_MAX: usize = 512;

/// What a call of one tool from source needs.
pub(crate) struct SourcePlan {
    tool: String,
    allowed: Allowed,
    credentials: Vec<Credential>,
    variables: Vec<(String, Zeroizing<String>)>,
    /// When the first of its grants expires.
    pub(super) valid_until: Option<Timestamp>,
    pub(super) made: Instant,
}

impl SourcePlan {
    /// What a call may do; `packages` it sees without a grant.
    pub(crate) fn authority(&self, lineage: &Lineage, packages: Vec<FolderRule>) -> Arc<Authority> {
        Authority::for_source(
            &self.allowed.capabilities,
            lineage.narrowing(),
            self.credentials.clone(),
            format!("{COMPONENT}/{}", self.tool),
            packages,
        )
    }

    /// `defaults` with the grants' limits in their place.
    pub(crate) fn limits(&self, defaults: &Limits) -> Limits {
        self.allowed.limits.applied_to(defaults)
    }

    /// The variables of the sandbox's configuration.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        let variables = self.variables.iter();
        variables.map(|(key, value)| (key.as_str(), value.as_str()))
    }
}

impl Registry {
    /// The plan for the tool from source that has this name in grants.
    pub(crate) async fn source_plan(&self, tool: &str) -> Result<Arc<SourcePlan>, Rejection> {
        let generation = {
            let plans = self.plans.read();
            match plans.of_source.get(tool) {
                Some(plan) if self.is_current(plan.made, plan.valid_until) => {
                    return Ok(Arc::clone(plan));
                }
                _ => plans.generation,
            }
        };
        let plan = Arc::new(self.make_source_plan(tool).await?);
        if tool.len() <= KEPT_NAME_MAX {
            self.plans.write().keep_source(generation, tool, &plan);
        }
        Ok(plan)
    }

    async fn make_source_plan(&self, tool: &str) -> Result<SourcePlan, Rejection> {
        let made = Instant::now();
        let grants = self.grants_of(COMPONENT, tool).await?;
        let allowed = Allowed::by(&grants)?;
        let credentials = self.credentials_of(&allowed.capabilities).await?;
        let variables = self.store.sandbox_variables_of(SandboxType::Local).await?;
        Ok(SourcePlan {
            tool: tool.to_owned(),
            allowed,
            credentials,
            variables,
            valid_until: first_expiry(&grants),
            made,
        })
    }
}
