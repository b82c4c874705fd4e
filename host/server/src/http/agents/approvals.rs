//! Who decides that calls of a tool wait for approval: the installation, where the tool says so by
//! default. A user of the platform does not take that away, nor runs such a tool past it.

use std::sync::Arc;

use bulkhead_domain::{Agent, RuleKind, ToolRule};
use bulkhead_store::ToolRecord;

use crate::{
    contract::Refusal,
    http::{
        error::{self, Rejection},
        scope,
    },
};

/// Whether calls of this tool wait because the installation says so, for whoever asks now.
fn is_decided(tool: &ToolRecord) -> bool {
    scope::only().is_some() && tool.default_requires_approval == Some(true)
}

/// Refuses what only the installation may do with a tool: 403.
pub(super) fn expect_undecided(tool: &ToolRecord) -> Result<(), Refusal> {
    if !is_decided(tool) {
        return Ok(());
    }
    let text = format!(
        "calls of the tool {} wait for approval by a decision of this installation; only a superuser \
         runs it by hand or lets it run without",
        tool.name
    );
    Err(Rejection::with(&error::FORBIDDEN, text).into())
}

/// The rule that calls of a tool wait.
pub(super) fn rule(tool: &str) -> ToolRule {
    ToolRule::new(tool, RuleKind::RequiresApproval)
}

/// Whether it is that rule.
pub(super) fn is_rule(rule: &ToolRule, tool: &str) -> bool {
    rule.tool_name == tool && matches!(rule.kind, RuleKind::RequiresApproval)
}

/// Tools whose rule that calls wait outlasts a change of their agent.
#[derive(Default)]
pub(super) struct Kept(Vec<String>);

impl Kept {
    /// Of an agent that has these tools.
    pub(super) fn of(attached: &[Arc<ToolRecord>]) -> Self {
        let kept = attached
            .iter()
            .filter(|tool| is_decided(tool) || !scope::sees(tool));
        Self(kept.map(|tool| tool.name.clone()).collect())
    }

    /// Puts their rules into the agent's, where they were among these before.
    pub(super) fn keep(&self, former: &[ToolRule], agent: &mut Agent) {
        let waits = |rules: &[ToolRule], tool: &str| rules.iter().any(|rule| is_rule(rule, tool));
        for tool in self.0.iter().filter(|tool| waits(former, tool)) {
            if !waits(&agent.tool_rules, tool) {
                agent.tool_rules.push(rule(tool));
            }
        }
    }
}
