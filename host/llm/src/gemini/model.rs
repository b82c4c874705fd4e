//! What a model can do, read from its name.

use bulkhead_domain::LlmConfig;
use serde_json::{Value, json};

/// The least of reasoning that a model takes which can't be told not to reason.
const MIN_BUDGET: i64 = 128;

/// The least that a model's name says about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Model<'a> {
    name: &'a str,
    /// Major and minor of a Gemini; an alias like `gemini-flash-latest` is newer than all. None for
    /// other models behind the same API.
    version: Option<(u32, u32)>,
    /// `pro`, `flash`, `flash-lite`, ….
    tier: &'a str,
}

const LATEST: (u32, u32) = (u32::MAX, 0);
const TIERS: [&str; 3] = ["flash-lite", "flash", "pro"];

impl<'a> Model<'a> {
    pub(crate) fn of(name: &'a str) -> Self {
        let name = name.rsplit('/').next().unwrap_or(name);
        let rest = name.strip_prefix("gemini-");
        let tier = TIERS.into_iter().find(|tier| name.contains(tier));
        Self {
            name,
            version: rest.map(|rest| {
                let number = rest.split('-').next().unwrap_or_default();
                let (major, minor) = number.split_once('.').unwrap_or((number, "0"));
                match (major.parse(), minor.parse()) {
                    (Ok(major), Ok(minor)) => (major, minor),
                    _ => LATEST,
                }
            }),
            tier: tier.unwrap_or_default(),
        }
    }

    /// Whether both names mean one model: previews and numbers of releases count for nothing. What
    /// one of them signed, the other takes.
    pub(crate) fn is_same(&self, other: &str) -> bool {
        let other = Model::of(other);
        match (self.version, other.version) {
            (Some(own), Some(version)) if own != LATEST => {
                own == version && self.tier == other.tier
            }
            _ => self.name == other.name,
        }
    }

    /// Whether it refuses calls of its own that come back without their signature.
    pub(crate) fn wants_signatures(&self) -> bool {
        self.is_from((3, 0))
    }

    /// Whether it can be held to a schema of its answer while it is offered tools.
    pub(crate) fn takes_schema_beside_tools(&self) -> bool {
        self.is_from((3, 0))
    }

    /// How it is asked to reason; none where it does not or nothing is to be said.
    ///
    /// An effort is for models that know it; a budget of 0 leaves it to the model how much it
    /// reasons.
    pub(crate) fn thinking(&self, config: &LlmConfig) -> Option<Value> {
        let reasons = self.is_from((2, 5)) && !self.name.contains("image");
        if !reasons {
            return None;
        }
        let by_level = self.is_from((3, 0));
        if !config.enable_reasoner {
            return match (by_level, self.tier) {
                (true, _) => None,
                (false, "pro") => Some(json!({"thinkingBudget": MIN_BUDGET})),
                (false, _) => Some(json!({"thinkingBudget": 0})),
            };
        }
        let mut thinking = json!({"includeThoughts": true});
        let level = config.reasoning_effort.as_deref().and_then(level);
        match level.filter(|_| by_level) {
            Some(level) => thinking["thinkingLevel"] = Value::from(level),
            None if config.max_reasoning_tokens > 0 => {
                let least = if self.tier == "pro" { MIN_BUDGET } else { 0 };
                let budget = config.max_reasoning_tokens.max(least);
                thinking["thinkingBudget"] = Value::from(budget);
            }
            None => {}
        }
        Some(thinking)
    }

    fn is_from(&self, version: (u32, u32)) -> bool {
        self.version.is_some_and(|own| own >= version)
    }
}

/// The levels that all models of the third generation have.
fn level(effort: &str) -> Option<&'static str> {
    match effort {
        "none" | "minimal" | "low" => Some("low"),
        "medium" | "high" | "xhigh" => Some("high"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn previews_are_the_same_model_and_tiers_are_not() {
        let flash = Model::of("models/gemini-2.5-flash");
        assert!(flash.is_same("gemini-2.5-flash-preview-09-2025"));
        assert!(!flash.is_same("gemini-2.5-flash-lite"));
        assert!(!flash.is_same("gemini-3-flash-preview"));
        assert!(!flash.is_same("claude-sonnet-4-5"));
        assert!(Model::of("gemini-flash-latest").is_same("gemini-flash-latest"));
    }

    #[test]
    fn each_generation_is_asked_to_reason_in_its_own_way() {
        let config = |model: &str, reasons, budget, effort: Option<&str>| LlmConfig {
            enable_reasoner: reasons,
            max_reasoning_tokens: budget,
            reasoning_effort: effort.map(str::to_owned),
            ..LlmConfig::new("google_ai", "google_ai", model, 100_000)
        };
        let on = json!({"includeThoughts": true});
        for (model, reasons, budget, effort, expected) in [
            ("gemini-2.0-flash", true, 100, None, None),
            ("gemini-2.5-flash", true, 0, None, Some(on.clone())),
            (
                "gemini-2.5-flash",
                true,
                512,
                Some("low"),
                Some(json!({"includeThoughts": true, "thinkingBudget": 512})),
            ),
            (
                "gemini-2.5-flash",
                false,
                512,
                None,
                Some(json!({"thinkingBudget": 0})),
            ),
            (
                "gemini-2.5-pro",
                false,
                0,
                None,
                Some(json!({"thinkingBudget": 128})),
            ),
            (
                "gemini-3-pro-preview",
                true,
                512,
                Some("low"),
                Some(json!({"includeThoughts": true, "thinkingLevel": "low"})),
            ),
            ("gemma-3-27b-it", true, 512, None, None),
        ] {
            let config = config(model, reasons, budget, effort);
            assert_eq!(Model::of(model).thinking(&config), expected, "{model}");
        }
    }
}
